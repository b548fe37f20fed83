"""Everyday problems with a matrix variable: statistics, graphs and combinatorics.

Each function returns a CVXPY problem and its optimum: in closed form, or computed by Clarabel and
SCS, which agree to 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def correlation(n: int = 60, optimum: float = 325.5514874) -> tuple[Any, float]:
    """Nearest correlation matrix, in the Frobenius norm, of a random symmetric matrix."""
    import cvxpy as cp

    G = np.random.default_rng(1).uniform(-1.0, 1.0, (n, n))
    G = (G + G.T) / 2
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(X - G)), [cp.diag(X) == 1]), optimum


def localisation() -> tuple[Any, float]:
    """Positions of 12 sensors from noisy distances to each other and to 4 anchors."""
    import cvxpy as cp

    rng = np.random.default_rng(2)
    anchors = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    places = rng.uniform(-1.0, 1.0, (12, 2))
    n = len(places)
    Z = cp.Variable((n + 2, n + 2), PSD=True)  # [I X; X' X'X]
    misfit = []
    for i in range(n):
        for j in range(i):
            e = np.zeros(n + 2)
            e[2 + i], e[2 + j] = 1.0, -1.0
            misfit.append(_distance_misfit(Z, e, places[i] - places[j], rng))
        for anchor in anchors:
            e = np.zeros(n + 2)
            e[:2], e[2 + i] = anchor, -1.0
            misfit.append(_distance_misfit(Z, e, places[i] - anchor, rng))
    objective = cp.Minimize(cp.norm1(cp.hstack(misfit)))
    return cp.Problem(objective, [Z[:2, :2] == np.eye(2)]), 6.571456


def _distance_misfit(Z: Any, e: Any, between: Any, rng: Any) -> Any:
    import cvxpy as cp

    squared = float(between @ between) * (1 + 0.05 * rng.standard_normal())
    return cp.trace(np.outer(e, e) @ Z) - squared


def mixing() -> tuple[Any, float]:
    """Fastest mixing Markov chain on a path of 24 vertices: cos(pi / 24) (Boyd et al. 2006)."""
    import cvxpy as cp

    n = 24
    P = cp.Variable((n, n), symmetric=True)
    far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 1
    limits = [P @ np.ones(n) == 1, P >= 0, P[far] == 0]
    problem = cp.Problem(cp.Minimize(cp.sigma_max(P - np.ones((n, n)) / n)), limits)
    return problem, float(np.cos(np.pi / n))


def completion() -> tuple[Any, float]:
    """Completion of a 20 x 16 matrix of rank 1 from 70% of its entries by the nuclear norm."""
    import cvxpy as cp

    rng = np.random.default_rng(4)
    M = np.outer(rng.uniform(0.5, 1.5, 20), rng.uniform(0.5, 1.5, 16))
    known = rng.random(M.shape) < 0.7
    X = cp.Variable(M.shape)
    problem = cp.Problem(cp.Minimize(cp.normNuc(X)), [X[known] == M[known]])
    return problem, float(np.linalg.norm(M, "nuc"))


def robust_pca() -> tuple[Any, float]:
    """Low rank plus sparse: a matrix of rank 1 and 12 large errors are separated exactly."""
    import cvxpy as cp

    rng = np.random.default_rng(5)
    L0 = np.outer(rng.choice([-1.0, 1.0], 20), rng.choice([-1.0, 1.0], 20))
    S0 = np.zeros((20, 20))
    S0.flat[rng.choice(400, 12, replace=False)] = 5.0 * rng.choice([-1.0, 1.0], 12)
    weight = 1 / np.sqrt(20)
    L, S = cp.Variable((20, 20)), cp.Variable((20, 20))
    problem = cp.Problem(
        cp.Minimize(cp.normNuc(L) + weight * cp.sum(cp.abs(S))), [L + S == L0 + S0]
    )
    return problem, float(np.linalg.norm(L0, "nuc") + weight * np.abs(S0).sum())


def sparse_pca() -> tuple[Any, float]:
    """The relaxation of d'Aspremont et al. (2007): a spiked covariance of side 24."""
    import cvxpy as cp

    rng = np.random.default_rng(6)
    spike = np.zeros(24)
    spike[:5] = 1.0
    samples = rng.standard_normal((80, 24)) + 2 * np.outer(rng.standard_normal(80), spike)
    S = samples.T @ samples / 80
    X = cp.Variable((24, 24), PSD=True)
    objective = cp.Maximize(cp.trace(S @ X) - 0.8 * cp.sum(cp.abs(X)))
    return cp.Problem(objective, [cp.trace(X) == 1]), 14.9523396


def boolean_least_squares() -> tuple[Any, float]:
    """The relaxation of least squares over x in {-1, 1}^24."""
    import cvxpy as cp

    rng = np.random.default_rng(7)
    A = rng.standard_normal((30, 24))
    b = A @ rng.choice([-1.0, 1.0], 24) + 2 * rng.standard_normal(30)
    C = np.block([[A.T @ A, -(A.T @ b)[:, None]], [-(A.T @ b)[None], np.array([[b @ b]])]])
    X = cp.Variable((25, 25), PSD=True)
    return cp.Problem(cp.Minimize(cp.trace(C @ X)), [cp.diag(X) == 1]), 69.6415914


def design() -> tuple[Any, float]:
    """A-optimal experiment design: 30 experiments on 5 parameters."""
    import cvxpy as cp

    V = np.random.default_rng(8).standard_normal((30, 5))
    weights = cp.Variable(30, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.tr_inv(V.T @ cp.diag(weights) @ V)), [cp.sum(weights) == 1])
    return problem, 3.67429374


def ellipsoid() -> tuple[Any, float]:
    """The ellipsoid about 0 with the least sum of squared semi-axes that contains 30 points."""
    import cvxpy as cp

    points = np.random.default_rng(9).standard_normal((30, 4)) * [3.0, 1.0, 1.0, 0.3]
    P = cp.Variable((4, 4), symmetric=True)
    inside = [cp.bmat([[P, p[:, None]], [p[None], np.ones((1, 1))]]) >> 0 for p in points]
    return cp.Problem(cp.Minimize(cp.trace(P)), inside), 50.700178


def max_cut() -> tuple[Any, float]:
    """Max-cut of a circulant graph, n = 61: n / 4 times the largest eigenvalue of its Laplacian."""
    import cvxpy as cp

    n = 61
    first = np.zeros(n)
    first[[1, 5, 12, n - 12, n - 5, n - 1]] = 1.0
    W = np.array([np.roll(first, k) for k in range(n)])
    L = np.diag(W.sum(axis=0)) - W
    X = cp.Variable((n, n), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])
    return problem, n / 4 * float(np.linalg.eigvalsh(L)[-1])


def theta() -> tuple[Any, float]:
    """Lovasz theta of the Paley graph of 37 vertices: the square root of 37."""
    import cvxpy as cp

    q = 37
    squares = {k * k % q for k in range(1, q)}
    edges = [(i, j) for i in range(q) for j in range(i) if (i - j) % q in squares]
    rows, cols = np.array(edges).T
    X = cp.Variable((q, q), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[rows, cols] == 0])
    return problem, float(np.sqrt(q))
