"""Problems with known solutions: x*, y* and the optimum f* follow from the construction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from locations import DATA

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the public instances are not beside this clone (../shared/data)"
)


class Hidden:
    """A map whose entries are not accessible."""

    def __init__(self, A) -> None:
        self.A = A

    def as_matrix(self):
        return None

    def scaled(self, rows):
        return type(self)(self.A.scaled(rows))

    def __call__(self, x):
        return self.A(x)

    def __getattr__(self, name):
        return getattr(self.A, name)


@dataclass(frozen=True)
class Known:
    """A problem and its solution; the optimality conditions hold by construction."""

    problem: condal.Problem
    x: Any
    y: np.ndarray
    optimum: float


def planted_sdp(
    n: int = 12, rank: int = 2, *, kind: str = "equal", seed: int = 0, at_most: bool = False
) -> Known:
    """min <C, x>, Ax in K, tr x = alpha: C = Z + mu I - A'y with Z psd, Z x = 0, y normal to K."""
    rng = np.random.default_rng(seed)
    alpha = 3.0
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    R = Q[:, :rank] * rng.uniform(0.5, 1.5, rank)
    R *= np.sqrt(alpha) / np.linalg.norm(R)
    x = R @ R.T
    Z = (Q[:, rank:] * rng.uniform(0.5, 2.0, n - rank)) @ Q[:, rank:].T
    rows, cols = np.triu_indices(n)
    chosen = rng.choice(rows.size, size=n, replace=False)
    A = condal.Entries(n, rows[chosen], cols[chosen])
    image, y, K = _normal(A(x), rng, kind)
    # tr x <= alpha is tight at x: its multiplier, -mu, must not be negative
    mu = -abs(rng.standard_normal()) if at_most else rng.standard_normal()
    C = Z + mu * np.eye(n) - A.adjoint(y).to_dense()
    problem = condal.Problem.of(
        f=condal.Linear(0.5 * (C + C.T)),
        X=condal.Spectrahedron(n, trace=alpha, at_most=at_most),
        A=A,
        K=K,
        name=f"planted {kind}",
    )
    assert np.allclose(image, A(x))
    return Known(problem, x, y, float(np.sum(C * x)))


def planted_simplex(n: int = 10, *, kind: str = "equal", seed: int = 0) -> Known:
    """min 1/2 |Mx - c|^2, Ax in K over the simplex, c chosen such that x* is optimal."""
    rng = np.random.default_rng(seed)
    support = rng.choice(n, size=n // 2, replace=False)
    x = np.zeros(n)
    x[support] = rng.uniform(0.5, 1.5, support.size)
    x /= x.sum()
    A = condal.Matrix(rng.standard_normal((3, n)))
    _, y, K = _normal(A(x), rng, kind)
    v = rng.standard_normal() + np.where(x > 0, 0.0, rng.uniform(0.2, 1.0, n))
    M = rng.standard_normal((n, n)) + 3 * np.eye(n)
    residual = np.linalg.solve(M.T, v - A.adjoint(y))
    f = condal.LeastSquares(M, M @ x - residual)
    problem = condal.Problem.of(f=f, X=condal.Simplex(n), A=A, K=K, name=f"simplex {kind}")
    return Known(problem, x, y, 0.5 * float(residual @ residual))


def _normal(image: np.ndarray, rng: np.random.Generator, kind: str) -> Any:
    """Return a set of the given kind that contains the image, and a normal there."""
    y = rng.standard_normal(image.size)
    active = rng.random(image.size) < 0.6
    if kind == "equal":
        return image, y, condal.Equal(image)
    y = np.where(active, y, 0.0)
    room = rng.uniform(0.1, 1.0, image.size)
    low = np.where(active & (y < 0), image, image - room)
    high = np.where(active & (y > 0), image, image + room)
    high = np.where(~active & (room > 0.5), np.inf, high)
    return image, y, condal.Box(low, high)


PLANTED: dict[str, Callable[[], Known]] = {
    "sdp-equal": planted_sdp,
    "sdp-box": lambda: planted_sdp(kind="box", seed=1),
    "sdp-at-most": lambda: planted_sdp(at_most=True, seed=2),
    "simplex-equal": planted_simplex,
    "simplex-box": lambda: planted_simplex(kind="box", seed=3),
}


def torus(rows: int, cols: int, seed: int = 0) -> Any:
    """Return a rows x cols torus with random weights +1 and -1."""
    rng = np.random.default_rng(seed)
    vertex = np.arange(rows * cols).reshape(rows, cols)
    ends = [np.roll(vertex, 1, axis).ravel() for axis in (0, 1)]
    i, j = np.tile(vertex.ravel(), 2), np.concatenate(ends)
    W = sp.coo_array((rng.choice([-1.0, 1.0], i.size), (i, j)), shape=(rows * cols,) * 2).tocsr()
    return W + W.T


def random_edges(n: int, m: int, seed: int = 0) -> Any:
    """Return a random graph of m edges with unit weights."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    chosen = rng.choice(i.size, m, replace=False)
    W = sp.csr_array((np.ones(m), (i[chosen], j[chosen])), shape=(n, n))
    return W + W.T


def random_graph(n: int, degree: float, seed: int = 0) -> Any:
    """Return a random graph of the given average degree with unit weights and no loops."""
    rng = np.random.default_rng(seed)
    m = int(n * degree / 2)
    i, j = rng.integers(0, n, m), rng.integers(0, n, m)
    edge = i != j
    W = sp.coo_array((np.ones(edge.sum()), (i[edge], j[edge])), shape=(n, n)).tocsr()
    W = W + W.T
    W.data[:] = 1.0
    return W
