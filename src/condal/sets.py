"""Sets K for the constraint Ax in K, each the h of the template: its indicator function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot, inf
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.passes import PIECE, cut
from condal.points import Array, finite_array, require_whole
from condal.types import Proximable

_ZEROS = np.zeros(PIECE)


class Equal:
    """K = {b}."""

    separable = True
    fixed: Array | None = None
    lipschitz = inf

    def __init__(self, b: Any) -> None:
        self.b: Array = finite_array(b, "b", ndim=1).copy()
        self.fixed = self.b

    @property
    def size(self) -> int:
        """The length of b."""
        return int(self.b.size)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """{b} in each."""
        return cut(self, self.size, lambda here: Equal(self.b[here]))

    def prox(self, z: Array, t: float) -> Array:
        """b."""
        return self.b

    def value(self, z: Array) -> float:
        """0."""
        return 0.0

    def distance(self, z: Array) -> float:
        """|z - b|."""
        return float(np.linalg.norm(z - self.b))

    def outward(self, z: Array) -> Array:
        """z less its projection."""
        return self.dual_point(z - self.prox(z, 1.0))

    def conjugate(self, y: Array) -> float:
        """<b, y>."""
        return float(self.b @ y)

    def conjugate_size(self, y: Array) -> float:
        """<|b|, |y|>."""
        return float(np.abs(self.b) @ np.abs(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam (z - b)."""
        return np.multiply(np.subtract(z, self.b, out=out), lam, out=out)

    def dual_point(self, y: Array) -> Array:
        """y: h* is finite everywhere."""
        return y

    def scaled(self, rows: Array, c: float) -> Equal:
        """{rows * b}."""
        return Equal(rows * self.b)


class Box:
    """K = {z : low <= z <= high}; a bound may be infinite."""

    separable = True
    fixed: Array | None = None
    lipschitz = inf

    def __init__(self, low: Any, high: Any) -> None:
        self.low: Array = finite_array(low, "low", ndim=1, test=_below_infinity).copy()
        self.high: Array = finite_array(high, "high", ndim=1, test=_above_infinity).copy()
        if self.low.shape != self.high.shape:
            raise ProblemError(f"low has length {self.low.size}, high has {self.high.size}")
        if np.any(self.low > self.high):
            i = int(np.argmax(self.low > self.high))
            raise ProblemError(
                f"the box is empty: low[{i}] = {self.low[i]:g} is above "
                f"high[{i}] = {self.high[i]:g}"
            )

    @property
    def size(self) -> int:
        """The length of the bounds."""
        return int(self.low.size)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """The box of each."""
        return cut(self, self.size, lambda here: Box(self.low[here], self.high[here]))

    def prox(self, z: Array, t: float) -> Array:
        """z clipped to the bounds."""
        return np.minimum(np.maximum(z, self.low), self.high)

    def value(self, z: Array) -> float:
        """0."""
        return 0.0

    def distance(self, z: Array) -> float:
        """|z - clipped z|."""
        return float(np.linalg.norm(z - self.prox(z, 1.0)))

    def outward(self, z: Array) -> Array:
        """z less its projection."""
        return self.dual_point(z - self.prox(z, 1.0))

    def conjugate(self, y: Array) -> float:
        """sum_i max(low_i y_i, high_i y_i), where 0 times infinity is 0."""
        up, down = y > 0, y < 0
        return float(self.high[up] @ y[up] + self.low[down] @ y[down])

    def conjugate_size(self, y: Array) -> float:
        """sum_i |low_i y_i| or |high_i y_i|, as the sign of y_i has it."""
        up, down = y > 0, y < 0
        return float(np.abs(self.high[up]) @ y[up] - np.abs(self.low[down]) @ y[down])

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam times what clipping takes from z."""
        return np.multiply(np.subtract(z, self.prox(z, 1 / lam), out=out), lam, out=out)

    def dual_point(self, y: Array) -> Array:
        """y without the signs that an infinite bound forbids."""
        y = np.where(np.isinf(self.high), np.minimum(y, 0.0), y)
        return np.where(np.isinf(self.low), np.maximum(y, 0.0), y)

    def scaled(self, rows: Array, c: float) -> Box:
        """The box with scaled bounds."""
        return Box(rows * self.low, rows * self.high)


@dataclass(frozen=True)
class _Orthant:
    """K = {z : sign * z >= 0}."""

    size: int
    separable = True
    fixed: Array | None = None
    lipschitz = inf
    sign = 1.0

    def __post_init__(self) -> None:
        require_whole(self.size, "size", least=0)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """The same cone, of fewer dimensions."""
        return cut(self, self.size, lambda here: type(self)(here.stop - here.start))

    def prox(self, z: Array, t: float) -> Array:
        """z without its wrong signs."""
        zero = _zeros(z.size)
        return np.maximum(z, zero) if self.sign > 0 else np.minimum(z, zero)

    def value(self, z: Array) -> float:
        """0."""
        return 0.0

    def distance(self, z: Array) -> float:
        """The norm of the part of z with the wrong sign."""
        return float(np.linalg.norm(z - self.prox(z, 1.0)))

    def outward(self, z: Array) -> Array:
        """z less its projection."""
        return self.dual_point(z - self.prox(z, 1.0))

    def conjugate(self, y: Array) -> float:
        """0 where sign * y <= 0, else inf."""
        return float("inf") if self._forbidden(y) else 0.0

    def conjugate_size(self, y: Array) -> float:
        """0: the conjugate has no terms to round."""
        return 0.0

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam times the part of z with the wrong sign."""
        wrong = np.minimum if self.sign > 0 else np.maximum
        w = wrong(z, _zeros(z.size), out=out)
        w *= lam
        return w

    def dual_point(self, y: Array) -> Array:
        """y without the signs where h* is infinite; y itself if it has none."""
        if not self._forbidden(y):
            return y
        return np.minimum(y, 0.0) if self.sign > 0 else np.maximum(y, 0.0)

    def _forbidden(self, y: Array) -> bool:
        """Whether sign * y > 0 somewhere: one look, without a copy."""
        return bool(y.max(initial=0.0) > 0 if self.sign > 0 else y.min(initial=0.0) < 0)

    def scaled(self, rows: Array, c: float) -> Proximable:
        """The same cone."""
        return self


