"""Base classes of nonsmooth functions, which are finite everywhere."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import split_in_blocks
from condal.linalg.points import Array
from condal.linalg.rounding import one_factor, written
from condal.runtime.arguments import finite_array, require_positive, require_whole
from condal.sets.defaults import ProximableDefaults
from condal.types import Provable


class Finite(ProximableDefaults):
    """g, convex and Lipschitz: dom g is the whole space, and dom g* is bounded.

    The size is given by the data, or for an `Unsized` function by B when the problem is built.
    """

    def __init__(self, size: int | None) -> None:
        if size is not None:
            require_whole(size, "size")
        self._size = size

    @abstractmethod
    def value(self, z: Array) -> float:
        """Return g(z)."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """max |y| over dom g*."""

    @abstractmethod
    def dual_point(self, y: Array) -> Array:
        """Return the nearest point to y where g* is finite."""

    @abstractmethod
    def scaled(self, rows: Array, c: float) -> Provable:
        """Return z -> c g(z / rows)."""

    @property
    def size(self) -> int:  # type: ignore[override]  # it may not be known yet
        if self._size is None:
            raise ProblemError(
                f"the size of this {type(self).__name__} is not known yet: pass it to Problem.of "
                "as g= with B=, or give size="
            )
        return self._size

    def sized(self, size: int) -> Self:
        """Return the same function of vectors of that length, which must equal its own."""
        if self.size != size:
            raise ProblemError(
                f"{type(self).__name__} is a function of vectors of length {self.size}; "
                f"got images of length {size}"
            )
        return self

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return written(self.dual_point(lam * z), out)

    def distance(self, z: Array) -> float:
        return 0.0

    def conjugate_abs_sum(self, y: Array) -> float:
        return 0.0


class Unsized(Finite):
    """g of vectors of any length: its size may come from B."""

    def sized(self, size: int) -> Self:
        return self._of_size(size) if self._size is None else super().sized(size)

    @abstractmethod
    def _of_size(self, size: int) -> Self:
        """Return the same function of vectors of that length."""


class Weighted(Unsized):
    """t times a norm-like function of all coordinates, whose Lipschitz constant is t."""

    def __init__(self, t: float = 1.0, size: int | None = None) -> None:
        super().__init__(size)
        require_positive(t, "t")
        self.t = float(t)

    def _of_size(self, size: int) -> Self:
        return type(self)(self.t, size)

    @property
    def lipschitz(self) -> float:
        return self.t

    def scaled(self, rows: Array, c: float) -> Provable:
        factor = one_factor(rows, type(self).__name__)
        return type(self)(c * self.t / factor, rows.size)


class Coordinatewise(Finite):
    """g(z) = sum_i g_i(z_i), which can be cut anywhere."""

    separable = True

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return split_in_blocks(self, self.size, self._cut)

    @abstractmethod
    def _cut(self, part: slice) -> Provable:
        """Return the terms of g for some coordinates."""


def positive_weights(t: Any, size: int | None, what: str = "t") -> Array:
    """Return t, one positive number or `size` of them, as an array; else raise ProblemError."""
    weights = finite_array(t, what)
    fits = weights.ndim == 0 or (weights.ndim == 1 and size in (None, weights.size))
    if not fits or np.any(weights <= 0):
        many = "one for each entry" if size is None else f"{size} of them"
        raise ProblemError(f"{what} must be a positive number, or {many}; got {t!r}")
    return weights.copy()


def total(t: Array, values: Array) -> float:
    """Return sum_i t_i values_i; t may be one number."""
    return float(t @ values) if t.ndim else float(t) * float(values.sum())
