"""Problems over the nuclear ball, by every method that takes them."""

from __future__ import annotations

from functools import lru_cache

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.linalg.points import Outer
from condal.methods import CGAL, LowRankCGAL, PrimalDual, Splitting, corrective
from condal.methods.rules import LineSearch
from condal.storage import TwoSidedSketch
from condal_lab.methods import SketchyCGM

M, N = 6, 8
METHODS = {
    "default": None,
    "lowrank": LowRankCGAL(),
    "splitting": Splitting(),
    "primal-dual": PrimalDual(),
    "cgal": CGAL(eta=LineSearch()),
    "cgal-fc": corrective(),
}


def seen_entries(rng, count=25):
    """A matrix of rank 2, and places of it."""
    truth = rng.standard_normal((M, 2)) @ rng.standard_normal((2, N))
    places = rng.permutation(M * N)[:count]
    return truth, places // N, places % N


def completion(radius=8.0):
    """min 1/2 |seen entries - noisy ones|^2."""
    rng = np.random.default_rng(0)
    truth, rows, cols = seen_entries(rng)
    b = truth[rows, cols] + 0.3 * rng.standard_normal(rows.size)
    E = condal.Entries.rectangular((M, N), rows, cols)
    problem = condal.Problem.of(f=condal.LeastSquares(E, b), X=condal.NuclearBall(M, N, radius))
    x = cp.Variable((M, N))
    return (
        problem,
        cp.Minimize(0.5 * cp.sum_squares(x[rows, cols] - b)),
        x,
        [cp.normNuc(x) <= radius],
    )


def robust(radius=8.0):
    """min |seen entries - those with outliers|_1."""
    rng = np.random.default_rng(1)
    truth, rows, cols = seen_entries(rng)
    b = truth[rows, cols] + np.where(rng.random(rows.size) < 0.2, 5.0, 0.0)
    problem = condal.Problem.of(
        X=condal.NuclearBall(M, N, radius),
        B=condal.Entries.rectangular((M, N), rows, cols),
        g=condal.AbsoluteLoss(b),
    )
    x = cp.Variable((M, N))
    return problem, cp.Minimize(cp.norm1(x[rows, cols] - b)), x, [cp.normNuc(x) <= radius]


def linear(form=np.asarray):
    """min <C, x>, <A_i, x> in a box."""
    rng = np.random.default_rng(2)
    C, *As = rng.standard_normal((4, M, N))
    problem = condal.Problem.of(
        f=condal.Linear(condal.lifted(form(C))),
        X=condal.NuclearBall(M, N, 2.0),
        A=condal.Inner([condal.lifted(A) for A in As]),
        K=condal.Box([-0.5, -np.inf, 0.2], [0.5, 0.3, np.inf]),
    )
    x = cp.Variable((M, N))
    images = cp.hstack([cp.sum(cp.multiply(A, x)) for A in As])
    rows = [images[0] >= -0.5, images[0] <= 0.5, images[1] <= 0.3, images[2] >= 0.2]
    return problem, cp.Minimize(cp.sum(cp.multiply(C, x))), x, [*rows, cp.normNuc(x) <= 2]


def interpolation():
    """min |x - 1|^2 / 2 with some entries given."""
    rng = np.random.default_rng(3)
    truth, rows, cols = seen_entries(rng, 8)
    b = truth[rows, cols]
    i, j = (part.ravel() for part in np.mgrid[:M, :N])
    problem = condal.Problem.of(
        f=condal.LeastSquares(condal.Entries.rectangular((M, N), i, j), np.ones(M * N)),
        X=condal.NuclearBall(M, N, 10.0),
        A=condal.Entries.rectangular((M, N), rows, cols),
        K=condal.Equal(b),
    )
    x = cp.Variable((M, N))
    f = cp.Minimize(0.5 * cp.sum_squares(x - 1.0))
    return problem, f, x, [x[rows, cols] == b, cp.normNuc(x) <= 10]


PROBLEMS = {
    "completion": completion,
    "robust": robust,
    "linear": linear,
    "linear, sparse": lambda: linear(sp.csr_array),
    "linear, matrix-free": lambda: linear(aslinearoperator),
    "interpolation": interpolation,
}
CURVED = ("completion", "interpolation")
UNFIT = {"splitting": CURVED, "cgal": ("robust", *CURVED), "cgal-fc": ("interpolation",)}
CASES = [(p, m) for p in PROBLEMS for m in METHODS if p not in UNFIT.get(m, ())]


