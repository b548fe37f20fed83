"""Points and gradients as one vector, for first-order steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
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
        return sum(map(prod, _leaves(self.shape)))

    @property
    def largest(self) -> int:
        """The side of the largest matrix; 0 for vectors alone."""
        return max((leaf[0] for leaf in _leaves(self.shape) if len(leaf) == 2), default=0)

    def point(self, x: Array) -> Any:
        """Return the point of a vector, as a view."""
        ends = np.cumsum([prod(leaf) for leaf in _leaves(self.shape)])
        return _shaped(iter(np.split(x, ends[:-1])), self.shape)

    def vector(self, x: Point) -> Array:
        """Return a point as a vector."""
        return _joined(_leaves(dense(x)))

    def gradient(self, v: Gradient) -> Array:
        """Return a gradient as a vector."""
        return _joined([a.to_dense() if isinstance(a, Symmetric) else a for a in _leaves(v)])


def _shape(v: Gradient) -> Any:
    return tuple(map(_shape, v)) if isinstance(v, tuple) else [*v.shape]


def _shaped(parts: Iterator[Array], shape: Any) -> Any:
    if isinstance(shape, tuple):
        return tuple(_shaped(parts, part) for part in shape)
    return next(parts).reshape(shape)


def _leaves(x: Any) -> list[Any]:
    return [leaf for part in x for leaf in _leaves(part)] if isinstance(x, tuple) else [x]


def _joined(parts: list[Array]) -> Array:
    return np.ravel(parts[0]) if len(parts) == 1 else np.concatenate([*map(np.ravel, parts)])
