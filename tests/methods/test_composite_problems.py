"""Composite problems f(x) + g(Bx), with and without Ax in K, against an interior-point solver.

Each is solved to 1e-3 and proved: bound <= optimum, and objective within tol of the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import condal
from condal.domains import Box as BoxDomain

TOL = 1e-3
N = 12

rng = np.random.default_rng(0)
M, B, A = rng.standard_normal((20, N)), rng.standard_normal((8, N)), rng.standard_normal((3, N))
truth, before = rng.dirichlet(np.ones(N), size=2)
c = M @ truth + 0.1 * rng.standard_normal(20)
cost = rng.standard_normal(N)
labels = np.where(M @ (truth - 1 / N) > 0, 1.0, -1.0)
counts = rng.poisson(5 * np.abs(M) @ truth)
factors, own = rng.standard_normal((4, N)), 0.1 * rng.random(N)
matrices = [m + m.T for m in rng.standard_normal((N, 3, 3))]
symmetric = rng.standard_normal((4, 4))
symmetric = symmetric + symmetric.T


@dataclass(frozen=True)
class Case:
    name: str
    problem: condal.Problem
    peer: cp.Problem


def case(name: str, minimise: Any, subject_to: list[Any], **parts: Any) -> Case:
    problem = condal.Problem.of(**parts, name=name)
    return Case(name, problem, cp.Problem(cp.Minimize(minimise), subject_to))


def composites() -> Iterator[Case]:
    """f + g(Bx) over vectors."""
    x = cp.Variable(N)
    simplex, l1, l2 = [x >= 0, cp.sum(x) == 1], [cp.norm1(x) <= 2], [cp.norm2(x) <= 2]
    S, L1Ball, L2Ball = condal.Simplex(N), condal.L1Ball(N, 2.0), condal.L2Ball(N, 2.0)
    squares, fit = 0.5 * cp.sum_squares(M @ x - c), condal.LeastSquares(M, c)
    through = {"B": condal.Matrix(B)}
    ridge = condal.Quadratic(0.1 * np.eye(N))
    b = A @ truth
    yield case(
        "least squares + L1, simplex",
        squares + 0.3 * cp.norm1(B @ x),
        simplex,
        f=fit,
        X=S,
        g=condal.L1(0.3),
        **through,
    )
    yield case(
        "least squares + L1, simplex, Ax = b",
        squares + 0.3 * cp.norm1(B @ x),
        [*simplex, A @ x == b],
        f=fit,
        X=S,
        A=condal.Matrix(A),
        K=condal.Equal(b),
        g=condal.L1(0.3),
        **through,
    )
    yield case(
        "least squares + L2, simplex",
        squares + 2 * cp.norm2(B @ x),
        simplex,
        f=fit,
        X=S,
        g=condal.L2(2.0),
        **through,
    )
    yield case(
        "linear + Linf, L1 ball",
        cost @ x + cp.norm_inf(B @ x),
        l1,
        f=condal.Linear(cost),
        X=L1Ball,
        g=condal.Linf(),
        **through,
    )
    yield case(
        "Maximum alone: a matrix game",
        cp.max(B @ x),
        simplex,
        X=S,
        g=condal.Maximum(),
        **through,
    )
    yield case(
        "quadratic + quantile, L1 ball",
        0.05 * cp.sum_squares(x) + 0.1 * cp.sum(0.8 * cp.pos(c - M @ x) + 0.2 * cp.pos(M @ x - c)),
        l1,
        f=ridge,
        X=L1Ball,
        B=condal.Matrix(M),
        g=condal.Quantile(c, 0.8, 0.1),
    )
    yield case(
        "L1 regression, sum x = 1, L1 ball",
        cp.norm1(M @ x - c),
        [*l1, cp.sum(x) == 1],
        X=L1Ball,
        A=condal.Matrix(np.ones(N)),
        K=condal.Equal([1.0]),
        B=condal.Matrix(M),
        g=condal.AbsoluteLoss(c),
    )
    risk = 0.5 * cp.sum_squares(factors @ x) + 0.5 * cp.sum(cp.multiply(own, cp.square(x)))
    yield case(
        "portfolio with turnover, Ax in a box",
        risk - 0.3 * cost @ x + 0.2 * cp.norm1(x - before),
        [*simplex, cp.abs(A @ x - b) <= 0.1],
        f=condal.FactoredQuadratic(factors, own, -0.3 * cost),
        X=S,
        A=condal.Matrix(A),
        K=condal.Box(b - 0.1, b + 0.1),
        g=condal.AbsoluteLoss(before, 0.2),
    )
    yield case(
        "support vectors: quadratic + hinge, L2 ball",
        0.05 * cp.sum_squares(x) + 0.1 * cp.sum(cp.pos(1 - cp.multiply(labels, M @ x))),
        l2,
        f=ridge,
        X=L2Ball,
        B=condal.Matrix(M),
        g=condal.Hinge(labels, 0.1),
    )
    yield case(
        "epsilon-insensitive, box",
        cp.sum(cp.pos(cp.abs(M @ x - c) - 0.05)),
        [x >= 0, x <= 0.3],
        X=BoxDomain(np.zeros(N), np.full(N, 0.3)),
        B=condal.Matrix(M),
        g=condal.EpsilonInsensitive(c, 0.05),
    )
    pairs = sum(cp.norm2((B @ x)[2 * i : 2 * i + 2]) for i in range(4))
    yield case(
        "logistic + group L1, L2 ball",
        0.1 * cp.sum(cp.logistic(-cp.multiply(labels, M @ x))) + 0.05 * pairs,
        l2,
        f=condal.Logistic(M, labels, 0.1),
        X=L2Ball,
        g=condal.GroupL1(np.arange(8) // 2, 0.05),
        **through,
    )
    rate = np.abs(M) @ x + 0.5
    yield case(
        "Poisson + total variation, box",
        cp.sum(cp.kl_div(counts, rate)) + 0.5 * cp.norm1(cp.diff(x)),
        [x >= 0, x <= 3],
        f=condal.Poisson(np.abs(M), counts, 0.5),
        X=BoxDomain(np.zeros(N), np.full(N, 3.0)),
        B=condal.FiniteDifferences((N,)),
        g=condal.total_variation((N,), 0.5),
    )


def constrained() -> Iterator[Case]:
    """f, Ax in K, for the sets that are not separable; matrices."""
    x, X = cp.Variable(N), cp.Variable((4, 4), symmetric=True)
    simplex, l1 = [x >= 0, cp.sum(x) == 1], [cp.norm1(x) <= 2]
    cone = np.vstack([cost + 1.0, B])
    psd = condal.PSDCone(3)
    columns = np.column_stack([psd.vector(m) for m in matrices])

    def pencil(x: Any) -> Any:
        return sum(x[i] * m for i, m in enumerate(matrices))

    yield case(
        "Huber, simplex, Ax in a ball",
        0.5 * cp.sum(cp.huber(M @ x - c, 0.1)),
        [*simplex, cp.norm2(B @ x - B @ truth) <= 0.3],
        f=condal.Huber(M, c, 0.1),
        X=condal.Simplex(N),
        A=condal.Matrix(B),
        K=condal.Ball(B @ truth, 0.3),
    )
    yield case(
        "linear, L2 ball, a second-order cone",
        cost @ x,
        [cp.norm2(x) <= 2, cp.norm2(B @ x) <= (cost + 1) @ x],
        f=condal.Linear(cost),
        X=condal.L2Ball(N, 2.0),
        A=condal.Matrix(cone),
        K=condal.SecondOrder(9),
    )
    yield case(
        "linear, L1 ball, a linear matrix inequality",
        cost @ x,
        [*l1, pencil(x) >> 0],
        f=condal.Linear(cost),
        X=condal.L1Ball(N, 2.0),
        A=condal.Matrix(columns),
        K=psd,
    )
    yield case(
        "least squares + largest eigenvalue, simplex",
        0.05 * cp.sum_squares(M @ x - c) + 0.5 * cp.lambda_max(pencil(x)),
        simplex,
        f=condal.LeastSquares(M, c, 0.1),
        X=condal.Simplex(N),
        B=condal.Matrix(columns),
        g=condal.MaxEigenvalue(3, 0.5),
    )
    total = float((B @ truth).sum())
    yield case(
        "least squares, L1 ball, an affine subspace",
        0.5 * cp.sum_squares(M @ x - c),
        [*l1, cp.sum(B @ x) == total],
        f=condal.LeastSquares(M, c),
        X=condal.L1Ball(N, 2.0),
        A=condal.Matrix(B),
        K=condal.Affine(np.ones(8), total),
    )
    spectral = [X >> 0, cp.trace(X) == 1]
    yield case(
        "least squares + L1 of all entries, spectrahedron",
        0.5 * cp.sum_squares(X - symmetric) + 0.4 * cp.sum(cp.abs(X)),
        spectral,
        f=condal.LeastSquares(condal.Entries(4), symmetric.ravel()),
        X=condal.Spectrahedron(4),
        B=condal.Entries(4),
        g=condal.L1(0.4),
    )
    yield case(
        "linear + Linf of the diagonal, spectrahedron, row sums",
        cp.trace(symmetric @ X) + 2 * cp.max(cp.abs(cp.diag(X))),
        [*spectral, cp.sum(X, axis=1) >= 0],
        f=condal.Linear(symmetric),
        X=condal.Spectrahedron(4),
        A=condal.RowSums(4),
        K=condal.NonNegative(4),
        B=condal.Diagonal(4),
        g=condal.Linf(2.0),
    )


CASES = [*composites(), *constrained()]


def check(case: Case, result: condal.Result) -> None:
    optimum = float(case.peer.solve(solver=cp.CLARABEL))
    unit = case.problem.gap_unit(optimum)
    assert result.status is condal.Status.SOLVED
    assert result.bound <= optimum + 1e-6 * unit  # what an interior-point solver's word is worth
    assert result.objective <= result.bound + 1.001 * TOL * unit
    # f(x) - f* >= -|y*| dist(Ax, K): a point that is not quite feasible may undercut the optimum.
    A, h = case.problem.A, case.problem.h
    undercut = float(np.linalg.norm(result.y)) * h.distance(A(result.x))
    assert result.objective >= optimum - 2 * undercut - 1e-6 * unit
    assert result.infeasibility <= TOL


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_solved_and_proved_by_full_correction(case):
    method = condal.methods.corrective()
    check(case, condal.solve(case.problem, tol=TOL, method=method, max_seconds=60))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_solved_and_proved_by_default(case):
    check(case, condal.solve(case.problem, tol=TOL, max_seconds=60))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_bounds_hold_on_the_way(case):
    """Early answers are poor, and no bound of theirs is above the optimum."""
    optimum = float(case.peer.solve(solver=cp.CLARABEL))
    for k in (1, 5, 30):
        result = condal.solve(case.problem, tol=TOL, max_iters=k)
        assert result.bound <= optimum + 1e-6 * case.problem.gap_unit(optimum)
        again = condal.certify(case.problem, result.x, result.y)
        assert again.bound <= optimum + 1e-6 * case.problem.gap_unit(optimum)


def test_the_proof_pays_for_a_dual_that_is_not_quite_one():
    """|A'y - A'w| <= |A| |y - w| for the point w of dom h* that y stands for."""

    class Off(condal.Affine):
        def dual_error(self, y: np.ndarray) -> float:
            return super().dual_error(y) + 1e-3

    bounds = []
    for kind in (condal.Affine, Off):
        problem = condal.Problem.of(
            condal.Linear(cost), condal.Simplex(N), condal.Matrix(A), kind(np.ones(3), 0.1)
        )
        bounds.append(condal.certify(problem, truth, np.ones(3)).bound)
    assert bounds[0] - bounds[1] == pytest.approx(1e-3 * np.linalg.norm(A), rel=1e-6)
