"""Guards of user-supplied maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from condal.linalg.gradients import Gradient
from condal.linalg.guarded import UserPiece
from condal.linalg.points import Array, Point
from condal.types import LinearMap

Guard: TypeAlias = Callable[[Any, str], Any]


class GuardedMap:
    """A, whose images and gradients are checked."""

    def __init__(self, A: LinearMap, letter: str, again: Guard) -> None:
        self.A, self._letter, self._again = A, letter, again
        self._image, self._adjoint = UserPiece(letter), UserPiece(letter, "the adjoint")
        self._norms = UserPiece(letter, "the norms")
        with self._adjoint.asked():
            self._like = A.adjoint(np.zeros(A.size))  # the space of its gradients

    @property
    def size(self) -> int:
        return self.A.size

    @property
    def norm(self) -> float:
        with self._norms.asked():
            return self._norms.number(self.A.norm)

    @property
    def terms(self) -> int:
        return self.A.terms

    @property
    def diagonal_rows(self) -> Array | None:
        return self.A.diagonal_rows

    def scaled(self, rows: Array) -> LinearMap:
        with UserPiece(self._letter, "the scaled form").asked():
            A = self.A.scaled(rows)
        return self._again(A, self._letter)

    def row_norms(self) -> Array:
        with self._norms.asked():
            norms = self.A.row_norms()
        return self._norms.array(norms, (self.size,))

    def as_matrix(self) -> Any | None:
        with UserPiece(self._letter, "the matrix").asked():
            return self.A.as_matrix()

    def __call__(self, x: Point) -> Array:
        with self._image.asked():
            image = self.A(x)
        return self._image.array(image, (self.size,))

    def adjoint(self, y: Array) -> Gradient | None:
        with self._adjoint.asked():
            v = self.A.adjoint(y)
        return self._adjoint.gradient(v, self._like)
