"""Euclidean balls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.rounding import one_factor, written
from condal.runtime.arguments import finite_array, require_positive
from condal.sets.projected import Projected
from condal.types import Proximable


class Ball(Projected):
    """K = {z : |z - centre| <= radius}, Euclidean."""

    separable = False
    fixed: Array | None = None
    lipschitz = inf

    def __init__(self, centre: Any, radius: float) -> None:
        require_positive(radius, "radius")
        self.centre: Array = finite_array(centre, "centre", ndim=1).copy()
        self.radius = float(radius)

    @property
    def size(self) -> int:
        """The length of the centre."""
        return int(self.centre.size)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """The ball as a whole."""
        return [(slice(0, self.size), self)]

    def _outside(self, z: Array) -> tuple[Array, float]:
        """z - centre, and the part of it that is too much."""
        r = z - self.centre
        away = stable_norm(r)
        return r, (1 - self.radius / away if away > self.radius else 0.0)

    def prox(self, z: Array, t: float) -> Array:
        """z, or the point of the sphere on the way to the centre."""
        r, part = self._outside(z)
        return self.centre + (1 - part) * r if part > 0 else z

    def conjugate(self, y: Array) -> float:
        """<centre, y> + radius |y|."""
        return float(self.centre @ y + self.radius * stable_norm(y))

    def conjugate_abs_sum(self, y: Array) -> float:
        """<|centre|, |y|> + radius |y|."""
        return float(np.abs(self.centre) @ np.abs(y) + self.radius * stable_norm(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam times what lies outside."""
        r, part = self._outside(z)
        return written(lam * part * r, out)

    def dual_point(self, y: Array) -> Array:
        """y: h* is finite everywhere."""
        return y

    def scaled(self, rows: Array, c: float) -> Ball:
        """The ball of another size."""
        factor = one_factor(rows, "Ball")
        return Ball(factor * self.centre, factor * self.radius)
