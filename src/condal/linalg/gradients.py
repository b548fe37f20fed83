"""Gradients, the linear functions on the space of X: arrays, `Symmetric`s and tuples of these.

A map with long images may update its images and gradients block by block (`BlockedMap`), with as
few passes over memory as possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import lerp
from condal.linalg.points import Array, LowRank, Point, combine
from condal.linalg.symmetric import Symmetric, require_same_space

if TYPE_CHECKING:
    from condal.types import LinearMap

Gradient: TypeAlias = Array | Symmetric | tuple["Gradient", ...]


def add(a: Gradient | None, b: Gradient | None) -> Gradient:
    """Return a + b; None is a zero of any space."""
    if a is None:
        if b is None:
            raise ProblemError("the problem has neither an objective nor a constraint")
        return b
    if b is None:
        return a
    require_same_space(_shape(a), _shape(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(add(p, q) for p, q in zip(a, b, strict=True))
    if isinstance(a, Symmetric) and isinstance(b, Symmetric):
        return a + b
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    return a + b


def _shape(v: Gradient) -> Any:
    return len(v) if isinstance(v, tuple) else v.shape


def dot(v: Gradient, x: Point) -> float:
    """Return <v, x>."""
    if isinstance(v, tuple):
        assert isinstance(x, tuple)
        return sum(dot(p, q) for p, q in zip(v, x, strict=True))
    assert not isinstance(x, tuple)
    if isinstance(v, Symmetric):
        return v.quadratic(x)
    return float(np.vdot(v, np.asarray(x)))


def norm(v: Gradient | Point, rng: np.random.Generator) -> float:
    """Return the Euclidean norm |v|; an estimate from one random product for a Symmetric."""
    if isinstance(v, tuple):
        return float(np.linalg.norm([norm(block, rng) for block in v]))
    if isinstance(v, Symmetric):  # the mean of |Vz|^2 is |V|_F^2
        return float(np.linalg.norm(v @ rng.standard_normal(v.n)))
    if isinstance(v, LowRank):
        gram = (v.U.T @ v.U) ** 2
        return float(np.sqrt(abs(float(v.weights @ gram @ v.weights))))
    return float(np.linalg.norm(v))


def functional(x: Point) -> Gradient:
    """Return <x, .> for a point x stored as arrays: vectors or symmetric matrices."""
    if isinstance(x, tuple):
        return tuple(functional(block) for block in x)
    array = np.asarray(x)
    return Symmetric(len(array), dense=array) if array.ndim == 2 else array


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
