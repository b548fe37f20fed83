"""Images of a linear map, moved and combined with as few passes over memory as the map allows."""

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
    """A0: as many zeros as A has rows, or an array of A's own kind."""
    own = getattr(A, "zeros", None)
    return np.zeros(A.size) if own is None else own()


@runtime_checkable
class BlockedMap(Protocol):
    """A map whose images are too long to be moved about in memory more often than they must."""

    def pieces(self, x: Point) -> Iterator[tuple[slice, Array]]:
        """Ax, piece by piece: where each belongs, and its numbers."""

    def adjoint_onto(self, v: Gradient | None, y: Array) -> Gradient | None:
        """v + A'y; None is the gradient of nothing."""


def step(A: LinearMap, Ax: Array, s: Point, eta: float) -> Array:
    """Ax + eta (As - Ax), without As as a whole if A has a way to."""
    if not isinstance(A, BlockedMap):
        return lerp(Ax, A(s), eta)
    image = np.empty_like(Ax)
    for here, part in A.pieces(combine([s], np.array([eta]))):
        np.multiply(Ax[here], 1 - eta, out=image[here])
        image[here] += part
    return image


def difference(A: LinearMap, Ax: Array, s: Point) -> Array:
    """As - Ax, without As as a whole if A has a way to."""
    if not isinstance(A, BlockedMap):
        return A(s) - Ax
    image = np.empty_like(Ax)
    for here, part in A.pieces(s):
        np.subtract(part, Ax[here], out=image[here])
    return image


def adjoint_onto(v: Gradient | None, A: LinearMap, y: Array) -> Gradient | None:
    """v + A'y, in one pass if A has a way to."""
    if isinstance(A, BlockedMap):
        return A.adjoint_onto(v, y)
    more = A.adjoint(y)
    return add(v, more) if v is not None and more is not None else more if v is None else v
