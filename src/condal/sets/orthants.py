"""The orthants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condal.linalg.blocked import BLOCK_LENGTH, split_in_blocks
from condal.linalg.points import Array
from condal.runtime.arguments import require_whole
from condal.sets.projected import Projected
from condal.types import Proximable

_ZEROS = np.zeros(BLOCK_LENGTH)
_ZEROS.flags.writeable = False


@dataclass(frozen=True)
class _Orthant(Projected):
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
        return split_in_blocks(self, self.size, lambda here: type(self)(here.stop - here.start))

    def prox(self, z: Array, t: float) -> Array:
        """z without its wrong signs."""
        zero = _zeros(z.size)
        return np.maximum(z, zero) if self.sign > 0 else np.minimum(z, zero)

    def conjugate(self, y: Array) -> float:
        """0 where sign * y <= 0, else inf."""
        return float("inf") if self._forbidden(y) else 0.0

    def conjugate_abs_sum(self, y: Array) -> float:
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


def _zeros(size: int) -> Any:
    # The maximum of two arrays is three times as fast as that of an array and a number.
    return _ZEROS[:size] if size <= BLOCK_LENGTH else 0.0
