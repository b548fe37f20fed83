"""Everyday problems with vector variables: linear, quadratic and second-order programs.

Each function returns a CVXPY problem and its optimum: in closed form, or computed by Clarabel and
SCS, which agree to 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def portfolio() -> tuple[Any, float]:
    """The largest return of 80 assets with a limit on the risk, a factor model."""
    import cvxpy as cp

    rng = np.random.default_rng(21)
    mu, F, D = (
        rng.uniform(0, 0.1, 80),
        rng.standard_normal((80, 8)) / 10,
        rng.uniform(0.05, 0.2, 80),
    )
    x = cp.Variable(80, nonneg=True)
    risk = cp.norm(cp.hstack([F.T @ x, cp.multiply(D, x)]))
    return cp.Problem(cp.Maximize(mu @ x), [cp.sum(x) == 1, risk <= 0.04]), 0.0897327


def chebyshev() -> tuple[Any, float]:
    """The largest ball in a polyhedron of 60 faces that are tangent to a unit ball."""
    import cvxpy as cp

    rng = np.random.default_rng(22)
    A = rng.standard_normal((60, 5))
    A /= np.linalg.norm(A, axis=1)[:, None]
    b = A @ rng.standard_normal(5) + 1.0
    x, r = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Maximize(r), [A @ x + r <= b]), 1.0


def robust_lp() -> tuple[Any, float]:
    """A linear program whose 15 rows are known only to lie in ellipsoids."""
    import cvxpy as cp

    rng = np.random.default_rng(23)
    A, P = rng.standard_normal((15, 6)), 0.2 * rng.standard_normal((15, 6, 6))
    x, c = cp.Variable(6), -A.T @ rng.uniform(0, 1, 15)
    limits = [A[i] @ x + cp.norm(P[i] @ x) <= 1 for i in range(15)]
    return cp.Problem(cp.Minimize(c @ x), limits), -1.90311576


def markowitz() -> tuple[Any, float]:
    """Risk minus return of 100 assets, without short sales."""
    import cvxpy as cp

    rng = np.random.default_rng(24)
    R = rng.standard_normal((150, 100))
    S, mu = R.T @ R / 150, rng.uniform(0, 1, 100)
    x = cp.Variable(100, nonneg=True)
    objective = cp.Minimize(cp.quad_form(x, cp.psd_wrap(S)) - mu @ x)
    return cp.Problem(objective, [cp.sum(x) == 1]), -0.8875515


def support_vectors() -> tuple[Any, float]:
    """A support vector machine: 150 points of 10 features."""
    import cvxpy as cp

    rng = np.random.default_rng(25)
    X = rng.standard_normal((150, 10))
    y = np.sign(X @ rng.standard_normal(10) + 0.5 * rng.standard_normal(150))
    w, b = cp.Variable(10), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + hinge)), 25.3430328


def huber() -> tuple[Any, float]:
    """Huber regression: 150 rows, 12 columns, a tenth of the right-hand sides are wild."""
    import cvxpy as cp

    rng = np.random.default_rng(26)
    A = rng.standard_normal((150, 12))
    b = A @ rng.standard_normal(12) + 0.2 * rng.standard_normal(150)
    b[:15] += 10 * rng.standard_normal(15)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ cp.Variable(12) - b, 0.5)))), 140.761665


def total_variation() -> tuple[Any, float]:
    """Total variation denoising of a signal of 200 samples."""
    import cvxpy as cp

    rng = np.random.default_rng(27)
    signal = np.repeat(rng.uniform(-2, 2, 8), 25) + 0.3 * rng.standard_normal(200)
    x = cp.Variable(200)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - signal) / 2 + 2 * cp.tv(x))), 26.6827621


def transport() -> tuple[Any, float]:
    """Optimal transport between 20 and 25 random points of the square: a linear program."""
    import cvxpy as cp
    from scipy.optimize import linprog

    rng = np.random.default_rng(28)
    a, b = rng.random((20, 2)), rng.random((25, 2))
    cost = np.linalg.norm(a[:, None] - b[None], axis=2)
    P = cp.Variable(cost.shape, nonneg=True)
    limits = [cp.sum(P, axis=1) == 1 / 20, cp.sum(P, axis=0) == 1 / 25]
    rows = np.vstack([np.kron(np.eye(20), np.ones(25)), np.kron(np.ones(20), np.eye(25))])
    sums = np.concatenate([np.full(20, 1 / 20), np.full(25, 1 / 25)])
    optimum = float(linprog(cost.ravel(), A_eq=rows, b_eq=sums).fun)
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, P))), limits), optimum
