"""A point, boxes, and the orthants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import BLOCK_LENGTH, split_in_blocks
from condal.linalg.points import Array
from condal.runtime.arguments import finite_array, require_whole
from condal.sets.defaults import Projected
from condal.types import Provable

_ZEROS = np.zeros(BLOCK_LENGTH)
_ZEROS.flags.writeable = False


class Equal(Projected):
    r"""The point :math:`K = \{b\}`, for the constraint :math:`Ax = b`.

    Parameters
    ----------
    b : array_like of shape (m,)
        The right-hand side.
    """

    separable = True

    def __init__(self, b: Any) -> None:
        self.b: Array = finite_array(b, "b", ndim=1).copy()
        self.fixed = self.b

    @property  # not stored: on ranks it is the length of the local part
    def size(self) -> int:  # type: ignore[override]  # read from b
        return int(self.b.size)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return split_in_blocks(self, self.size, lambda part: Equal(self.b[part]))

    def prox(self, z: Array, t: float) -> Array:
        return self.b

    def conjugate(self, y: Array) -> float:
        return float(self.b @ y)

    def conjugate_abs_sum(self, y: Array) -> float:
        return float(np.abs(self.b) @ np.abs(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return np.multiply(np.subtract(z, self.b, out=out), lam, out=out)

    def dual_point(self, y: Array) -> Array:
        return y

    def scaled(self, rows: Array, c: float) -> Equal:
        return Equal(rows * self.b)


class Box(Projected):
    r"""The box :math:`K = \{z : l \le z \le u\}`; a bound may be infinite.

    Parameters
    ----------
    low, high : array_like of shape (m,)
        The bounds :math:`l` and :math:`u`.

    Raises
    ------
    ProblemError
        If a lower bound is above its upper bound.
    """

    separable = True

    def __init__(self, low: Any, high: Any) -> None:
        self.low: Array = finite_array(low, "low", ndim=1, test=_below_infinity).copy()
        self.high: Array = finite_array(high, "high", ndim=1, test=_above_infinity).copy()
        if self.low.shape != self.high.shape:
            raise ProblemError(f"low has length {self.low.size}, high has {self.high.size}")
        require_ordered(self.low, self.high, "box")

    @property  # as of Equal
    def size(self) -> int:  # type: ignore[override]  # read from low
        return int(self.low.size)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return split_in_blocks(self, self.size, lambda part: Box(self.low[part], self.high[part]))

    def prox(self, z: Array, t: float) -> Array:
        return np.minimum(np.maximum(z, self.low), self.high)

    def conjugate(self, y: Array) -> float:
        """sum_i max(low_i y_i, high_i y_i), where 0 times infinity is 0."""
        up, down = y > 0, y < 0
        return float(self.high[up] @ y[up] + self.low[down] @ y[down])

    def conjugate_abs_sum(self, y: Array) -> float:
        up, down = y > 0, y < 0
        return float(np.abs(self.high[up]) @ y[up] - np.abs(self.low[down]) @ y[down])

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return np.multiply(np.subtract(z, self.prox(z, 1 / lam), out=out), lam, out=out)

    def dual_point(self, y: Array) -> Array:
        """y without the signs that an infinite bound forbids."""
        y = np.where(np.isinf(self.high), np.minimum(y, 0.0), y)
        return np.where(np.isinf(self.low), np.maximum(y, 0.0), y)

    def scaled(self, rows: Array, c: float) -> Box:
        return Box(rows * self.low, rows * self.high)


def _below_infinity(z: Array) -> Any:
    return z < np.inf  # False for nan too


def _above_infinity(z: Array) -> Any:
    return z > -np.inf


@dataclass(frozen=True)
class _Orthant(Projected):
    """K = {z : sign * z >= 0}."""

    size: int
    separable = True
    sign = 1.0

    def __post_init__(self) -> None:
        require_whole(self.size, "size", least=0)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return split_in_blocks(self, self.size, lambda part: type(self)(part.stop - part.start))

    def prox(self, z: Array, t: float) -> Array:
        zero = _zeros(z.size)
        return np.maximum(z, zero) if self.sign > 0 else np.minimum(z, zero)

    def conjugate(self, y: Array) -> float:
        """0 where sign * y <= 0, else inf."""
        return float("inf") if self._forbidden(y) else 0.0

    def conjugate_abs_sum(self, y: Array) -> float:
        return 0.0

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        wrong = np.minimum if self.sign > 0 else np.maximum
        w = wrong(z, _zeros(z.size), out=out)
        w *= lam
        return w

    def dual_point(self, y: Array) -> Array:
        if not self._forbidden(y):
            return y
        return np.minimum(y, 0.0) if self.sign > 0 else np.maximum(y, 0.0)

    def _forbidden(self, y: Array) -> bool:
        """Return whether sign * y > 0 somewhere, without a copy of y."""
        return bool(y.max(initial=0.0) > 0 if self.sign > 0 else y.min(initial=0.0) < 0)

    def scaled(self, rows: Array, c: float) -> Provable:
        return self


class NonNegative(_Orthant):
    r"""The orthant :math:`K = \{z \in \mathbb{R}^m : z \ge 0\}`.

    Parameters
    ----------
    size : int
        The dimension :math:`m`.
    """


class NonPositive(_Orthant):
    r"""The orthant :math:`K = \{z \in \mathbb{R}^m : z \le 0\}`.

    Parameters
    ----------
    size : int
        The dimension :math:`m`.
    """

    sign = -1.0


def _zeros(size: int) -> Any:
    # The maximum of two arrays is three times as fast as that of an array and a number.
    return _ZEROS[:size] if size <= BLOCK_LENGTH else 0.0


def require_ordered(low: Array, high: Array, what: str) -> None:
    """Raise ProblemError if a lower bound is above its upper bound."""
    if np.any(low > high):
        i = int(np.argmax(low > high))
        raise ProblemError(
            f"the {what} is empty: low[{i}] = {low[i]:g} is above high[{i}] = {high[i]:g}"
        )
