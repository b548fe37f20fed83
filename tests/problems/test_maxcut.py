"""Max-cut: its model, its repair, its rounding."""

import networkx as nx
import numpy as np
import pytest

import condal
from condal.problems import max_cut
from condal.storage import Dense
from known import random_graph, torus


def test_rounding_improves_until_no_flip_helps():
    model = max_cut(random_graph(200, 8.0))
    result = condal.solve(model, tol=1e-2)
    cut = model.round(result, trials=20, seed=1)
    gains = cut.signs * (model.W @ cut.signs)
    assert gains.max() <= 1e-12
    assert cut.weight >= 0.878 * result.objective
    same = model.round(result, trials=20, seed=1)
    assert np.array_equal(cut.signs, same.signs)
    assert "sides=(" in repr(cut)


def test_rounding_takes_a_dense_point():
    model = max_cut(torus(5, 5))
    result = condal.solve(model, tol=1e-2, storage=Dense())
    assert model.round(result).weight <= result.bound


def weighted(weight):
    graph = nx.path_graph(3)
    graph[0][1]["weight"] = weight
    return graph


@pytest.mark.parametrize(
    ("W", "text"),
    [
        (np.zeros((4, 4)), "the graph has no edges"),
        (np.zeros((0, 0)), "at least 1 x 1"),
        (1j * np.eye(3), r"W is complex .* pass numpy\.real\(W\) .* angular_synchronisation"),
        ([[0, 1], [1]], "W must be a matrix, with rows of one length; got a list of 2 parts"),
        (weighted("heavy"), r"must be real numbers; got 'heavy' on the edge \(0, 1\)"),
        (weighted("3"), r"must be real numbers; got '3' on the edge \(0, 1\)"),
        (weighted(np.complex128(1j)), "must be real numbers; got .* on the edge"),
        (weighted(None), "must be real numbers; got None on the edge"),
        ("a graph", "W must be a SciPy sparse matrix, a NumPy array or a NetworkX graph; got str"),
        (nx.DiGraph([(0, 1)]), "the graph is directed; pass an undirected one"),
        (nx.Graph(), "the graph has no vertices"),
    ],
)
def test_bad_graphs_are_refused(W, text):
    with pytest.raises(condal.ProblemError, match=text):
        max_cut(W)


@pytest.mark.parametrize(
    ("signs", "got"),
    [
        (np.zeros(9), r"an ndarray of shape \(9,\), 0.0 at index 0"),
        (np.ones(8), r"an ndarray of shape \(8,\)"),
        ([1] * 8 + [0.5], r"a list of shape \(9,\), 0.5 at index 8"),
        ([True] * 8 + [False], r"a list of shape \(9,\), True at index 0"),
        (["a"] * 9, r"a list of shape \(9,\), 'a' at index 0"),
        ([[1], [1, 1]], "a list of 2 parts that do not make one array"),
        ("abc", "'abc'"),
        (None, "None"),
    ],
)
def test_only_signs_make_a_cut(signs, got):
    with pytest.raises(condal.ProblemError, match=f"signs must be 9 numbers, each.* got {got}"):
        max_cut(torus(3, 3)).weight(signs)


def test_errors_are_short_however_much_is_given():
    with pytest.raises(condal.ProblemError) as caught:
        max_cut(torus(3, 3)).weight([0.25] * 50_000)
    assert len(str(caught.value)) < 120
    with pytest.raises(condal.ProblemError) as caught:
        max_cut(torus(3, 3)).round("a" * 50_000)
    assert len(str(caught.value)) < 150
