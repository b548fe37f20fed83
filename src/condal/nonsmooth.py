"""Nonsmooth functions g, each an h of the template: convex, Lipschitz, reached by its prox."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.passes import cut
from condal.points import Array, finite_array, require_whole
from condal.types import Proximable


class L1:
    """g(z) = sum_i t_i |z_i|; t is one weight, or one an entry."""

    separable = True
    fixed: Array | None = None

    def __init__(self, size: int, t: Any = 1.0) -> None:
        require_whole(size, "size")
        weights = finite_array(t, "t")
        if weights.ndim > 1 or (weights.ndim == 1 and weights.size != size) or np.any(weights <= 0):
            raise ProblemError(f"t must be a positive number, or {size} of them; got {t!r}")
        self.t: Array = np.broadcast_to(weights, (size,)).copy()

    @property
    def size(self) -> int:
        """The length of z."""
        return int(self.t.size)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """The weighted norm of each."""
        return cut(self, self.size, lambda here: L1(here.stop - here.start, self.t[here]))

    @property
    def lipschitz(self) -> float:
        """|t|."""
        return float(np.linalg.norm(self.t))

    def prox(self, z: Array, t: float) -> Array:
        """z, each entry nearer to 0 by t t_i, or 0."""
        return np.asarray(z - np.clip(z, -t * self.t, t * self.t))

    def value(self, z: Array) -> float:
        """sum_i t_i |z_i|."""
        return float(self.t @ np.abs(z))

    def distance(self, z: Array) -> float:
        """0: g is finite everywhere."""
        return 0.0

    def outward(self, z: Array) -> Array:
        """0: g is finite everywhere."""
        return np.zeros_like(z)

    def conjugate(self, y: Array) -> float:
        """0 where every |y_i| <= t_i, else inf."""
        return 0.0 if np.all(np.abs(y) <= self.t) else float("inf")

    def conjugate_size(self, y: Array) -> float:
        """0."""
        return 0.0

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam z, clipped."""
        return np.asarray(np.clip(lam * z, -self.t, self.t, out=out))

    def dual_point(self, y: Array) -> Array:
        """y, clipped."""
        return np.asarray(np.clip(y, -self.t, self.t))

    def scaled(self, rows: Array, c: float) -> L1:
        """c g(z / rows)."""
        return L1(self.size, c * self.t / rows)
