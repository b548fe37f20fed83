"""MAP inference: trees by dynamic programming, linear programs, GDMM, rounding, and errors."""

from itertools import product

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import condal
from condal.domains import Simplices
from condal.domains.birkhoff import coupled
from condal.errors import ProblemError
from condal.problems import map_inference


def random_tree(n, rng, most=4):
    states = rng.integers(2, most + 1, size=n)
    edges = [(int(rng.integers(i)), i) for i in range(1, n)]
    unary = [rng.standard_normal(k) for k in states]
    return map_inference(
        unary, edges, [rng.standard_normal((states[i], states[j])) for i, j in edges]
    )


def least_on_tree(model):
    """Dynamic programming from the leaves: every edge leads from an earlier node."""
    costs = [part.copy() for part in model.unary]
    for (parent, child), table in reversed(list(zip(model.edges, model.pairwise, strict=True))):
        costs[parent] = costs[parent] + (table + costs[child][None, :]).min(axis=1)
    return float(costs[0].min())


def grid(rows, columns):
    number = np.arange(rows * columns).reshape(rows, columns)
    right = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    down = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    return np.vstack([right, down])


def cycle(rng, n=5, k=3):
    edges = [(i, (i + 1) % n) for i in range(n)]
    return map_inference(rng.standard_normal((n, k)), edges, list(rng.standard_normal((n, k, k))))


@pytest.mark.parametrize("seed", range(4))
def test_trees_are_exact(seed):
    model = random_tree(12, np.random.default_rng(seed))
    result = condal.solve(model, max_iters=20_000)
    best = least_on_tree(model)
    assert result.status is condal.Status.SOLVED
    labelling = model.round(result)
    assert labelling.energy == pytest.approx(best, abs=1e-9)
    assert labelling.bound <= best + 1e-9
    assert labelling.bound == pytest.approx(best, rel=2e-3)


def test_a_noisy_picture_becomes_smooth():
    rng = np.random.default_rng(6)
    truth = np.zeros((14, 14), dtype=int)
    truth[3:11, 4:10] = 1
    noisy = np.where(rng.random(truth.shape) < 0.15, 1 - truth, truth)
    unary = np.column_stack([noisy.ravel() == 1, noisy.ravel() == 0]).astype(float)
    model = map_inference(unary, grid(14, 14), 0.7 * (1 - np.eye(2)))
    result = condal.solve(model, max_iters=20_000)
    assert result.status is condal.Status.SOLVED
    labelling = model.round(result)
    assert labelling.energy <= model.energy(truth.ravel())
    assert labelling.energy - labelling.bound <= 1e-3 * abs(labelling.energy)
    assert np.mean(labelling.labels != truth.ravel()) < 0.3 * np.mean(noisy != truth)


def test_repaired_points_agree_and_feasible_ones_stay():
    rng = np.random.default_rng(7)
    model = random_tree(6, rng)
    X = Simplices(model.sizes)
    for _ in range(5):
        x = model.repair(np.concatenate([rng.dirichlet(np.ones(k)) for k in model.sizes]))
        assert X.distance(x) <= 1e-13
        assert model.problem.infeasibility(x) <= 1e-14
        np.testing.assert_allclose(model.repair(x), x, atol=1e-14)
    labels = np.zeros(6, dtype=int)
    marked = [np.eye(k)[0] for k in model.sizes]
    x = np.concatenate(marked)
    np.testing.assert_array_equal(model.repair(x), x)
    assert model.problem.objective(x) == pytest.approx(model.energy(labels), rel=1e-12)


def test_couplings_have_the_sums_that_are_asked_for():
    rng = np.random.default_rng(8)
    rows, columns = rng.dirichlet(np.ones(3), size=7), rng.dirichlet(np.ones(4), size=7)
    for tables in (rng.standard_normal((7, 3, 4)), np.zeros((7, 3, 4)), np.ones((7, 3, 4))):
        found = coupled(tables, rows, columns)
        assert found.min() >= 0
        np.testing.assert_allclose(found.sum(axis=2), rows, atol=1e-14)
        np.testing.assert_allclose(found.sum(axis=1), columns, atol=1e-14)
        np.testing.assert_allclose(coupled(found, rows, columns), found, atol=1e-14)
        np.testing.assert_array_equal(coupled(np.maximum(tables, 0.0), rows, columns), found)


