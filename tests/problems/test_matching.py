"""Graph matching: isomorphisms found, bounds on every permutation, CVXPY, and errors."""

from __future__ import annotations

from itertools import permutations

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.certificates.checked import rounded_text
from condal.errors import ProblemError
from condal.problems import graph_matching


def random_graph(n, part, seed):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < part, 1).astype(float)
    return A + A.T


def reference(A, B):
    P = cp.Variable(A.shape)
    rows = [P >= 0, cp.sum(P, axis=0) == 1, cp.sum(P, axis=1) == 1]
    cost = cp.sum_squares(A @ P - P @ B)
    return float(cp.Problem(cp.Minimize(cost), rows).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [12, 30])
def test_a_graph_without_symmetry_is_recognised(n, kind):
    A = random_graph(n, 0.4, n)
    order = np.random.default_rng(1).permutation(n)
    model = graph_matching(kind(A), kind(A[order][:, order]))
    matching = model.round(condal.solve(model, max_iters=20_000))
    np.testing.assert_array_equal(matching.permutation, np.argsort(order))
    assert matching.disagreement == 0.0
    assert matching.bound == 0.0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_finds_what_an_interior_point_method_finds(seed):
    rng = np.random.default_rng(seed)
    A, B = (rng.random((6, 6)) for _ in range(2))  # of directed graphs with weights
    model = graph_matching(A, B)
    result = condal.solve(model, tol=5e-4, max_iters=3000)
    optimum = reference(A, B)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-3)
    assert result.bound <= optimum + 1e-7


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_permutation_is_below_the_bound(seed):
    A, B = random_graph(6, 0.5, seed), random_graph(6, 0.5, seed + 10)
    model = graph_matching(A, B)
    matching = model.round(condal.solve(model, max_iters=3000))
    best = min(model.disagreement(p) for p in permutations(range(6)))
    assert matching.bound <= best <= matching.disagreement
    assert matching.disagreement == model.disagreement(matching.permutation)
    assert str(matching) == (
        f"Matching(disagreement={matching.disagreement:.10g}, "
        f"bound={rounded_text(matching.bound, up=False)}, vertices=6)"
    )


def test_the_objective_of_a_permutation_is_its_disagreement():
    rng = np.random.default_rng(3)
    A, B = rng.standard_normal((2, 5, 5))
    for kind in (np.asarray, sp.csr_array):
        model = graph_matching(kind(A), kind(B))
        for p in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
            P = np.eye(5)[p]
            apart = sum((A[i, j] - B[p[i], p[j]]) ** 2 for i in range(5) for j in range(5))
            assert model.disagreement(p) == pytest.approx(apart, rel=1e-12)
            assert model.problem.objective(P.ravel()) == pytest.approx(apart, rel=1e-12)


@pytest.mark.parametrize("part", [0.05, 0.9])
def test_the_norm_is_above_that_of_the_map(part):
    A, B = random_graph(9, part, 4), random_graph(9, part, 5)
    M = np.kron(A, np.eye(9)) - np.kron(np.eye(9), B.T)
    found = graph_matching(A, B).problem.f.M
    assert np.linalg.norm(M, 2) <= found.norm <= 4 * np.linalg.norm(M, 2)
    condal.check_adjoint(found, [np.eye(9).ravel(), np.random.default_rng(6).random(81)])


def test_graphs_without_edges_match():
    model = graph_matching(np.zeros((3, 3)), np.zeros((3, 3)))
    assert model.round(condal.solve(model)).disagreement == 0.0
    single = graph_matching([[2.0]], [[1.0]])
    assert single.round(condal.solve(single)).disagreement == 1.0


@pytest.mark.parametrize(
    ("A", "B", "text"),
    [
        (np.eye(3), np.eye(4), "A has 3 vertices and B has 4: they must agree; add vertices"),
        (
            np.ones((2, 3)),
            np.eye(3),
            r"A must be square, at least 1 x 1; got shape \(2, 3\)",
        ),
        (np.eye(2), np.zeros((0, 0)), r"B must be square, .* got shape \(0, 0\)"),
        (np.full((2, 2), np.nan), np.eye(2), r"A has the value nan at index \(0, 0\)"),
        (np.eye(1), sp.csr_array([[np.inf]]), "stored entries of B has the value inf"),
    ],
)
def test_what_makes_no_model_is_refused(A, B, text):
    with pytest.raises(ProblemError, match=text):
        graph_matching(A, B)


@pytest.mark.parametrize("p", [[0, 0, 1], [0, 1], [1, 2, 3], [0.0, 1.0, 2.0], ["a", "b", "c"]])
def test_only_permutations_have_a_disagreement(p):
    with pytest.raises(ProblemError, match=r"permutation must hold each of 0, ..., 2 once"):
        graph_matching(np.eye(3), np.eye(3)).disagreement(p)


def test_the_first_wrong_entry_is_told():
    model = graph_matching(np.eye(4), np.eye(4))
    with pytest.raises(ProblemError, match=r"once, .* got a list of shape \(4,\), 2 at index 3"):
        model.disagreement([0, 1, 2, 2])
    with pytest.raises(ProblemError) as caught:
        model.disagreement([0] * 50_000)
    assert len(str(caught.value)) < 120


def test_graphs_and_tables_are_taken():
    A = nx.relabel_nodes(nx.lollipop_graph(4, 3), str)
    B = nx.DiGraph(A)
    for first, second in ((A, B), (nx.to_pandas_adjacency(A), nx.to_scipy_sparse_array(B))):
        model = graph_matching(first, second)
        assert model.disagreement(np.arange(7)) == 0.0
        assert model.disagreement([6, 5, 4, 3, 2, 1, 0]) > 0.0
    with pytest.raises(ProblemError, match="A must be a SciPy sparse matrix, a NumPy array or a"):
        graph_matching(None, B)
