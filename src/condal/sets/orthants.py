"""The orthants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.linalg.blocked import BLOCK_LENGTH, split_in_blocks
from condal.linalg.points import Array
from condal.runtime.arguments import require_whole
from condal.sets.defaults import Projected
from condal.types import Provable

_ZEROS = np.zeros(BLOCK_LENGTH)
_ZEROS.flags.writeable = False


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
