"""x stored whole: as an array, or as the last point given."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Point, combine, dense
from condal.types import Domain, matrix_sides

FLOAT_BYTES = 8


class Dense:
    """Store x as one array: n numbers for a vector, n x n for a symmetric matrix."""

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("_x",)

    def __init__(self) -> None:
        self._x: Array | None = None

    def move(self, s: Point, eta: float) -> None:
        atom = dense(s)
        if self._x is None or eta == 1.0:
            self._x = eta * np.asarray(atom, dtype=np.float64)  # before the first step x is 0
            return
        self._x *= 1 - eta
        self._x += eta * atom

    def load(self, x: Point) -> None:
        self._x = np.array(dense(x), dtype=np.float64)

    def point(self) -> Array:
        if self._x is None:
            raise ProblemError("no step has been taken yet: there is no point to return")
        return self._x.copy()

    def bytes(self, X: Domain) -> int:
        """At most what points of X take: x, its copy for the caller, and that copy repaired."""
        return sum(self.bytes_for(n) for n in matrix_sides(X))

    @staticmethod
    def bytes_for(n: int) -> int:
        """What an n x n array takes."""
        return 3 * FLOAT_BYTES * n * n


class Factor:
    """Store x as it was last loaded, for methods that carry a factor of x themselves."""

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("_x",)

    def __init__(self) -> None:
        self._x: Point | None = None

    def move(self, s: Point, eta: float) -> None:
        if self._x is None or eta == 1.0:
            self._x = combine([s], np.array([eta]))
        else:
            self._x = combine([self._x, s], np.array([1 - eta, eta]))

    def load(self, x: Point) -> None:
        """x <- the given point, without a copy."""
        self._x = x

    def point(self) -> Point:
        if self._x is None:
            raise ProblemError("no step has been taken yet: there is no point to return")
        return combine([self._x], np.ones(1))
