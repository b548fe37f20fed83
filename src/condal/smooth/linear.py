"""Linear objectives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.linalg.lifting import is_complex
from condal.linalg.points import Array
from condal.linalg.rounding import Errors
from condal.linalg.symmetric import Symmetric
from condal.linalg.symmetrize import symmetric
from condal.maps.combined import Across
from condal.maps.cost import Cost
from condal.runtime.arguments import finite_array
from condal.types import LinearMap


@dataclass(frozen=True, eq=False)
class Linear:
    r"""The linear objective :math:`f(x) = \langle C, x \rangle`.

    Parameters
    ----------
    C : array_like, sparse array, LinearOperator, or tuple of these
        A vector, a symmetric matrix, or one of these for each block of a product.
    """

    C: Any

    @cached_property
    def M(self) -> LinearMap:
        return inner_with(self.C)

    def __post_init__(self) -> None:
        object.__setattr__(self, "C", checked_cost(self.C))

    @property
    def L(self) -> float:
        return 0.0

    def value(self, u: Array) -> float:
        return float(u[0])

    def gradient(self, u: Array) -> Array:
        return _ONE

    def errors(self, u: Array) -> Errors:
        """None: nothing is computed."""
        return Errors(0.0, 0.0)

    def variation(self, max_norm: float) -> float:
        return self.M.norm * max_norm

    def scaled(self, c: float) -> Linear:
        """<c C, x>; c may be negative."""
        return Linear(_times(self.C, c))


_ONE = np.ones(1)
_ONE.flags.writeable = False


def checked_cost(C: Any) -> Any:
    """Return C as `Linear` stores it: a vector, a `Symmetric`, or a tuple of these."""
    if isinstance(C, tuple):
        return tuple(checked_cost(part) for part in C)
    if isinstance(C, Symmetric):
        return C
    shape = C.shape if hasattr(C, "shape") else np.shape(C) if is_complex(C) else ()
    if len(shape) == 2:
        return symmetric(C)
    array = finite_array(C, "C")
    if array.ndim == 1:
        return array.copy()
    return symmetric(array)


def inner_with(C: Any) -> LinearMap:
    """Return the map x -> [<C, x>]."""
    if isinstance(C, tuple):
        return Across(*(inner_with(part) for part in C))
    if isinstance(C, Symmetric):
        return Cost(C)
    from condal.maps.vectors import Matrix

    return Matrix(C)


def _times(C: Any, c: float) -> Any:
    if isinstance(C, tuple):
        return tuple(_times(part, c) for part in C)
    return C.scaled(c) if isinstance(C, Symmetric) else c * C
