"""Boxes, and the ball of the maximum norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.domains.flat import ClosedForm
from condal.errors import ProblemError
from condal.linalg.cone_slices import ConeSlice
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.linalg.rounding import stable_norm
from condal.runtime.arguments import finite_array, require_positive, require_whole
from condal.sets.boxes import require_ordered


class Box(ClosedForm):
    r"""The box :math:`X = \{x : l \le x \le u\}` with finite bounds.

    The set K of the same name, `condal.Box`, may have infinite bounds.

    Parameters
    ----------
    low, high : array_like of shape (n,)
        The bounds :math:`l` and :math:`u`.

    Raises
    ------
    ProblemError
        If a lower bound is above its upper bound.
    """

    def __init__(self, low: Any, high: Any) -> None:
        self.low: Array = finite_array(low, "low", ndim=1).copy()
        self.high: Array = finite_array(high, "high", ndim=1).copy()
        if self.low.shape != self.high.shape or self.low.size == 0:
            raise ProblemError(
                f"low has length {self.low.size}, high has {self.high.size}: a box has a number "
                "of each for every entry of x"
            )
        require_ordered(self.low, self.high, "box")
        self.n = int(self.low.size)

    def __repr__(self) -> str:
        return f"Box(low of {self.n} entries, high)"

    @property
    def diameter(self) -> float:
        return stable_norm(self.high - self.low)

    @property
    def max_norm(self) -> float:
        return stable_norm(np.maximum(np.abs(self.low), np.abs(self.high)))

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        return (ConeSlice("box", self.n, low=self.low, high=self.high),)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.where(v > 0, self.low, self.high) * v, 1

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        return np.where(np.asarray(v) > 0, self.low, self.high)

    def project(self, v: Array) -> Array:
        return np.clip(self._finite(v, "the vector to project"), self.low, self.high)


class LinfBall(Box):
    r"""The ball of the maximum norm, :math:`X = \{x : \max_i |x_i| \le r\}`.

    Parameters
    ----------
    n : int
        The length of x.
    radius : float
        The radius :math:`r`.
    """

    def __init__(self, n: int, radius: float = 1.0) -> None:
        require_whole(n, "n")
        require_positive(radius, "radius")
        super().__init__(np.full(n, -radius), np.full(n, radius))
        self.radius = float(radius)

    def __repr__(self) -> str:
        return f"LinfBall({self.n}, {self.radius:g})"
