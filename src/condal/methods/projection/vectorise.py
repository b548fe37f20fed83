"""Points and gradients as one vector, for first-order steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.gradients import Gradient, add
from condal.linalg.points import Array, Point, dense
from condal.linalg.symmetric import Symmetric

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True)
class Vectoriser:
    """Converts points of X to vectors and back; `shape` is [n], [n, n], or a tuple of shapes."""

    shape: Any

    @classmethod
    def of(cls, problem: Problem) -> Vectoriser:
        """Read the shape from the gradients of a problem."""
        f, A = problem.f, problem.A
        zeros = f.M.adjoint(np.zeros(f.M.size)), A.adjoint(np.zeros(A.size))
        return cls(_shape(add(*zeros)))

    @property
    def size(self) -> int:
        """The length of the vector."""
        return _size(self.shape)

    @property
    def largest(self) -> int:
        """The side of the largest matrix; 0 for vectors alone."""
        return _largest(self.shape)

    def point(self, x: Array) -> Any:
        """Return the point of a vector, as a view."""
        return _unpacked(x, self.shape)

    def vector(self, x: Point) -> Array:
        """Return a point as a vector."""
        return _packed(dense(x))

    def gradient(self, v: Gradient) -> Array:
        """Return a gradient as a vector."""
        return _packed(_full(v))


def _shape(v: Gradient) -> Any:
    return tuple(map(_shape, v)) if isinstance(v, tuple) else [*v.shape]


def _size(shape: Any) -> int:
    if isinstance(shape, tuple):
        return sum(map(_size, shape))
    return int(np.prod(shape))


def _largest(shape: Any) -> int:
    if isinstance(shape, tuple):
        return max(map(_largest, shape))
    return int(shape[0]) if len(shape) == 2 else 0


def _unpacked(x: Array, shape: Any) -> Any:
    if not isinstance(shape, tuple):
        return x.reshape(shape)
    ends = np.cumsum([_size(part) for part in shape])
    blocks = zip(np.split(x, ends[:-1]), shape, strict=True)
    return tuple(_unpacked(block, block_shape) for block, block_shape in blocks)


def _packed(x: Any) -> Array:
    if isinstance(x, tuple):
        return np.concatenate([_packed(part) for part in x])
    return np.ravel(x)


def _full(v: Gradient) -> Any:
    if isinstance(v, tuple):
        return tuple(map(_full, v))
    return v.to_dense() if isinstance(v, Symmetric) else v