@lru_cache
def known(name):
    """The problem, and its optimum as an independent solver finds it."""
    problem, objective, _, rows = PROBLEMS[name]()
    return problem, cp.Problem(objective, rows).solve(solver=cp.SCS, eps=1e-7)


@lru_cache
def solved(name, method):
    tol = 1e-3 if method.startswith("cgal") else 1e-4
    return condal.solve(known(name)[0], METHODS[method], tol=tol, max_iters=2000)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_an_independent_solver_agrees(name, method):
    _, optimum = known(name)
    result = solved(name, method)
    assert result.status is condal.Status.SOLVED, result
    assert result.objective == pytest.approx(optimum, rel=1e-3, abs=1e-3)
    assert result.bound <= optimum + 1e-5 * (1 + abs(optimum))


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_point_that_is_shown_has_the_certificate(name, method):
    problem, result = known(name)[0], solved(name, method)
    x = np.asarray(result.x)
    assert x.shape == (M, N)
    singular = np.linalg.svd(x, compute_uv=False)
    assert singular.sum() <= problem.X.radius * (1 + 1e-6)
    assert isinstance(result.x, Outer)
    values = result.x.singular_values()[:M]
    np.testing.assert_allclose(values, singular[: values.size], atol=1e-9)
    assert singular[values.size :].sum() <= 1e-9
    for shown in (result.x, x):
        again = condal.certify(problem, shown, result.y)
        size = 1 + abs(result.objective)
        assert again.objective == pytest.approx(result.objective, abs=1e-9 * size)
        assert again.infeasibility == pytest.approx(result.infeasibility, abs=1e-9)
        assert again.bound >= result.bound - 1e-6 * size
        assert again.distance_to_X <= 1e-6 * problem.X.max_norm


@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_result_is_a_warm_start(name, method):
    problem, first = known(name)[0], solved(name, method)
    again = condal.solve(problem, METHODS[method], tol=2e-3, warm_start=first, max_iters=100)
    assert again.status is condal.Status.SOLVED
    assert len(again.history) <= 20


def test_without_constraints_the_answer_is_the_leading_pair():
    C = np.random.default_rng(4).standard_normal((5, 9))
    U, values, Vt = np.linalg.svd(C)
    problem = condal.Problem.of(
        f=condal.Linear(condal.lifted(C)), X=condal.NuclearBall(5, 9, 3.0), maximise=True
    )
    result = condal.solve(problem, tol=1e-6)
    assert result.objective == pytest.approx(3.0 * values[0], rel=1e-5)
    np.testing.assert_allclose(np.asarray(result.x), 3.0 * np.outer(U[:, 0], Vt[0]), atol=0.02)


def test_a_ball_that_is_large_enough_is_idle():
    """The data are a matrix of nuclear norm 3 in a ball of 10: an optimum of 0, inside."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 5))
    x *= 3.0 / np.linalg.svd(x, compute_uv=False).sum()
    rows, cols = (part.ravel() for part in np.mgrid[:4, :5])
    E = condal.Entries.rectangular((4, 5), rows, cols)
    f = condal.LeastSquares(E, x.ravel(), weight=100.0)
    result = condal.solve(condal.Problem.of(f=f, X=condal.NuclearBall(4, 5, 10.0)), tol=1e-5)
    assert result.status is condal.Status.SOLVED
    assert result.objective <= 1e-4
    np.testing.assert_allclose(np.asarray(result.x), x, atol=0.01)


def test_one_number():
    problem = condal.Problem.of(
        f=condal.LeastSquares(condal.Entries.rectangular((1, 1), [0], [0]), [5.0]),
        X=condal.NuclearBall(1, 1, 2.0),
    )
    result = condal.solve(problem, tol=1e-6)
    assert result.objective == pytest.approx(4.5, rel=1e-5)
    assert np.asarray(result.x) == pytest.approx(2.0, abs=1e-5)


def test_a_sketch_of_two_sides_is_enough():
    """Storage-optimal CGM: the gradient is computed from images, and x only at the end."""
    problem, optimum = known("completion")
    for storage in (TwoSidedSketch(M, N, 6), None):
        result = condal.solve(problem, SketchyCGM(), tol=2e-2, storage=storage, max_iters=3000)
        assert result.status is condal.Status.SOLVED
        assert result.objective == pytest.approx(optimum, abs=3e-2 * (1 + optimum))
        assert result.x.singular_values().sum() <= problem.X.radius * (1 + 1e-9)
