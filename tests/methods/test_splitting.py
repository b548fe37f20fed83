"""The splitting method: known optima, bounds, and what it says it cannot."""

from dataclasses import replace
from itertools import islice

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.driver.scaling import normalise
from condal.linalg.symmetric import Symmetric
from condal.methods import Splitting
from condal.methods.projection import splitting
from condal.methods.projection import splitting_rows as rows
from condal.nonsmooth import L1
from condal.storage import Factor
from known import Hidden, planted_sdp


class Counted(Hidden):
    """A map that notes when its numbers are asked for."""

    def __init__(self, A, written=None) -> None:
        super().__init__(A)
        self.written = [] if written is None else written

    def as_matrix(self):
        self.written.append(self)
        return self.A.as_matrix()

    def scaled(self, rows):
        return Counted(self.A.scaled(rows), self.written)


def planted_inner(
    n: int, p: int, *, box: bool, rank: int | None = None, room: float = 1.0, seed: int = 0
) -> tuple[condal.Problem, float]:
    """`planted_sdp` with rows that are not orthogonal, of very different sizes.

    Only `rank` of them are independent; `room`, of their norms, is between the sides of the box.
    """
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    x = 0.5 * n * Q[:, :2] @ Q[:, :2].T
    Z = (Q[:, 2:] * rng.uniform(0.5, 2.0, n - 2)) @ Q[:, 2:].T
    each = np.random.default_rng(seed).standard_normal((rank or p, n, n))
    if rank is not None:
        each = np.tensordot(rng.standard_normal((p, rank)), each, axes=1)
    A = condal.Inner([a + a.T for a in each]).scaled(10.0 ** rng.uniform(-2, 2, p))
    y = rng.standard_normal(p) / A.row_norms()
    image, side = A(x), room * A.row_norms()
    K = condal.Equal(image)
    if box:
        y[::3] = 0.0
        K = condal.Box(np.where(y < 0, image, image - side), np.where(y > 0, image, image + side))
    C = Z - A.adjoint(y).to_dense()
    problem = condal.Problem.of(
        f=condal.Linear(0.5 * (C + C.T)), X=condal.Spectrahedron(n, trace=float(n)), A=A, K=K
    )
    return problem, float(np.sum(C * x))


@pytest.mark.parametrize("box", [False, True])
def test_more_rows_than_are_independent(box):
    problem, optimum = planted_inner(12, 60, box=box, rank=20, room=0.01)
    result = condal.solve(problem, Splitting(), tol=1e-6, max_iters=400)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-5)


def test_it_has_no_penalty_on_the_images_of_x_to_tell_of():
    result = condal.solve(planted_sdp().problem, Splitting(), tol=1e-4)
    assert all(np.isnan(row.lam) for row in result.history)


def test_theta_of_a_complete_multipartite_graph_is_its_largest_part():
    model = condal.problems.theta(nx.complete_multipartite_graph(3, 7, 2, 5))
    result = condal.solve(model, Splitting(), tol=1e-7, max_iters=500)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(7.0, rel=1e-6)


def test_a_nonsmooth_term():
    """min <C, x> + t |x|_1 for C diagonal: the smallest C_ii, and t."""
    C = np.diag([3.0, 1.0, 2.0])
    problem = condal.Problem.of(
        f=condal.Linear(C), X=condal.Spectrahedron(3), A=condal.Entries(3), K=L1(0.5, 9)
    )
    result = condal.solve(problem, Splitting(), tol=1e-7, max_iters=200)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(1.5, rel=1e-6)


def test_it_suits_linear_objectives_over_small_spectral_domains():
    assert Splitting().suits(planted_sdp().problem)
    large = condal.Problem.of(condal.Linear(sp.eye(9000)), condal.Spectrahedron(9000))
    assert not Splitting().suits(large)


@pytest.mark.parametrize(("name", "most"), [("MAX_ENTRIES", 22), ("MAX_SYSTEM", 24.0)])
def test_it_suits_what_fits(name, most, monkeypatch):
    problem = planted_inner(4, 5, box=False)[0]
    assert Splitting().suits(problem)
    monkeypatch.setattr(rows, name, most)
    assert not Splitting().suits(problem)


