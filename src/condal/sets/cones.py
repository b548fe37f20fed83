"""Self-dual cones, where h* is 0 on -K and inf elsewhere, and Euclidean balls."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.linalg.rounding import NEAR, norm_above, one_factor, stable_norm, written
from condal.linalg.triangles import (
    checked_svec,
    smat,
    svec_eigenvalue_error,
    svec_eigh,
    svec_from_spectrum,
)
from condal.runtime.arguments import finite_array, require_positive, require_whole
from condal.sets.defaults import Projected
from condal.types import Provable


class _SelfDual(Projected):
    """K = {z : <z, q> >= 0 for all q in K}: the polar cone, where h* = 0, is -K."""

    @abstractmethod
    def _excess(self, z: Array) -> float:
        """Return by how much z misses K: 0 or less for a member."""

    def conjugate(self, y: Array) -> float:
        """0 in -K, up to rounding, else inf."""
        return 0.0 if self._excess(-y) <= NEAR * stable_norm(y) else inf

    def conjugate_abs_sum(self, y: Array) -> float:
        return 0.0

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return written(self.dual_point(lam * z), out)

    def dual_point(self, y: Array) -> Array:
        """The projection of y onto -K."""
        return y if self.conjugate(y) == 0.0 else -self.prox(-y, 1.0)

    def scaled(self, rows: Array, c: float) -> Provable:
        one_factor(rows, type(self).__name__)
        return self


class SecondOrder(_SelfDual):
    r"""The second-order cone :math:`K = \{(s, u) : \|u\| \le s\}`.

    Parameters
    ----------
    size : int
        The length of :math:`(s, u)`; :math:`s` is the first coordinate.
    """

    cone = "second-order"  # by which methods recognise a piece of K

    def __init__(self, size: int) -> None:
        require_whole(size, "size")
        self.size = int(size)

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
        return max(0.0, norm_above(y[1:]) + float(y[0]))


@dataclass(frozen=True)
class PSDCone(_SelfDual):
    r"""The cone of positive semidefinite :math:`n \times n` matrices, as vectors.

    A symmetric :math:`x` is stored as :math:`z = (x_{ii}, \sqrt{2}\, x_{ij}`
    for :math:`i > j)`, the image of the map `Triangle(n)`, so that :math:`\|z\| = \|x\|_F`. For
    the constraint :math:`F_0 + x_1 F_1 + x_2 F_2 + \dots \succeq 0`, use the `vector` of each
    :math:`F_i`, :math:`i > 0`, as a column of A. A projection takes an eigenvalue decomposition,
    so n should be small.

    Parameters
    ----------
    n : int
        The side of the matrices.
    """

    n: int

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        object.__setattr__(self, "size", self.n * (self.n + 1) // 2)

    def vector(self, x: Any) -> Array:
        """Return z for the symmetric matrix x."""
        return checked_svec(x, self.n, "x")

    def matrix(self, z: Array) -> Array:
        """Return the symmetric matrix x for z."""
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
        """How far an eigenvalue may be above 0, in all n directions."""
        return sqrt(self.n) * max(0.0, self._excess(-y) + svec_eigenvalue_error(y, self.n))


class Ball(Projected):
    r"""The Euclidean ball :math:`K = \{z : \|z - c\| \le r\}`.

    Parameters
    ----------
    centre : array_like of shape (m,)
        The centre :math:`c`.
    radius : float
        The radius :math:`r > 0`.

    Examples
    --------
    >>> import condal
    >>> condal.sets.Ball([0.0, 0.0], 1.0).distance([3.0, 4.0])
    4.0
    """

    def __init__(self, centre: Any, radius: float) -> None:
        require_positive(radius, "radius")
        self.centre: Array = finite_array(centre, "centre", ndim=1).copy()
        self.radius = float(radius)
        self.size = int(self.centre.size)

    def _outside(self, z: Array) -> tuple[Array, float]:
        """Return z - centre, and the fraction of it that lies outside the ball."""
        r = z - self.centre
        away = stable_norm(r)
        return r, (1 - self.radius / away if away > self.radius else 0.0)

    def prox(self, z: Array, t: float) -> Array:
        r, fraction = self._outside(z)
        return self.centre + (1 - fraction) * r if fraction > 0 else z

    def conjugate(self, y: Array) -> float:
        return float(self.centre @ y + self.radius * stable_norm(y))

    def conjugate_abs_sum(self, y: Array) -> float:
        return float(np.abs(self.centre) @ np.abs(y) + self.radius * stable_norm(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        r, fraction = self._outside(z)
        return written(lam * fraction * r, out)

    def dual_point(self, y: Array) -> Array:
        return y

    def scaled(self, rows: Array, c: float) -> Ball:
        factor = one_factor(rows, "Ball")
        return Ball(factor * self.centre, factor * self.radius)
