"""Everyday problems: statistics, graphs and combinatorics, decisions, and those of `systems`.

Each function takes the module of CVXPY and returns a problem and its optimum: in closed form, or
computed by Clarabel and SCS, which agree to 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import linprog

from condal_lab.bench.conic import systems

Build: TypeAlias = Callable[[Any], tuple[Any, float]]


def correlation(cp: Any, n: int = 60, optimum: float = 325.5514874) -> tuple[Any, float]:
    """Nearest correlation matrix, in the Frobenius norm, of a random symmetric matrix."""
    G = np.random.default_rng(1).uniform(-1.0, 1.0, (n, n))
    G = (G + G.T) / 2
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(X - G)), [cp.diag(X) == 1]), optimum


def localisation(cp: Any) -> tuple[Any, float]:
    """Positions of 12 sensors from noisy distances to each other and to 4 anchors."""
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
            misfit.append(_distance_misfit(cp, Z, e, places[i] - places[j], rng))
        for anchor in anchors:
            e = np.zeros(n + 2)
            e[:2], e[2 + i] = anchor, -1.0
            misfit.append(_distance_misfit(cp, Z, e, places[i] - anchor, rng))
    objective = cp.Minimize(cp.norm1(cp.hstack(misfit)))
    return cp.Problem(objective, [Z[:2, :2] == np.eye(2)]), 6.571456


def _distance_misfit(cp: Any, Z: Any, e: Any, between: Any, rng: Any) -> Any:
    squared = float(between @ between) * (1 + 0.05 * rng.standard_normal())
    return cp.trace(np.outer(e, e) @ Z) - squared


def mixing(cp: Any) -> tuple[Any, float]:
    """Fastest mixing Markov chain on a path of 24 vertices: cos(pi / 24) (Boyd et al. 2006)."""
    n = 24
    P = cp.Variable((n, n), symmetric=True)
    far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 1
    limits = [P @ np.ones(n) == 1, P >= 0, P[far] == 0]
    problem = cp.Problem(cp.Minimize(cp.sigma_max(P - np.ones((n, n)) / n)), limits)
    return problem, float(np.cos(np.pi / n))


def completion(cp: Any) -> tuple[Any, float]:
    """Completion of a 20 x 16 matrix of rank 1 from 70% of its entries by the nuclear norm."""
    rng = np.random.default_rng(4)
    M = np.outer(rng.uniform(0.5, 1.5, 20), rng.uniform(0.5, 1.5, 16))
    known = rng.random(M.shape) < 0.7
    X = cp.Variable(M.shape)
    problem = cp.Problem(cp.Minimize(cp.normNuc(X)), [X[known] == M[known]])
    return problem, float(np.linalg.norm(M, "nuc"))


def robust_pca(cp: Any) -> tuple[Any, float]:
    """Low rank plus sparse: a matrix of rank 1 and 12 large errors are separated exactly."""
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


def sparse_pca(cp: Any) -> tuple[Any, float]:
    """The relaxation of d'Aspremont et al. (2007): a spiked covariance of side 24."""
    rng = np.random.default_rng(6)
    spike = np.zeros(24)
    spike[:5] = 1.0
    samples = rng.standard_normal((80, 24)) + 2 * np.outer(rng.standard_normal(80), spike)
    S = samples.T @ samples / 80
    X = cp.Variable((24, 24), PSD=True)
    objective = cp.Maximize(cp.trace(S @ X) - 0.8 * cp.sum(cp.abs(X)))
    return cp.Problem(objective, [cp.trace(X) == 1]), 14.9523396


def boolean_least_squares(cp: Any) -> tuple[Any, float]:
    """The relaxation of least squares over x in {-1, 1}^24."""
    rng = np.random.default_rng(7)
    A = rng.standard_normal((30, 24))
    b = A @ rng.choice([-1.0, 1.0], 24) + 2 * rng.standard_normal(30)
    C = np.block([[A.T @ A, -(A.T @ b)[:, None]], [-(A.T @ b)[None], np.array([[b @ b]])]])
    X = cp.Variable((25, 25), PSD=True)
    return cp.Problem(cp.Minimize(cp.trace(C @ X)), [cp.diag(X) == 1]), 69.6415914


def design(cp: Any) -> tuple[Any, float]:
    """A-optimal experiment design: 30 experiments on 5 parameters."""
    V = np.random.default_rng(8).standard_normal((30, 5))
    weights = cp.Variable(30, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.tr_inv(V.T @ cp.diag(weights) @ V)), [cp.sum(weights) == 1])
    return problem, 3.67429374


def ellipsoid(cp: Any) -> tuple[Any, float]:
    """The ellipsoid about 0 with the least sum of squared semi-axes that contains 30 points."""
    points = np.random.default_rng(9).standard_normal((30, 4)) * [3.0, 1.0, 1.0, 0.3]
    P = cp.Variable((4, 4), symmetric=True)
    inside = [cp.bmat([[P, p[:, None]], [p[None], np.ones((1, 1))]]) >> 0 for p in points]
    return cp.Problem(cp.Minimize(cp.trace(P)), inside), 50.700178


def max_cut(cp: Any) -> tuple[Any, float]:
    """Max-cut of a circulant graph, n = 61: n / 4 times the largest eigenvalue of its Laplacian."""
    n = 61
    first = np.zeros(n)
    first[[1, 5, 12, n - 12, n - 5, n - 1]] = 1.0
    W = np.array([np.roll(first, k) for k in range(n)])
    L = np.diag(W.sum(axis=0)) - W
    X = cp.Variable((n, n), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])
    return problem, n / 4 * float(np.linalg.eigvalsh(L)[-1])


