"""Doubly stochastic matrices: the hull of the permutations."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from condal.domains.couplings import coupled
from condal.domains.flat import Flat
from condal.linalg.gradients import Gradient
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array, Point
from condal.linalg.proof import Proof
from condal.linalg.roundoff import gamma
from condal.runtime.arguments import require_whole

NEWTON_STEPS = 60
SHORTEST = 1e-6  # a step of which no more is hoped
ENOUGH = 1e-14  # for each row and column: how far their sums may be from 1, rounding mostly


class Birkhoff(Flat):
    """X = {P >= 0 : P 1 = 1, P' 1 = 1}, the doubly stochastic side x side matrices.

    Points are flat, row after row, of length n = side^2, so that maps of vectors take them:
    `x.reshape(side, side)` is the matrix. The vertices are the permutation matrices.
    """

    def __init__(self, side: int) -> None:
        require_whole(side, "side")
        self.side = int(side)
        self.n = self.side**2

    def __repr__(self) -> str:
        return f"Birkhoff({self.side})"

    @property
    def diameter(self) -> float:
        """sqrt(2 side); 0 for side = 1."""
        return float(np.sqrt(2.0 * self.side)) if self.side > 1 else 0.0

    @property
    def max_norm(self) -> float:
        """sqrt(side)."""
        return float(np.sqrt(self.side))

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """The permutation of the least cost."""
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
        """max(v_ij + r_i + c_j, 0), with the r and c that make all sums 1, by Newton's method.

        These minimise a convex function, piecewise quadratic, whose gradient is what the sums are
        above 1 (Li, Sun and Toh 2020). Prices of the best assignment bring v, however large, to
        the size of P first.
        """
        z = self._square(v, "the vector to project")
        z = z + _prices(-z)
        z = z - z.max(axis=1, keepdims=True)
        levels = (np.cumsum(-np.sort(-z, axis=1), axis=1) - 1.0) / np.arange(1, self.side + 1)
        at = _Trial.of(z - levels.max(axis=1, keepdims=True))  # every row has the sum 1 by now
        for _ in range(NEWTON_STEPS):
            if at.missing <= ENOUGH * self.side:
                break
            following = _step(at)
            if following is None:
                break
            at = following
        ones = np.ones((1, self.side))
        return coupled(at.P[None], ones, ones).ravel()

    def distance(self, x: Point) -> float:
        """How far x is from a member that is made of it, a coupling of two uniform margins."""
        full = self._vector(x).reshape(1, self.side, self.side)
        ones = np.ones((1, self.side))
        return stable_norm((full - coupled(full, ones, ones)).ravel())


def _prices(c: Array) -> Array:
    """p, the lengths of shortest paths between columns: from the column of row i in the best
    assignment to column j it is c_ij less what row i pays now."""
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
    """z with its r and c in it; P = max(z, 0); what the sums of its rows and columns lack."""

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
    """A step of Newton's method, as much of it as makes the function fall; None if that is none."""
    m = len(at.z)
    used = (at.P > 0).astype(np.float64)
    system = np.zeros((2 * m, 2 * m), order="F")
    system[:m, m:], system[m:, :m] = used, used.T
    counts = np.concatenate([used.sum(axis=1), used.sum(axis=0)])
    ridge = min(1e-3, 0.1 * at.missing) + 1e-13 * m  # adding to r what c loses changes nothing
    system[np.arange(2 * m), np.arange(2 * m)] = counts + ridge
    try:
        d = cho_solve(cho_factor(system, overwrite_a=True, check_finite=False), at.lacks)
    except LinAlgError:
        return None
    slope, change = float(at.lacks @ d), d[:m, None] + d[None, m:]
    step = 1.0
    while step >= SHORTEST:
        trial = _Trial.of(at.z + step * change)
        # |P|^2 / 2 - sum r - sum c, less what it was: differences, for they are small at the end.
        rise = 0.5 * float(((trial.P - at.P) * (trial.P + at.P)).sum()) - step * float(d.sum())
        if rise <= -1e-4 * step * slope or trial.missing <= 0.5 * at.missing:
            return trial
        step *= 0.5
    return None
