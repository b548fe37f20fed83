"""Doubly stochastic matrices, the hull of the permutations, and couplings."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from condal.domains.flat import Flat
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.linalg.rounding import Proof, gamma, stable_norm
from condal.runtime.arguments import require_whole

NEWTON_STEPS = 60
MIN_STEP = 1e-6  # a shorter Newton step ends the projection
SUM_TOLERANCE = 1e-14  # per row and column: how far its sum may be from 1, mostly by rounding


def coupled(tables: Array, rows: Array, columns: Array) -> Array:
    """Return nonnegative tables near the given ones that have these row and column sums.

    `tables` is m x p x q, `rows` m x p and `columns` m x q, the last two nonnegative and of equal
    sums. Rows and then columns with too large a sum are scaled down, and the deficit is spread
    (Altschuler, Weed and Rigollet 2017). A table with the right sums is unchanged.
    """
    tables = np.maximum(tables, 0.0)
    tables = tables * _less(rows, tables.sum(axis=2))[:, :, None]
    tables = tables * _less(columns, tables.sum(axis=1))[:, None, :]
    short = np.maximum(rows - tables.sum(axis=2), 0.0)
    lacks = np.maximum(columns - tables.sum(axis=1), 0.0)
    total = short.sum(axis=1)
    shares = np.divide(lacks, total[:, None], out=np.zeros_like(lacks), where=total[:, None] > 0)
    return np.asarray(tables + short[:, :, None] * shares[:, None, :])


def _less(wanted: Array, got: Array) -> Array:
    """Return wanted / got, at most 1."""
    return np.divide(wanted, got, out=np.ones_like(got), where=got > wanted)


class Birkhoff(Flat):
    r"""The doubly stochastic matrices :math:`X = \{P \ge 0 : P 1 = 1,\ P^\top 1 = 1\}`.

    The vertices are the permutation matrices. A point is flat, row after row, of length
    :math:`n = \text{side}^2`; `x.reshape(side, side)` is the matrix.

    Parameters
    ----------
    side : int
        The side of the matrices.
    """

    def __init__(self, side: int) -> None:
        require_whole(side, "side")
        self.side = int(side)
        self.n = self.side**2

    def __repr__(self) -> str:
        return f"Birkhoff({self.side})"

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2.0 * self.side)) if self.side > 1 else 0.0

    @property
    def max_norm(self) -> float:
        return float(np.sqrt(self.side))

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """The permutation of least cost."""
        from scipy.optimize import linear_sum_assignment

        s = np.zeros((self.side, self.side))
        s[linear_sum_assignment(self._square(v, "the gradient"))] = 1.0
        return s.ravel()

    def _square(self, v: Gradient | Point, name: str) -> Array:
        return self._finite(v, name).reshape(self.side, self.side)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """sum_i min_j (v_ij - p_j) + sum_j p_j, by weak duality for any prices p."""
        c = self._square(v, "the gradient")
        prices = _prices(c)
        terms = np.concatenate([(c - prices).min(axis=1), prices])
        lost = gamma(2 * self.side + 3) * float(np.abs(terms).sum())
        return Proof(float(terms.sum()) - lost, "duality of assignments")

    def project(self, v: Array) -> Array:
        """max(v_ij + r_i + c_j, 0), with r and c such that all sums are 1, by Newton's method.

        They minimise a convex, piecewise quadratic function whose gradient is the excess of the
        sums (Li, Sun and Toh 2020). The prices of the best assignment first reduce v, however
        large, to the size of P.
        """
        z = self._square(v, "the vector to project")
        z = z + _prices(-z)
        z = z - z.max(axis=1, keepdims=True)
        levels = (np.cumsum(-np.sort(-z, axis=1), axis=1) - 1.0) / np.arange(1, self.side + 1)
        at = _Trial.of(z - levels.max(axis=1, keepdims=True))  # now every row sums to 1
        for _ in range(NEWTON_STEPS):
            if at.missing <= SUM_TOLERANCE * self.side:
                break
            following = _step(at)
            if following is None:
                break
            at = following
        ones = np.ones((1, self.side))
        return coupled(at.P[None], ones, ones).ravel()

    def distance(self, x: Point) -> float:
        """The distance to a coupling of uniform margins that is built from x: an upper bound."""
        full = self._vector(x).reshape(1, self.side, self.side)
        ones = np.ones((1, self.side))
        return stable_norm((full - coupled(full, ones, ones)).ravel())


def _prices(c: Array) -> Array:
    """Return p, the lengths of shortest paths between columns.

    The step from the column of row i in the best assignment to column j costs c_ij minus what row i
    pays now.
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(c)
    steps = c - c[rows, columns][:, None]
    prices = np.zeros(len(c))
    for _ in range(len(c)):
        shorter = np.minimum(prices, (steps + prices[columns][:, None]).min(axis=0))
        if np.array_equal(shorter, prices):
            break
        prices = shorter
    return prices


class _Trial(NamedTuple):
    """z, which includes r and c; P = max(z, 0); what the row and column sums lack, and its norm."""

    z: Array
    P: Array
    lacks: Array
    missing: float

    @classmethod
    def of(cls, z: Array) -> _Trial:
        P = np.maximum(z, 0.0)
        lacks = np.concatenate([1.0 - P.sum(axis=1), 1.0 - P.sum(axis=0)])
        return cls(z, P, lacks, float(np.linalg.norm(lacks)))


def _step(at: _Trial) -> _Trial | None:
    """Return a damped Newton step that decreases the function; None if there is none."""
    m = len(at.z)
    used = (at.P > 0).astype(np.float64)
    system = np.zeros((2 * m, 2 * m), order="F")
    system[:m, m:], system[m:, :m] = used, used.T
    counts = np.concatenate([used.sum(axis=1), used.sum(axis=0)])
    ridge = min(1e-3, 0.1 * at.missing) + 1e-13 * m  # the system is singular along r + t, c - t
    system[np.arange(2 * m), np.arange(2 * m)] = counts + ridge
    try:
        d = cho_solve(cho_factor(system, overwrite_a=True, check_finite=False), at.lacks)
    except LinAlgError:
        return None
    slope, change = float(at.lacks @ d), d[:m, None] + d[None, m:]
    step = 1.0
    while step >= MIN_STEP:
        trial = _Trial.of(at.z + step * change)
        # The change of |P|^2 / 2 - sum r - sum c, from differences: it is small at the end.
        rise = 0.5 * float(((trial.P - at.P) * (trial.P + at.P)).sum()) - step * float(d.sum())
        if rise <= -1e-4 * step * slope or trial.missing <= 0.5 * at.missing:
            return trial
        step *= 0.5
    return None