def test_no_change_of_one_node_improves_what_was_improved():
    rng = np.random.default_rng(9)
    model = cycle(rng, n=8)
    for _ in range(10):
        first = rng.integers(3, size=8)
        labels = model.improve(first)
        assert model.energy(labels) <= model.energy(first) + 1e-12
        for node, state in product(range(8), range(3)):
            other = labels.copy()
            other[node] = state
            assert model.energy(labels) <= model.energy(other) + 1e-12


def test_nodes_alone_take_their_best_state():
    model = map_inference([[3.0, 1.0], [0.5, 2.0, 0.1]], [], [])
    labelling = model.round(condal.solve(model))
    np.testing.assert_array_equal(labelling.labels, [1, 2])
    assert labelling.energy == pytest.approx(1.1)
    assert str(labelling).endswith("nodes=2)")


TWO = [[0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("unary", "edges", "pairwise", "text"),
    [
        ([], [], [], "unary must hold the costs of one state or more of one node or more"),
        (TWO, [(0, 2)], [np.eye(2)], r"edges\[0\] must join two of the 2 nodes.* got \[0, 2\]"),
        (TWO, [(1, 1)], [np.eye(2)], r"edges\[0\] must join two of the 2 nodes.* got \[1, 1\]"),
        (
            TWO,
            [(0.5, 1)],
            [np.eye(2)],
            r"edges must be pairs of nodes, .* got a list of shape \(1, 2\), 0.5 at index \(0, 0\)",
        ),
        (TWO, [0, 1], [np.eye(2)], r"edges must be pairs of nodes, .* got a list of shape \(2,\)"),
        (TWO, [(0, 1), (1,)], np.eye(2), "edges must be pairs of nodes, .* got a list of 2 parts"),
        (TWO, None, np.eye(2), "edges must be pairs of nodes, as whole numbers; got None"),
        (None, [], [], "unary must be a row of costs for each node; got None"),
        (3.0, [], [], r"unary must be a row of costs for each node; got 3\.0"),
        (TWO, [(0, 1)], None, "a matrix for each of the 1 edges, or be one for all; got None"),
        (TWO, [(0, 1)], 1.0, "a matrix for each of the 1 edges, or be one for all; got 1.0"),
        (TWO, [(0, 1)], [], "a matrix for each of the 1 edges, or be one for all; got 0"),
        (TWO, [(0, 1)], [np.eye(3)], r"pairwise\[0\] must have shape \(2, 2\), .* got \(3, 3\)"),
        (TWO, [(0, 1)], np.eye(3), r"pairwise\[0\] must have shape \(2, 2\), .* got \(3, 3\)"),
    ],
)
def test_what_makes_no_model_is_refused(unary, edges, pairwise, text):
    with pytest.raises(ProblemError, match=text):
        map_inference(unary, edges, pairwise)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([0, 5], "node 1 has 2 states, from 0; got 5"),
        ([0, -1], "node 1 has 2 states, from 0; got -1"),
        ([0], r"labels must be 2 whole numbers, .* got a list of shape \(1,\)"),
        ([0.0, 1.0], "labels must be 2 whole numbers, .*, 0.0 at index 0"),
    ],
)
def test_labels_are_states(labels, text):
    with pytest.raises(ProblemError, match=text):
        map_inference(TWO, [(0, 1)], [np.eye(2)]).energy(labels)


def test_one_table_for_all_edges_is_a_matrix_of_any_kind():
    rng = np.random.default_rng(11)
    unary, table = rng.random((4, 3)), rng.random((3, 3))
    edges = [(0, 1), (1, 2), (2, 3)]
    model = map_inference(unary, edges, [table] * 3)
    graph = nx.path_graph(4)
    for kind in (np.asarray, np.ndarray.tolist, pd.DataFrame):
        other = map_inference(kind(unary), graph.edges, kind(table))
        for labels in ([0, 1, 2, 0], [2, 2, 1, 1]):
            assert other.energy(labels) == pytest.approx(model.energy(labels), rel=1e-14)
    assert map_inference(unary, pd.DataFrame(edges), table).energy([0] * 4) == model.energy([0] * 4)


def test_matrices_of_several_shapes_are_one_for_each_edge():
    model = map_inference(
        [[0, 1], [0, 1, 2], [0, 3]], [(0, 1), (1, 2)], [np.eye(2, 3), np.eye(3, 2)]
    )
    assert model.energy([1, 1, 1]) == 1 + 1 + 3 + 1 + 1
