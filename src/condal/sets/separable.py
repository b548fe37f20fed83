"""Sums over blocks: of sets, of nonsmooth functions, or of both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import hypot
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.types import Provable


class Separable:
    r"""The sum :math:`h(z_1, z_2, \dots) = h_1(z_1) + h_2(z_2) + \dots` for `condal.Stack`.

    Parameters
    ----------
    *parts : sets and functions
        The terms :math:`h_i`, in the order of the maps of the `Stack`.
    """

    fixed: Array | None = None

    def __init__(self, *parts: Provable) -> None:
        self.parts: Sequence[Provable] = parts
        self._ends = np.cumsum([part.size for part in parts]).astype(int)

    @property
    def separable(self) -> bool:
        return all(part.separable for part in self.parts)

    @property
    def lipschitz(self) -> float:
        return hypot(*(part.lipschitz for part in self.parts))

    @property
    def size(self) -> int:
        return int(self._ends[-1]) if self.parts else 0

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        starts = [0, *self._ends]
        return [
            (slice(start + piece.start, start + piece.stop), h)
            for start, part in zip(starts, self.parts, strict=False)
            for piece, h in part.pieces
        ]

    def _each(self, name: str, z: Array, *args: Any) -> list[Any]:
        """Call a method of each part on its block of z."""
        blocks = np.split(z, self._ends[:-1]) if self.parts else []
        return [getattr(h, name)(z, *args) for h, z in zip(self.parts, blocks, strict=True)]

    def prox(self, z: Array, t: float) -> Array:
        return np.concatenate(self._each("prox", z, t)) if self.parts else z

    def value(self, z: Array) -> float:
        return sum(self._each("value", z))

    def distance(self, z: Array) -> float:
        return float(np.linalg.norm(self._each("distance", z)))

    def normal_residual(self, z: Array) -> Array:
        return np.concatenate([np.zeros(0), *self._each("normal_residual", z)])

    def support(self, d: Array) -> float:
        return sum(self._each("support", d))

    def support_abs_sum(self, d: Array) -> float:
        return sum(self._each("support_abs_sum", d))

    def support_error(self, d: Array) -> float:
        return hypot(*self._each("support_error", d))

    def conjugate(self, y: Array) -> float:
        return sum(self._each("conjugate", y))

    def conjugate_abs_sum(self, y: Array) -> float:
        return sum(self._each("conjugate_abs_sum", y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        w = np.empty_like(z) if out is None else out
        for piece, h in self.pieces:
            h.multiplier(z[piece], lam, out=w[piece])
        return w

    def dual_point(self, y: Array) -> Array:
        return np.concatenate(self._each("dual_point", y)) if self.parts else y

    def dual_error(self, y: Array) -> float:
        return hypot(*self._each("dual_error", y))

    def scaled(self, rows: Array, c: float) -> Separable:
        return Separable(*self._each("scaled", rows, c))
