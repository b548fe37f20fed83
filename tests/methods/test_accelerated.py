"""Accelerated projected gradients: projections in a subspace, a falling objective, known optima."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.linalg.lifting import symmetric
from condal.linalg.points import LowRank
from condal.methods import AcceleratedGradient, LowRankCGAL, PrimalDual
from condal.methods.accelerated.step import RitzSpace, extended, orthonormal
from condal.storage import Factor

rng = np.random.default_rng(11)


def completion(m=40, n=50, known=600, radius=80.0):
    places = rng.permutation(m * n)[:known]
    truth = rng.standard_normal((m, 3)) @ rng.standard_normal((3, n))
    noisy = truth.ravel()[places] + 0.3 * rng.standard_normal(known)
    E = condal.Entries.rectangular((m, n), places // n, places % n)
    return condal.Problem.of(condal.LeastSquares(E, noisy), condal.NuclearBall(m, n, radius))


def phases(n=12):
    u = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    a = rng.standard_normal((8 * n, n)) + 1j * rng.standard_normal((8 * n, n))
    b = np.abs(a @ u) ** 2 * (1 + 0.05 * rng.standard_normal(8 * n))
    return condal.problems.phase_retrieval(b, a).problem


def fixed_trace(n=30):
    C = rng.standard_normal((n, n))
    E = condal.Entries(n)
    return condal.Problem.of(condal.LeastSquares(E, E(C @ C.T)), condal.Spectrahedron(n, 20.0))


def rates(n=20):
    """Counts of a Poisson law: the curvature of f varies over X."""
    a = rng.standard_normal((100, n))
    u = rng.standard_normal(n)
    A = condal.Quadratics(a)
    f = condal.Poisson(A, rng.poisson((a @ u) ** 2), 0.5)
    return condal.Problem.of(f, condal.Spectrahedron(n, 40.0, at_most=True))


PROBLEMS = {
    "completion": completion(),
    "phases": phases(),
    "fixed trace": fixed_trace(),
    "rates": rates(),
}
problems = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


@pytest.mark.parametrize("at_most", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.98, 1.02, 20.0])
def test_the_projection_in_the_whole_space_is_that_of_the_domain(share, at_most):
    """The trace is a share of the positive eigenvalues of what is projected."""
    n, L = 8, 0.7
    V, (U, w) = rng.standard_normal((n, n)), (rng.standard_normal((n, 3)), rng.standard_normal(3))
    V, y = V + V.T, LowRank(U, w)
    moved = np.asarray(y) - V / L
    trace = share * np.maximum(np.linalg.eigvalsh(moved), 0.0).sum()
    X = condal.Spectrahedron(n, trace, at_most)
    space = RitzSpace.of(orthonormal(rng.standard_normal((n, n))), y, symmetric(V, "V"))
    new = space.projected(L, X)
    np.testing.assert_allclose(np.asarray(new.x), np.asarray(X.project(moved)), atol=1e-9 * trace)
    distance2 = float(np.linalg.norm(np.asarray(new.x) - np.asarray(y)) ** 2)
    assert new.distance2 == pytest.approx(distance2)


def test_the_projection_in_a_subspace_is_the_best_point_there():
    """<V, x> + L/2 |x - y|^2 over X and the span, by its optimality condition."""
    n, L, B = 9, 2.0, np.linalg.qr(rng.standard_normal((9, 4)))[0]
    V, y = rng.standard_normal((n, n)), LowRank(B[:, :1], np.array([2.0]))
    V, X = V + V.T, condal.Spectrahedron(n, 3.0)
    x = np.asarray(RitzSpace.of(B, y, symmetric(V, "V")).projected(L, X).x)
    slope = B.T @ (V + L * (x - np.asarray(y))) @ B
    assert float(np.vdot(slope, B.T @ x @ B)) == pytest.approx(3.0 * np.linalg.eigvalsh(slope)[0])


def test_columns_are_orthonormal_to_rounding_whatever_the_basis():
    basis = rng.standard_normal((50, 6)) * np.geomspace(1, 1e-12, 6)
    basis = np.hstack([basis, basis[:, :2] + 1e-3 * rng.standard_normal((50, 2)), basis[:, :1]])
    B = orthonormal(basis)
    assert B.shape == (50, 8)
    np.testing.assert_allclose(B.T @ B, np.eye(8), atol=1e-13)
    np.testing.assert_allclose(B @ (B.T @ basis), basis, atol=1e-7)


def test_an_extended_span_holds_the_first_columns_exactly():
    U = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    near = U + 1e-9 * rng.standard_normal((50, 4))
    for basis in (near, np.hstack([near, rng.standard_normal((50, 3))]), np.zeros((50, 0))):
        B = extended(U, basis)
        np.testing.assert_allclose(B.T @ B, np.eye(B.shape[1]), atol=1e-13)
        np.testing.assert_array_equal(B[:, :4], U)
        np.testing.assert_allclose(B @ (B.T @ basis), basis, atol=1e-5)


@problems
def test_the_objective_never_rises_and_x_stays_in_the_domain(problem):
    normalised, _ = normalise(problem)
    x, last = Factor(), np.inf
    for state in islice(AcceleratedGradient().iterates(normalised, x), 80):
        assert state.value <= last + 1e-13 * abs(state.value)
        assert normalised.X.distance(x.point()) <= 1e-12 * normalised.X.trace
        np.testing.assert_allclose(normalised.f.M(x.point()), state.Mx, atol=1e-9)
        last = state.value


@problems
def test_it_reaches_a_small_gap_and_agrees_with_dense_projections(problem):
    result = condal.solve(problem, AcceleratedGradient(), tol=1e-6)
    assert result.status is condal.Status.SOLVED
    dense = condal.solve(problem, PrimalDual(), tol=1e-6)
    assert result.objective == pytest.approx(dense.objective, abs=3e-6 * max(1, dense.objective))


def test_a_solution_of_zero_is_found():
    E = condal.Entries(30)
    f = condal.LeastSquares(E, E(-np.eye(30)))
    problem = condal.Problem.of(f, condal.Spectrahedron(30, 2.0, at_most=True))
    result = condal.solve(problem, AcceleratedGradient(), tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(15.0)


def test_refuting_vectors_join_the_subspace():
    normalised, _ = normalise(PROBLEMS["completion"])
    states = AcceleratedGradient().iterates(normalised, Factor())
    width = next(states).carry.basis.shape[1]
    more = np.linalg.qr(rng.standard_normal((normalised.X.n, 30)))[0]
    state = replace(next(states), refuting=more)
    (resumed,) = islice(AcceleratedGradient().iterates(normalised, Factor(), state), 1)
    assert resumed.carry.columns > state.carry.columns + 2 * width


def test_a_fixed_rank_ends_where_more_columns_are_needed():
    """The default then goes on with projected gradients, whose rank adapts."""
    problem = PROBLEMS["phases"]
    method = LowRankCGAL(aim=1e-5, fixed_rank=True)
    single = condal.solve(problem, method, tol=1e-5, max_iters=500)
    assert single.status in (condal.Status.STALLED, condal.Status.INACCURATE)
    assert single.x.rank == 1
    result = condal.solve(problem, tol=1e-5)
    assert result.status is condal.Status.SOLVED
    assert result.method == "lowrank, then accelerated"


@pytest.mark.parametrize("seed", [5, 9])
def test_a_promise_that_falls_with_f_keeps_a_fixed_rank(seed):
    """The gradient of an exact fit vanishes, and with it what more columns promise."""
    draws, shape = np.random.default_rng(seed), (6, 32, 32)
    u = draws.standard_normal(shape[1:]) + 1j * draws.standard_normal(shape[1:])
    masks = draws.choice([1, -1, 1j, -1j], size=shape)
    masks *= draws.choice([np.sqrt(0.5), np.sqrt(3.0)], p=[0.8, 0.2], size=shape)
    b = np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2
    model = condal.problems.phase_retrieval(b, masks=masks)
    result = condal.solve(model, tol=1e-3)
    assert result.status is condal.Status.SOLVED
    assert result.method == "lowrank"
    assert model.signal(result).error(u) <= 1e-3
