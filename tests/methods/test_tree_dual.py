"""Where CGAL begins on d * diag x = b: the multipliers of a tree, and those of a given point."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.domains import Spectrahedron
from condal.driver.scaling import normalise
from condal.linalg.sparse import diagonal_matrix
from condal.maps import Diagonal
from condal.methods import state as module
from condal.methods.state import point_dual, tree_dual
from condal.problems import max_cut
from condal.sets import Box, Equal
from condal.smooth import Linear
from condal.storage import Sketch
from known import random_graph
from sparse_matrices import identity


def graph(edges, n, weights=None):
    i, j = np.transpose(edges)
    w = np.ones(len(i)) if weights is None else weights
    half = sp.coo_array((w, (i, j)), shape=(n, n)).tocsr()
    return half + half.T


def random_tree(n, rng):
    return [(int(rng.integers(0, k)), k) for k in range(1, n)]


def slack(problem, y):
    C = problem.f.M.adjoint(np.ones(1)).to_dense()
    return C + np.diag(problem.A.diagonal_rows * y)


def test_on_a_tree_it_is_an_optimal_dual():
    rng = np.random.default_rng(0)
    W = graph(random_tree(40, rng), 40, rng.uniform(0.5, 2.0, 39))
    problem = max_cut(W).problem
    y = tree_dual(problem)
    assert y.sum() == pytest.approx(W.sum() / 2, rel=1e-12)  # a tree is cut through all its edges
    assert np.linalg.eigvalsh(slack(problem, y)).min() >= -1e-9


@pytest.mark.parametrize("degree", [3, 4, 6])
def test_on_a_regular_graph_it_is_the_end_of_the_spectrum_of_its_tree(degree):
    n, shifts = 60, [1, 7, 19][: degree // 2]
    edges = [(i, (i + s) % n) for s in shifts for i in range(n)]
    edges += [(i, i + n // 2) for i in range(n // 2)] if degree % 2 else []
    y = tree_dual(max_cut(graph(edges, n)).problem)
    assert y == pytest.approx(np.full(n, (degree + 2 * np.sqrt(degree - 1)) / 4), rel=1e-5)


def test_on_the_central_path_of_a_tree_the_inverse_has_the_diagonal(monkeypatch):
    rng = np.random.default_rng(1)
    edges = random_tree(30, rng)
    C = graph(edges, 30, rng.standard_normal(29)) + diagonal_matrix(rng.standard_normal(30))
    d, b, mu = rng.uniform(0.5, 2.0, 30), rng.uniform(0.5, 2.0, 30), 0.7
    problem = condal.Problem.of(
        Linear(sp.csr_array(C)),
        Spectrahedron(30, float((b / d).sum())),
        Diagonal(30).scaled(d),
        Equal(b),
    )
    monkeypatch.setattr(module, "_best", lambda S, root: mu)
    inverse = np.linalg.inv(slack(problem, tree_dual(problem)))
    assert mu * np.diag(inverse) == pytest.approx(b / d, rel=1e-9)


def test_it_is_the_same_dual_of_the_normalised_problem():
    problem = max_cut(random_graph(300, 6, 2)).problem
    normalised, scaling = normalise(problem)
    expected = scaling.normalised_dual(tree_dual(problem))
    assert tree_dual(normalised) == pytest.approx(expected, rel=1e-5)


def test_many_entries_are_taken_in_runs_and_by_a_sample(monkeypatch):
    problem = max_cut(random_graph(2000, 5, 3)).problem
    whole = tree_dual(problem)
    monkeypatch.setattr(module, "CHUNK", 7)
    assert tree_dual(problem) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(module, "MAX_SAMPLE", 4000)
    assert tree_dual(problem) == pytest.approx(whole, rel=0.05)


@pytest.mark.parametrize(
    "problem",
    [
        condal.Problem.of(Linear(np.eye(5)), Spectrahedron(5), Diagonal(5), Equal(np.full(5, 0.2))),
        condal.Problem.of(
            Linear(identity(5)),
            Spectrahedron(5),
            Diagonal(5),
            Box(np.zeros(5), np.ones(5)),
        ),
        condal.Problem.of(
            Linear(identity(2)),
            Spectrahedron(2),
            Diagonal(2).scaled(np.array([1.0, 0.0])),
            Equal(np.array([1.0, 0.0])),
        ),
        condal.Problem.of(Linear(np.ones(4)), condal.Simplex(4)),
    ],
    ids=["dense", "no equality", "nothing said of an entry", "vectors"],
)
def test_other_problems_have_none(problem):
    assert tree_dual(problem) is None
    assert not condal.CGAL().start(problem).y.any()


def test_only_a_dual_that_is_left_to_condal_begins_there():
    problem = normalise(max_cut(random_graph(200, 4, 4)).problem)[0]
    first = condal.CGAL().start(problem).y
    assert first == pytest.approx(tree_dual(problem))
    assert not condal.CGAL(0.1).start(problem).y.any()
    assert not condal.methods.hcgm().start(problem).y.any()
    capped = condal.CGAL(D_Y=0.1).start(problem).y
    assert np.linalg.norm(capped) == pytest.approx(0.1)


def test_a_large_sparse_graph_is_solved_to_a_tenth_by_a_few_atoms():
    n = 20_000
    model = max_cut(random_graph(n, 4, 5))
    result = condal.solve(model, condal.CGAL(), tol=1e-1, storage=Sketch(n, 10), max_iters=8)
    assert result.status is condal.Status.SOLVED
    assert result.gap <= 1e-1
    assert result.infeasibility <= 1e-12


@pytest.mark.parametrize("n", [1, 4])
def test_where_c_is_zero_there_is_nothing_to_begin_with(n):
    problem = condal.Problem.of(
        f=Linear(sp.csr_array((n, n))),
        X=Spectrahedron(n, float(n)),
        A=Diagonal(n),
        K=Equal(np.ones(n)),
    )
    np.testing.assert_array_equal(tree_dual(problem), np.zeros(n))
    assert condal.solve(problem, condal.CGAL(), tol=1e-2).status is condal.Status.SOLVED


def test_c_may_be_of_any_sparse_format():
    W = sp.coo_array(random_graph(30, 4))
    duals = []
    for form in (sp.csr_array, sp.coo_array, sp.csc_array):
        C = condal.operators.Symmetric(30, sparse=(form(W),))
        problem = condal.Problem.of(
            f=Linear(C), X=Spectrahedron(30, 30.0), A=Diagonal(30), K=Equal(np.ones(30))
        )
        duals.append(tree_dual(problem))
    np.testing.assert_allclose(duals[1:], [duals[0]] * 2)


def scaled_problem(C, d):
    return condal.Problem.of(Linear(C), Spectrahedron(20, 20.0), Diagonal(20).scaled(d), Equal(d))


@pytest.mark.parametrize("form", [lambda x: x, np.asarray], ids=["factors", "array"])
def test_a_solution_tells_its_dual(form):
    d = np.random.default_rng(3).uniform(0.5, 2.0, 20)
    problem = scaled_problem(sp.csr_array(random_graph(20, 4, 6)), d)
    result = condal.solve(problem, "lowrank", tol=1e-9)
    y = point_dual(problem, form(result.x))
    assert y == pytest.approx(result.y, abs=1e-3)
    assert np.linalg.eigvalsh(slack(problem, y)).min() >= -1e-4
    assert point_dual(replace(problem, h=Box(np.zeros(20), d)), result.x) is None


def test_the_dual_of_a_point_changes_only_in_the_rows_that_change():
    d, x = np.ones(20), np.eye(20) + 0.5 * (np.eye(20, k=1) + np.eye(20, k=-1))
    edge = np.zeros((20, 20))
    edge[[3, 4], [4, 3]] = 2.0
    change = point_dual(scaled_problem(edge, d), x) - point_dual(scaled_problem(0 * edge, d), x)
    assert change == pytest.approx(np.where(np.isin(np.arange(20), [3, 4]), -1.0, 0.0))


def test_a_warm_start_with_late_edges_begins_at_the_dual_of_its_point():
    """The last 1% of the edges arrive late. The old dual has no place for them."""
    cold, warm = 0, 0
    for seed in range(3):
        W = sp.triu(random_graph(400, 10, seed), format="coo")
        late = np.random.default_rng(seed).permutation(W.nnz) < W.nnz // 100
        early = sp.csr_array((W.data[~late], (W.row[~late], W.col[~late])), shape=W.shape)
        first = condal.solve(max_cut(early + early.T), "cgal-ls", tol=1e-2)
        whole = max_cut(sp.csr_array(W) + sp.csr_array(W).T)
        for start in (None, first):
            result = condal.solve(whole, "cgal-ls", tol=1e-2, warm_start=start)
            assert result.status is condal.Status.SOLVED
            cold, warm = cold + (not start) * result.matvecs, warm + bool(start) * result.matvecs
    assert warm <= 0.6 * cold
