"""Max-k-cut: its bound, its repair, its rounding."""

import itertools

import networkx as nx
import numpy as np
import pytest

import condal
from condal.problems import max_k_cut
from known import random_graph


def test_large_graphs_are_cut_by_the_low_rank_method():
    model = max_k_cut(random_graph(2500, 6.0), 3)
    result = condal.solve(model, tol=1e-2)
    assert result.method == "lowrank"
    assert 0.9 * model.W.sum() / 2 <= model.round(result, trials=3).value <= result.bound


def test_a_graph_of_k_colours_is_cut_whole():
    graph = nx.complete_multipartite_graph(4, 5, 6)
    model = max_k_cut(graph, 3)
    result = condal.solve(model)
    cut = model.round(result)
    planted = np.repeat([0, 1, 2], [4, 5, 6])
    assert cut.value == graph.number_of_edges() <= result.bound
    assert cut.agreement(planted) == 1.0
    assert result.bound <= graph.number_of_edges() * 1.002


def test_no_move_of_a_vertex_helps():
    model = max_k_cut(random_graph(60, 8.0), 3, pairs="none")
    cut = model.round(condal.solve(model, tol=1e-2), trials=3)
    for v, group in itertools.product(range(60), range(3)):
        moved = cut.labels.copy()
        moved[v] = group
        assert model.weight(moved) <= cut.value + 1e-9
    assert ", sizes=[" in repr(cut)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"k": 1}, "k must be a whole number, at least 2; got 1"),
        ({"k": None}, "k must be a whole number, at least 2; got None"),
        ({"pairs": "some"}, "pairs must be 'none', 'edges' or 'all'; got 'some'"),
        ({"graph": np.zeros((3, 3))}, "the graph has no edges"),
        ({"graph": np.eye(3)}, "the graph has no edges"),
    ],
)
def test_bad_models_are_refused(change, text):
    given = {"graph": random_graph(5, 3.0), "k": 3, **change}
    with pytest.raises(condal.ProblemError, match=text):
        max_k_cut(given.pop("graph"), given.pop("k"), **given)


@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 0], [0, 1, 0, 1], np.full(5, 0.5)])
def test_only_labels_make_a_cut(labels):
    with pytest.raises(condal.ProblemError, match="labels"):
        max_k_cut(random_graph(5, 3.0), 3).weight(labels)


def test_groups_without_vertices_are_not_counted():
    model = max_k_cut(nx.path_graph(3), 3)
    for seed in range(5):
        found = model.round(condal.solve(model), trials=1, seed=seed)
        assert np.array_equal(np.unique(found.labels), np.arange(found.sizes.size))
        assert found.value <= found.bound
        assert np.all(found.sizes > 0)
