"""What all functions share that are finite everywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import Any, Self

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import split_in_blocks
from condal.linalg.points import Array
from condal.runtime.arguments import finite_array, require_whole
from condal.types import Proximable


class Finite(ABC):
    """g, convex and Lipschitz: dom g is the whole space, and dom g* is bounded.

    The size is that of the data; or that of B, which is not known before the problem is made
    (`Unsized`).
    """

    separable = False
    fixed: Array | None = None

    def __init__(self, size: int | None) -> None:
        if size is not None:
            require_whole(size, "size")
        self._size = size

    @abstractmethod
    def prox(self, z: Array, t: float) -> Array:
        """argmin_r g(r) + |r - z|^2 / (2 t)."""

    @abstractmethod
    def value(self, z: Array) -> float:
        """g(z)."""

    @abstractmethod
    def conjugate(self, y: Array) -> float:
        """g*(y)."""

    @abstractmethod
    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam (z - prox(z, 1/lam))."""

    @abstractmethod
    def dual_point(self, y: Array) -> Array:
        """The nearest point to y where g* is finite."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """max |y| over dom g*."""

    @abstractmethod
    def scaled(self, rows: Array, c: float) -> Proximable:
        """c g(z / rows)."""

    @property
    def size(self) -> int:
        """The length of z."""
        if self._size is None:
            raise ProblemError(
                f"the size of this {type(self).__name__} is not known yet: pass it to Problem.of "
                "as g= with B=, or give size="
            )
        return self._size

    def sized(self, size: int) -> Self:
        """The same function of vectors of that length, which must be its own."""
        if self.size != size:
            raise ProblemError(
                f"{type(self).__name__} is a function of vectors of length {self.size}; "
                f"got images of length {size}"
            )
        return self

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """The function itself, which cannot be cut."""
        return [(slice(0, self.size), self)]

    def distance(self, z: Array) -> float:
        """0: g is finite everywhere."""
        return 0.0

    def normal_residual(self, z: Array) -> Array:
        """0: g is finite everywhere."""
        return np.zeros_like(z)

    def conjugate_abs_sum(self, y: Array) -> float:
        """0: the conjugate has no terms to round."""
        return 0.0

    def dual_error(self, y: Array) -> float:
        """0: where g* is finite is decided by comparisons alone."""
        return 0.0

    def support(self, d: Array) -> float:
        """0 at d = 0, else inf: g is finite everywhere."""
        return inf if np.any(d) else 0.0

    def support_abs_sum(self, d: Array) -> float:
        """0: there are no terms to round."""
        return 0.0

    def support_error(self, d: Array) -> float:
        """0: it is finite at 0 alone."""
        return 0.0


class Unsized(Finite):
    """g of vectors of any length: its size may come from B."""

    def sized(self, size: int) -> Self:
        """The same function of vectors of that length; of its own length if it has one."""
        return self._of_size(size) if self._size is None else super().sized(size)

    @abstractmethod
    def _of_size(self, size: int) -> Self:
        """The same function, of that size."""


class Coordinatewise(Finite):
    """g(z) = sum_i g_i(z_i), which can be cut anywhere."""

    separable = True

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """One for each stretch of coordinates."""
        return split_in_blocks(self, self.size, self._cut)

    @abstractmethod
    def _cut(self, here: slice) -> Proximable:
        """The part of g in some coordinates."""


def positive_weights(t: Any, size: int | None, what: str = "t") -> Array:
    """t, one positive number or `size` of them, as an array; ProblemError else."""
    weights = finite_array(t, what)
    fits = weights.ndim == 0 or (weights.ndim == 1 and size in (None, weights.size))
    if not fits or np.any(weights <= 0):
        many = "one for each entry" if size is None else f"{size} of them"
        raise ProblemError(f"{what} must be a positive number, or {many}; got {t!r}")
    return weights.copy()


def total(t: Array, values: Array) -> float:
    """sum_i t_i values_i, of weights that may be one number."""
    return float(t @ values) if t.ndim else float(t) * float(values.sum())
