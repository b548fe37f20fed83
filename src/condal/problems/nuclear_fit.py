"""Rough fits over nuclear-norm balls: accelerated projected gradients with warm starts.

A choice of the radius needs predictions, not proofs: some ten steps per radius suffice if each fit
starts from the one before. A step projects x - gradient onto the ball. Its leading singular vectors
come from one subspace iteration on those of the last step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from condal.linalg.points import Array, Indices, LowRank, Outer
from condal.maps.entries import PairEntries, summed_places
from condal.runtime.time_limit import TimeLimit

SPARE = 6  # singular vectors beyond the rank of the fit
MAX_STEPS = 500
FITTED = 1e-4  # relative decrease per step; less does not change predictions
TINY = 1e-14  # of the largest squared singular value: smaller ones are rounding
SLOW_STEPS = 2  # consecutive steps of a smaller decrease that end a fit


@dataclass(frozen=True, eq=False)
class Fit:
    """x and its values at the known entries."""

    x: Outer
    known: Array


class NuclearFits:
    """Fits of mean loss(x_ij - v_ij) over |x|_* <= radius; each starts from the one before.

    `loss` returns the mean loss of residuals, `slope` the derivatives of their losses, which must
    be 1-Lipschitz.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        rows: Indices,
        cols: Indices,
        values: Array,
        *,
        loss: Callable[[Array], float],
        slope: Callable[[Array], Array],
    ) -> None:
        m, n = shape
        self.shape, self.values, self.loss, self.slope = shape, values, loss, slope
        self.change, self.sums = summed_places(shape, rows, cols)
        # An entry given k times has k times the curvature.
        self.step = 1.0 / float(np.diff(self.sums.indptr).max())
        self.entries = PairEntries(m + n, rows, cols + m)
        self.rng = np.random.default_rng(0)
        self.basis = self._random(n)
        zero = Outer(np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
        self.last = Fit(zero, np.zeros(values.size))

    def fit(self, radius: float, limit: TimeLimit) -> Fit:
        """Fit until the loss hardly falls; the momentum restarts when it rises."""
        x = old = self.last
        value, t, slow = self.loss(x.known - self.values), 1.0, 0
        for _ in range(MAX_STEPS):
            longer = 0.5 + (0.25 + t * t) ** 0.5
            beta = (t - 1.0) / longer
            new = self._projected(x, old, beta, radius)
            reached = self.loss(new.known - self.values)
            if reached > value and beta > 0:
                old, t = x, 1.0
                continue
            slow = slow + 1 if value - reached <= FITTED * reached else 0
            x, old, t, value = new, x, longer, reached
            if slow >= SLOW_STEPS or limit.is_over():
                break
        self.last = x
        return x

    def _projected(self, x: Fit, old: Fit, beta: float, radius: float) -> Fit:
        """Project z = y - step * gradient(y) onto the ball, for y = x + beta (x - old)."""
        known = x.known + beta * (x.known - old.known)
        self.change.data[:] = -self.step * (self.sums @ self.slope(known - self.values))
        left = np.hstack([(1 + beta) * x.x.weights * x.x.U, -beta * old.x.weights * old.x.U])
        right = np.hstack([x.x.V, old.x.V])
        Q = np.linalg.qr(left @ (right.T @ self.basis) + self.change @ self.basis)[0]
        image = right @ (left.T @ Q) + self.change.T @ Q  # z'Q
        V, s, turned = _leading_svd(image)
        weights = project_to_l1_ball(s, radius)
        rank = int(np.count_nonzero(weights))
        self.basis = np.hstack([V[:, : rank + SPARE], self._random(self.shape[1])])
        return self._evaluated(Outer(Q @ turned[:, :rank], weights[:rank], V[:, :rank]))

    def _evaluated(self, x: Outer) -> Fit:
        stacked = LowRank(np.vstack([x.weights * x.U, x.V]), np.ones(x.rank))
        return Fit(x, self.entries(stacked))

    def _random(self, n: int) -> Array:
        """New directions, by which the rank may grow."""
        return self.rng.standard_normal((n, min(SPARE, n))) / n**0.5


def _leading_svd(image: Array) -> tuple[Array, Array, Array]:
    """Return V, s and T with image = V diag(s) T', without tiny singular values.

    Their squares are the eigenvalues of a small matrix, which is faster than an SVD and accurate
    enough for a rough fit.
    """
    squares, T = np.linalg.eigh(image.T @ image)
    large = np.flatnonzero(squares > TINY * squares[-1])[::-1]
    s = np.sqrt(squares[large])
    return (image @ T[:, large]) / s, s, T[:, large]


def project_to_l1_ball(s: Array, radius: float) -> Array:
    """Return the nearest point to s >= 0, in descending order, whose sum is at most radius."""
    if s.sum() <= radius:
        return s
    excess = (np.cumsum(s) - radius) / np.arange(1, s.size + 1)
    return np.maximum(s - excess[np.count_nonzero(s > excess) - 1], 0.0)
