"""Cones that are their own duals: h* is 0 on -K and inf elsewhere."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import Any

import numpy as np

from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.rounding import NEAR, norm_above, one_factor, written
from condal.linalg.svec import (
    checked_svec,
    smat,
    svec_eigenvalue_error,
    svec_eigh,
    svec_from_spectrum,
)
from condal.runtime.arguments import require_whole
from condal.sets.projected import Projected
from condal.types import Proximable


class _SelfDual(Projected):
    """K = {z : <z, q> >= 0 for all q in K}: the polar cone, where h* = 0, is -K."""

    separable = False
    fixed: Array | None = None
    lipschitz = inf

    @property
    @abstractmethod
    def size(self) -> int:
        """The length of z."""

    @abstractmethod
    def _excess(self, z: Array) -> float:
        """By how much z misses K: 0 or less for a member."""

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """The cone as a whole."""
        return [(slice(0, self.size), self)]

    def conjugate(self, y: Array) -> float:
        """0 in -K, up to rounding, else inf."""
        return 0.0 if self._excess(-y) <= NEAR * stable_norm(y) else inf

    def conjugate_abs_sum(self, y: Array) -> float:
        """0: the conjugate has no terms to round."""
        return 0.0

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """The projection of lam z onto -K."""
        return written(self.dual_point(lam * z), out)

    def dual_point(self, y: Array) -> Array:
        """The projection of y onto -K."""
        return y if self.conjugate(y) == 0.0 else -self.prox(-y, 1.0)

    def scaled(self, rows: Array, c: float) -> Proximable:
        """The same cone."""
        one_factor(rows, type(self).__name__)
        return self


class SecondOrder(_SelfDual):
    """K = {(s, u) in R^size : |u| <= s}, s the first coordinate: the second-order cone."""

    cone = "second-order"  # what a method may ask of a piece of K

    def __init__(self, size: int) -> None:
        require_whole(size, "size")
        self._size = int(size)

    @property
    def size(self) -> int:
        """The length of (s, u)."""
        return self._size

    def _excess(self, z: Array) -> float:
        return stable_norm(z[1:]) - float(z[0])

    def prox(self, z: Array, t: float) -> Array:
        """z in K, 0 in -K, else the nearest point of the surface."""
        s, u = float(z[0]), z[1:]
        width = stable_norm(u)
        if width <= s:
            return z
        if width <= -s:
            return np.zeros_like(z)
        height = 0.5 * (s + width)
        return np.concatenate([[height], (height / width) * u])

    def dual_error(self, y: Array) -> float:
        """By how much |u| may pass -s."""
        return max(0.0, norm_above(y[1:]) + float(y[0]))


@dataclass(frozen=True)
class PSDCone(_SelfDual):
    """K = {z : the symmetric n x n matrix of z is psd}, z = (x_ii, and sqrt(2) x_ij for i > j).

    z is what the map `Triangle(n)` makes of x, so that |z| = |x|. `vector` and `matrix` go there
    and back: for the constraint F_0 + x_1 F_1 + x_2 F_2 + ... psd, write the `vector` of each F_i
    for i > 0 as a column of A. A projection is an eigenvalue decomposition: n should be small.
    """

    n: int

    def __post_init__(self) -> None:
        require_whole(self.n, "n")

    @property
    def size(self) -> int:
        """n (n + 1) / 2."""
        return self.n * (self.n + 1) // 2

    def vector(self, x: Any) -> Array:
        """z, from the symmetric matrix x."""
        return checked_svec(x, self.n, "x")

    def matrix(self, z: Array) -> Array:
        """x, from z."""
        return smat(np.asarray(z, dtype=np.float64), self.n)

    def _excess(self, z: Array) -> float:
        return float(-np.linalg.eigvalsh(smat(z, self.n))[0])

    def prox(self, z: Array, t: float) -> Array:
        """The matrix without its negative eigenvalues."""
        values, vectors = svec_eigh(z, self.n)
        if values[0] >= 0:
            return z
        if values[-1] <= 0:
            return np.zeros_like(z)
        return svec_from_spectrum(np.maximum(values, 0.0), vectors)

    def dual_error(self, y: Array) -> float:
        """By how much an eigenvalue may pass 0, in all n directions."""
        return sqrt(self.n) * max(0.0, self._excess(-y) + svec_eigenvalue_error(y, self.n))