class NonNegative(_Orthant):
    """K = {z in R^size : z >= 0}."""


class NonPositive(_Orthant):
    """K = {z in R^size : z <= 0}."""

    sign = -1.0


class Separable:
    """h(z_1, z_2, ...) = h_1(z_1) + h_2(z_2) + ...: the partner of Stack."""

    def __init__(self, *parts: Proximable) -> None:
        self.parts: Sequence[Proximable] = parts
        self._ends = np.cumsum([part.size for part in parts]).astype(int)

    @property
    def separable(self) -> bool:
        """Whether every part is."""
        return all(part.separable for part in self.parts)

    fixed: Array | None = None

    @property
    def lipschitz(self) -> float:
        """The root of the sum of squares."""
        return hypot(*(part.lipschitz for part in self.parts))

    @property
    def size(self) -> int:
        """The sum of the sizes."""
        return int(self._ends[-1]) if self.parts else 0

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """Those of each part in turn."""
        begins = [0, *self._ends]
        return [
            (slice(begin + here.start, begin + here.stop), piece)
            for begin, part in zip(begins, self.parts, strict=False)
            for here, piece in part.pieces
        ]

    def _split(self, z: Array) -> Sequence[Array]:
        return np.split(z, self._ends[:-1]) if self.parts else []

    def prox(self, z: Array, t: float) -> Array:
        """Part by part."""
        if not self.parts:
            return z
        return np.concatenate(
            [h.prox(part, t) for h, part in zip(self.parts, self._split(z), strict=True)]
        )

    def value(self, z: Array) -> float:
        """The sum over the parts."""
        return sum(h.value(part) for h, part in zip(self.parts, self._split(z), strict=True))

    def distance(self, z: Array) -> float:
        """The Euclidean norm of the parts' distances."""
        distances = [h.distance(part) for h, part in zip(self.parts, self._split(z), strict=True)]
        return float(np.linalg.norm(distances))

    def outward(self, z: Array) -> Array:
        """Part by part."""
        pieces = zip(self.parts, self._split(z), strict=True)
        return np.concatenate([np.zeros(0), *(h.outward(part) for h, part in pieces)])

    def conjugate(self, y: Array) -> float:
        """The sum over the parts."""
        return sum(h.conjugate(part) for h, part in zip(self.parts, self._split(y), strict=True))

    def conjugate_size(self, y: Array) -> float:
        """The sum over the parts."""
        pieces = zip(self.parts, self._split(y), strict=True)
        return sum(h.conjugate_size(part) for h, part in pieces)

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """Part by part."""
        w = np.empty_like(z) if out is None else out
        for here, part in self.pieces:
            part.multiplier(z[here], lam, out=w[here])
        return w

    def dual_point(self, y: Array) -> Array:
        """Part by part."""
        if not self.parts:
            return y
        return np.concatenate(
            [h.dual_point(part) for h, part in zip(self.parts, self._split(y), strict=True)]
        )

    def scaled(self, rows: Array, c: float) -> Separable:
        """Part by part."""
        pieces = zip(self.parts, self._split(rows), strict=True)
        return Separable(*(h.scaled(part, c) for h, part in pieces))


def _zeros(size: int) -> Any:
    # The maximum of two arrays is three times as fast as that of an array and a number.
    return _ZEROS[:size] if size <= PIECE else 0.0


def _below_infinity(z: Array) -> Any:
    return z < np.inf  # False for nan too


def _above_infinity(z: Array) -> Any:
    return z > -np.inf
