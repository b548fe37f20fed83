"""Images of a linear map, updated with as few passes over memory as the map allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from condal.linalg.blocked import lerp
from condal.linalg.gradients import Gradient, add
from condal.linalg.points import Array, Point, combine

if TYPE_CHECKING:
    from condal.types import LinearMap


def zeros_of(A: LinearMap) -> Array:
    """Return A0: zeros of the length of an image, or what `A.zeros` returns."""
    zeros = getattr(A, "zeros", None)
    return np.zeros(A.size) if zeros is None else zeros()


@runtime_checkable
class BlockedMap(Protocol):
    """A map that computes its images block by block, because they are long."""

    def pieces(self, x: Point) -> Iterator[tuple[slice, Array]]:
        """Yield the blocks of Ax: the slice of each and its numbers."""

    def adjoint_onto(self, v: Gradient | None, y: Array) -> Gradient | None:
        """Return v + A'y; None is the zero gradient."""


def step(A: LinearMap, Ax: Array, s: Point, eta: float) -> Array:
    """Return Ax + eta (As - Ax); a BlockedMap does not form As as a whole."""
    if not isinstance(A, BlockedMap):
        return lerp(Ax, A(s), eta)
    image = np.empty_like(Ax)
    for block, numbers in A.pieces(combine([s], np.array([eta]))):
        np.multiply(Ax[block], 1 - eta, out=image[block])
        image[block] += numbers
    return image


def difference(A: LinearMap, Ax: Array, s: Point) -> Array:
    """Return As - Ax; a BlockedMap does not form As as a whole."""
    if not isinstance(A, BlockedMap):
        return A(s) - Ax
    image = np.empty_like(Ax)
    for block, numbers in A.pieces(s):
        np.subtract(numbers, Ax[block], out=image[block])
    return image


def adjoint_onto(v: Gradient | None, A: LinearMap, y: Array) -> Gradient | None:
    """Return v + A'y, in one pass if A is a BlockedMap."""
    if isinstance(A, BlockedMap):
        return A.adjoint_onto(v, y)
    gradient = A.adjoint(y)
    return gradient if v is None else v if gradient is None else add(v, gradient)
