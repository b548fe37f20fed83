"""x stored as its atoms and their weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Point, combine, zero_like


class Atoms:
    r"""Store x as :math:`\sum_i \theta_i s_i`: the answers s_i of the oracle and their weights.

    Parameters
    ----------
    by_block : bool
        Store the blocks of a point of a Product as separate atoms; the weights of each block then
        add up to 1.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("_by_block", "points", "weights", "blocks")

    def __init__(self, *, by_block: bool = False) -> None:
        self._by_block = by_block
        self._forget()

    def _forget(self) -> None:
        self.points: list[Point] = []
        self.weights = np.zeros(0)
        self.blocks = np.zeros(0, dtype=np.intp)

    def move(self, s: Point, eta: float) -> None:
        if eta == 1.0:
            self._forget()
        parts = s if self._by_block and isinstance(s, tuple) else (s,)
        self.points.extend(parts)
        self.weights = np.append(self.weights * (1 - eta), np.full(len(parts), eta))
        self.blocks = np.append(self.blocks, np.arange(len(parts)))

    def load(self, x: Point) -> None:
        """Store x as one atom; one per block with `by_block`."""
        self.move(x, 1.0)

    def split(self, s: Point) -> tuple[Point, ...]:
        """Return the atoms of s, each a point of the whole space; they add up to s."""
        if not (self._by_block and isinstance(s, tuple)):
            return (s,)
        zero = [zero_like(part) for part in s]
        return tuple((*zero[:i], part, *zero[i + 1 :]) for i, part in enumerate(s))

    def whole(self) -> tuple[Point, ...]:
        """Return the atoms, each a point of the whole space."""
        if not self._by_block:
            return tuple(self.points)
        first = tuple(self.points[int(np.argmax(self.blocks == b))] for b in np.unique(self.blocks))
        zero = [zero_like(part) for part in first]
        return tuple(
            (*zero[:b], point, *zero[b + 1 :])
            for b, point in zip(self.blocks, self.points, strict=True)
        )

    def reweigh(self, weights: Array) -> None:
        active = np.flatnonzero(weights > 0)
        self.points = [self.points[i] for i in active]
        self.weights, self.blocks = weights[active], self.blocks[active]

    def point(self) -> Point:
        if not self.points:
            raise ProblemError("no step has been taken yet: there is no point to return")
        if not self._by_block:
            return combine(self.points, self.weights)
        return tuple(
            combine(
                [self.points[i] for i in np.flatnonzero(self.blocks == b)],
                self.weights[self.blocks == b],
            )
            for b in range(int(self.blocks.max()) + 1)
        )
