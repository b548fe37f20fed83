"""Bisection: its bound, its face, its rounding."""

import networkx as nx
import numpy as np
import pytest

import condal
from condal.problems import bisection
from condal.problems.graph_bisection import improve_balanced, median_split
from known import random_graph


def test_the_solution_is_on_the_face_of_the_constraint():
    model = bisection(random_graph(60, 6.0))
    result = condal.solve(model, "newton", tol=1e-6)
    assert result.status is condal.Status.SOLVED
    x = np.asarray(result.x)
    assert np.abs(x.sum(axis=1)).max() <= 1e-8
    assert result.price <= 1e-8


def test_the_imbalance_has_the_parity_of_the_number_of_vertices():
    even, odd = nx.cycle_graph(6), nx.cycle_graph(7)
    assert [bisection(even, imbalance=k).imbalance for k in (None, 0, 1, 2, 5)] == [0, 0, 0, 2, 4]
    assert [bisection(odd, imbalance=k).imbalance for k in (None, 1, 2, 3, 6)] == [1, 1, 1, 3, 5]


def test_planted_halves_are_found():
    rng = np.random.default_rng(1)
    planted = np.repeat([1.0, -1.0], 40)
    likely = np.where(np.equal.outer(planted, planted), 0.4, 0.05)
    W = np.triu(rng.random((80, 80)) < likely, 1).astype(float)
    model = bisection(W + W.T)
    cut = model.round(condal.solve(model), trials=10)
    assert abs(planted @ cut.signs) == 80
    assert repr(cut).startswith(f"BalancedCut(weight={model.weight(planted):g}, bound=")


@pytest.mark.parametrize("n", [1, 2, 9, 10])
def test_a_median_split_is_balanced_and_monotone(n):
    values = np.random.default_rng(n).standard_normal(n)
    signs = median_split(values)
    assert signs.sum() == n % 2
    assert values[signs > 0].min() >= values[signs < 0].max(initial=-np.inf)
    assert median_split(np.zeros(n)).sum() == n % 2


@pytest.mark.parametrize("imbalance", [0, 6])
def test_moves_decrease_the_cut_and_keep_the_balance(imbalance):
    model = bisection(random_graph(200, 6.0), imbalance=imbalance)
    start = median_split(np.random.default_rng(0).standard_normal(200))
    signs = improve_balanced(model.W, start, imbalance)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.sum()) <= imbalance
    assert model.weight(signs) < 0.8 * model.weight(start)
    assert np.array_equal(improve_balanced(model.W, signs, imbalance), signs)


def test_a_time_limit_leaves_a_balanced_cut():
    model = bisection(random_graph(100, 6.0))
    cut = model.round(condal.solve(model), max_seconds=1e-6)
    assert cut.signs.sum() == 0
    assert cut.weight >= cut.bound


@pytest.mark.parametrize(
    ("W", "imbalance", "text"),
    [
        (np.zeros((4, 4)), None, "the graph has no edges"),
        (nx.cycle_graph(5), 0, "imbalance must be at least 1 for 5 vertices, an odd number"),
        (nx.cycle_graph(4), 4, "imbalance must be below the number of vertices, 4; got 4"),
        (nx.cycle_graph(4), -1, "imbalance must be a whole number, at least 0; got -1"),
        (nx.cycle_graph(4), 1.5, "imbalance must be a whole number"),
    ],
)
def test_what_is_refused(W, imbalance, text):
    with pytest.raises(condal.ProblemError, match=text):
        bisection(W, imbalance=imbalance)


@pytest.mark.parametrize("method", ["splitting", "lowrank"])
def test_points_of_other_methods_are_repaired(method):
    result = condal.solve(bisection(random_graph(60, 6.0)), method, tol=1e-3)
    assert result.status is condal.Status.SOLVED
    assert result.bracket
    assert np.abs(np.asarray(result.x).sum(axis=1)).max() <= 1e-8


def test_a_mesh_with_a_light_cut_is_solved():
    """Its objective is a ten-thousandth of the largest one over X: gaps are relative to it."""
    model = bisection(nx.grid_2d_graph(40, 10))
    result = condal.solve(model, tol=1e-3)
    assert result.status is condal.Status.SOLVED
    assert result.method == "newton"
    assert result.bound <= model.round(result, trials=20).weight <= 12