def theta(cp: Any) -> tuple[Any, float]:
    """Lovasz theta of the Paley graph of 37 vertices: the square root of 37."""
    q = 37
    squares = {k * k % q for k in range(1, q)}
    edges = [(i, j) for i in range(q) for j in range(i) if (i - j) % q in squares]
    rows, cols = np.array(edges).T
    X = cp.Variable((q, q), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[rows, cols] == 0])
    return problem, float(np.sqrt(q))


def portfolio(cp: Any) -> tuple[Any, float]:
    """The largest return of 80 assets with a limit on the risk, a factor model."""
    rng = np.random.default_rng(21)
    mu, F, D = (
        rng.uniform(0, 0.1, 80),
        rng.standard_normal((80, 8)) / 10,
        rng.uniform(0.05, 0.2, 80),
    )
    x = cp.Variable(80, nonneg=True)
    risk = cp.norm(cp.hstack([F.T @ x, cp.multiply(D, x)]))
    return cp.Problem(cp.Maximize(mu @ x), [cp.sum(x) == 1, risk <= 0.04]), 0.0897327


def chebyshev(cp: Any) -> tuple[Any, float]:
    """The largest ball in a polyhedron of 60 faces that are tangent to a unit ball."""
    rng = np.random.default_rng(22)
    A = rng.standard_normal((60, 5))
    A /= np.linalg.norm(A, axis=1)[:, None]
    b = A @ rng.standard_normal(5) + 1.0
    x, r = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Maximize(r), [A @ x + r <= b]), 1.0


def robust_lp(cp: Any) -> tuple[Any, float]:
    """A linear program whose 15 rows are known only to lie in ellipsoids."""
    rng = np.random.default_rng(23)
    A, P = rng.standard_normal((15, 6)), 0.2 * rng.standard_normal((15, 6, 6))
    x, c = cp.Variable(6), -A.T @ rng.uniform(0, 1, 15)
    limits = [A[i] @ x + cp.norm(P[i] @ x) <= 1 for i in range(15)]
    return cp.Problem(cp.Minimize(c @ x), limits), -1.90311576


def markowitz(cp: Any) -> tuple[Any, float]:
    """Risk minus return of 100 assets, without short sales."""
    rng = np.random.default_rng(24)
    R = rng.standard_normal((150, 100))
    S, mu = R.T @ R / 150, rng.uniform(0, 1, 100)
    x = cp.Variable(100, nonneg=True)
    objective = cp.Minimize(cp.quad_form(x, cp.psd_wrap(S)) - mu @ x)
    return cp.Problem(objective, [cp.sum(x) == 1]), -0.8875515


def support_vectors(cp: Any) -> tuple[Any, float]:
    """A support vector machine: 150 points of 10 features."""
    rng = np.random.default_rng(25)
    X = rng.standard_normal((150, 10))
    y = np.sign(X @ rng.standard_normal(10) + 0.5 * rng.standard_normal(150))
    w, b = cp.Variable(10), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + hinge)), 25.3430328


def huber(cp: Any) -> tuple[Any, float]:
    """Huber regression: 150 rows, 12 columns, a tenth of the right-hand sides are wild."""
    rng = np.random.default_rng(26)
    A = rng.standard_normal((150, 12))
    b = A @ rng.standard_normal(12) + 0.2 * rng.standard_normal(150)
    b[:15] += 10 * rng.standard_normal(15)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ cp.Variable(12) - b, 0.5)))), 140.761665


def total_variation(cp: Any) -> tuple[Any, float]:
    """Total variation denoising of a signal of 200 samples."""
    rng = np.random.default_rng(27)
    signal = np.repeat(rng.uniform(-2, 2, 8), 25) + 0.3 * rng.standard_normal(200)
    x = cp.Variable(200)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - signal) / 2 + 2 * cp.tv(x))), 26.6827621


def transport(cp: Any) -> tuple[Any, float]:
    """Optimal transport between 20 and 25 random points of the square: a linear program."""
    rng = np.random.default_rng(28)
    a, b = rng.random((20, 2)), rng.random((25, 2))
    cost = np.linalg.norm(a[:, None] - b[None], axis=2)
    P = cp.Variable(cost.shape, nonneg=True)
    limits = [cp.sum(P, axis=1) == 1 / 20, cp.sum(P, axis=0) == 1 / 25]
    rows = np.vstack([np.kron(np.eye(20), np.ones(25)), np.kron(np.ones(20), np.eye(25))])
    sums = np.concatenate([np.full(20, 1 / 20), np.full(25, 1 / 25)])
    optimum = float(linprog(cost.ravel(), A_eq=rows, b_eq=sums).fun)
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, P))), limits), optimum


PROBLEMS: tuple[Build, ...] = (
    correlation,
    localisation,
    mixing,
    completion,
    robust_pca,
    sparse_pca,
    boolean_least_squares,
    design,
    ellipsoid,
    max_cut,
    theta,
    systems.sum_of_squares,
    systems.truss,
    systems.lyapunov,
    systems.h_infinity,
    systems.tomography,
    systems.fidelity,
    portfolio,
    chebyshev,
    robust_lp,
    markowitz,
    support_vectors,
    huber,
    total_variation,
    transport,
)