def test_a_is_written_down_once_a_solve():
    problem = planted_sdp().problem
    A = Counted(problem.A)
    condal.solve(replace(problem, A=A, repair=lambda x: x), Splitting(), tol=1e-4)
    assert len(A.written) == 1
    A = Counted(problem.A)
    condal.solve(replace(problem, A=A), Splitting(), tol=1e-4)
    assert len(A.written) <= 2  # a repair by the factor has its own form of A


@pytest.mark.parametrize(
    ("place", "error"),
    [
        (
            "condal.methods.projection.composite.cho_factor",
            np.linalg.LinAlgError("not positive definite"),
        ),
        ("scipy.sparse.linalg.splu", RuntimeError("Factor is exactly singular")),
        ("condal.domains.spectral.eigh", np.linalg.LinAlgError("did not converge")),
    ],
)
def test_factors_that_fail_are_a_numerical_error(place, error, monkeypatch):
    def fail(*args, **options):
        raise error

    monkeypatch.setattr(place, fail)
    if place.endswith("splu"):
        monkeypatch.setattr("condal.methods.projection.composite.DENSE_BELOW", 0)
        monkeypatch.setattr("condal.methods.projection.composite.FULL", 2.0)
    problem = planted_inner(6, 4, box=False)[0]
    assert condal.solve(problem, Splitting()).status is condal.Status.NUMERICAL_ERROR


def test_an_objective_without_a_matrix_is_multiplied_out():
    known = planted_sdp()
    C = aslinearoperator(known.problem.f.C.to_dense())
    hidden = replace(known.problem, f=condal.Linear(C))
    result = condal.solve(hidden, Splitting(), tol=1e-6, max_iters=300)
    assert result.objective == pytest.approx(known.optimum, rel=1e-5)


def hypercube_assignment(seed: int) -> condal.problems.QuadraticAssignment:
    """Few flows over the distances of 16 words of 4 bits: many equal eigenvalues."""
    words = np.arange(16)
    distances = np.array([[int(a ^ b).bit_count() for b in words] for a in words], dtype=float)
    flows = np.triu(np.random.default_rng(seed).random((16, 16)) < 0.15, 1).astype(float)
    return condal.problems.quadratic_assignment(flows + flows.T, distances)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_bound_is_above_what_its_dual_gives(seed):
    problem = normalise(hypercube_assignment(seed).problem)[0]
    X, C = problem.X, problem.f.C.to_dense()
    for state in islice(Splitting().iterates(problem, Factor()), 9, 150, 10):
        v = X.on_face(Symmetric(X.n, dense=C + problem.A.adjoint(state.y).to_dense()))
        least = X.trace * np.linalg.eigvalsh(v.to_dense())[0] - problem.h.conjugate(state.y)
        assert state.lower <= least + 1e-12


def long_torus() -> condal.problems.Theta:
    """Theta+ of a bipartite torus of 24 x 4 vertices, whose value is 48."""
    graph = nx.grid_2d_graph(24, 4, periodic=True)
    return condal.problems.theta(graph, theta_plus=True)


@pytest.mark.parametrize("rho", [0.01, 1.0, 100.0])
def test_the_balance_finds_a_good_rho_from_afar(rho, monkeypatch):
    monkeypatch.setattr(splitting, "FIRST_RHO", rho)
    result = condal.solve(long_torus(), Splitting(), tol=1e-3, max_iters=150)
    assert result.status is condal.Status.SOLVED
    assert result.bound == pytest.approx(48.0, rel=1e-3)


def test_gap_and_infeasibility_reach_the_tolerance_together():
    """Trees against dense costs: a rho chosen by the residuals leaves the gap far behind."""
    rng = np.random.default_rng(3)
    tree = nx.to_numpy_array(nx.random_labeled_tree(8, seed=3)) * rng.integers(1, 100, (8, 8))
    costs = rng.integers(1, 100, (8, 8))
    model = condal.problems.quadratic_assignment(tree + tree.T, costs + costs.T)
    result = condal.solve(model, Splitting(), tol=1e-3, max_iters=300)
    assert result.status is condal.Status.SOLVED
    assert result.bound <= result.objective * (1 + 1e-3)
