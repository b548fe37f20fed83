"""Smooth objectives f(x) = phi(Mx)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.maps import Across, Cost, Matrix
from condal.operators import Symmetric
from condal.points import Array, finite_array, require_positive
from condal.symmetry import symmetric
from condal.types import LinearMap


@dataclass(frozen=True, eq=False)
class Linear:
    """f(x) = <C, x>: C a vector, a symmetric matrix (dense, sparse, LinearOperator), or a tuple."""

    C: Any

    @cached_property
    def M(self) -> LinearMap:
        """x -> [<C, x>]."""
        return _inner_with(self.C)

    def __post_init__(self) -> None:
        object.__setattr__(self, "C", _checked(self.C))

    @property
    def L(self) -> float:
        """0."""
        return 0.0

    def value(self, u: Array) -> float:
        """u itself."""
        return float(u[0])

    def gradient(self, u: Array) -> Array:
        """[1]."""
        return _ONE

    def magnitude(self, size: float) -> float:
        """|C| size."""
        return self.M.norm * size

    def scaled(self, c: float) -> Linear:
        """<c C, x>; c may be negative."""
        return Linear(_times(self.C, c))


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """f(x) = weight/2 |Mx - c|^2: M a matrix, or any linear map."""

    M: Any
    c: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        M = self.M if hasattr(self.M, "adjoint") else Matrix(self.M)
        c = finite_array(self.c, "c", ndim=1).copy()
        if c.size != M.size:
            raise ProblemError(
                f"LeastSquares: M makes images of length {M.size}, but c has length {c.size}"
            )
        require_positive(self.weight, "weight")
        object.__setattr__(self, "M", M)
        object.__setattr__(self, "c", c)

    @cached_property
    def L(self) -> float:
        """weight |M|^2."""
        return float(self.weight * self.M.norm**2)

    def value(self, u: Array) -> float:
        """weight/2 |u - c|^2."""
        r = u - self.c
        return 0.5 * self.weight * float(r @ r)

    def gradient(self, u: Array) -> Array:
        """weight (u - c)."""
        return np.asarray(self.weight * (u - self.c))

    def magnitude(self, size: float) -> float:
        """weight |M| size (|c| + |M| size / 2)."""
        reach = float(self.M.norm * size)
        return self.weight * reach * (float(np.linalg.norm(self.c)) + 0.5 * reach)

    def scaled(self, c: float) -> LeastSquares:
        """The same with another weight."""
        return replace(self, weight=self.weight * c)


_ONE = np.ones(1)
_ONE.flags.writeable = False


def _checked(C: Any) -> Any:
    if isinstance(C, tuple):
        return tuple(_checked(part) for part in C)
    if isinstance(C, Symmetric):
        return C
    if getattr(C, "ndim", None) == 2 or (hasattr(C, "shape") and len(C.shape) == 2):
        return symmetric(C)
    array = finite_array(C, "C")
    if array.ndim == 1:
        return array.copy()
    return symmetric(array)


def _inner_with(C: Any) -> LinearMap:
    if isinstance(C, tuple):
        return Across(*(_inner_with(part) for part in C))
    return Cost(C) if isinstance(C, Symmetric) else Matrix(C)


def _times(C: Any, c: float) -> Any:
    if isinstance(C, tuple):
        return tuple(_times(part, c) for part in C)
    return C.scaled(c) if isinstance(C, Symmetric) else c * C
