"""Sums over blocks: of sets, of nonsmooth functions, or of both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import hypot

import numpy as np

from condal.linalg.points import Array
from condal.types import Proximable


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

    def normal_residual(self, z: Array) -> Array:
        """Part by part."""
        pieces = zip(self.parts, self._split(z), strict=True)
        return np.concatenate([np.zeros(0), *(h.normal_residual(part) for h, part in pieces)])

    def support(self, d: Array) -> float:
        """The sum over the parts."""
        return sum(h.support(part) for h, part in zip(self.parts, self._split(d), strict=True))

    def support_abs_sum(self, d: Array) -> float:
        """The sum over the parts."""
        return sum(
            h.support_abs_sum(part) for h, part in zip(self.parts, self._split(d), strict=True)
        )

    def support_error(self, d: Array) -> float:
        """The root of the sum of squares."""
        pieces = zip(self.parts, self._split(d), strict=True)
        return hypot(*(h.support_error(part) for h, part in pieces))

    def conjugate(self, y: Array) -> float:
        """The sum over the parts."""
        return sum(h.conjugate(part) for h, part in zip(self.parts, self._split(y), strict=True))

    def conjugate_abs_sum(self, y: Array) -> float:
        """The sum over the parts."""
        pieces = zip(self.parts, self._split(y), strict=True)
        return sum(h.conjugate_abs_sum(part) for h, part in pieces)

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

    def dual_error(self, y: Array) -> float:
        """The root of the sum of squares."""
        pieces = zip(self.parts, self._split(y), strict=True)
        return hypot(*(h.dual_error(part) for h, part in pieces))

    def scaled(self, rows: Array, c: float) -> Separable:
        """Part by part."""
        pieces = zip(self.parts, self._split(rows), strict=True)
        return Separable(*(h.scaled(part, c) for h, part in pieces))
