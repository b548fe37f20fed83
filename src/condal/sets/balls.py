"""Euclidean balls."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.rounding import one_factor, written
from condal.runtime.arguments import finite_array, require_positive
from condal.sets.defaults import Projected


class Ball(Projected):
    r"""The Euclidean ball :math:`K = \{z : \|z - c\| \le r\}`.

    Parameters
    ----------
    centre : array_like of shape (m,)
        The centre :math:`c`.
    radius : float
        The radius :math:`r > 0`.

    Examples
    --------
    >>> import condal
    >>> condal.sets.Ball([0.0, 0.0], 1.0).distance([3.0, 4.0])
    4.0
    """

    def __init__(self, centre: Any, radius: float) -> None:
        require_positive(radius, "radius")
        self.centre: Array = finite_array(centre, "centre", ndim=1).copy()
        self.radius = float(radius)
        self.size = int(self.centre.size)

    def _outside(self, z: Array) -> tuple[Array, float]:
        """Return z - centre, and the fraction of it that lies outside the ball."""
        r = z - self.centre
        away = stable_norm(r)
        return r, (1 - self.radius / away if away > self.radius else 0.0)

    def prox(self, z: Array, t: float) -> Array:
        r, fraction = self._outside(z)
        return self.centre + (1 - fraction) * r if fraction > 0 else z

    def conjugate(self, y: Array) -> float:
        return float(self.centre @ y + self.radius * stable_norm(y))

    def conjugate_abs_sum(self, y: Array) -> float:
        return float(np.abs(self.centre) @ np.abs(y) + self.radius * stable_norm(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        r, fraction = self._outside(z)
        return written(lam * fraction * r, out)

    def dual_point(self, y: Array) -> Array:
        return y

    def scaled(self, rows: Array, c: float) -> Ball:
        factor = one_factor(rows, "Ball")
        return Ball(factor * self.centre, factor * self.radius)
