"""Balls of norms: Euclidean, group norms, and the k-sparse polytope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.domains.flat import ClosedForm
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Indices, Point
from condal.linalg.rounding import group_indices, group_norms, stable_norm
from condal.nonsmooth.levels import onto_simplex
from condal.runtime.arguments import finite_array, require_positive, require_whole


class L2Ball(ClosedForm):
    r"""The Euclidean ball :math:`X = \{x : \|x - c\| \le r\}`.

    Parameters
    ----------
    n : int
        The length of x.
    radius : float
        The radius :math:`r`.
    centre : array_like of shape (n,), optional
        The centre :math:`c`; 0 if left out.
    """

    def __init__(self, n: int, radius: float = 1.0, *, centre: Any = None) -> None:
        require_whole(n, "n")
        require_positive(radius, "radius")
        self.n, self.radius = n, float(radius)
        self.centre: Array = np.zeros(n)
        if centre is not None:
            self.centre = finite_array(centre, "centre", ndim=1).copy()
            if self.centre.size != n:
                raise ProblemError(f"centre must have n = {n} entries; got {self.centre.size}")

    def __repr__(self) -> str:
        return f"L2Ball({self.n}, {self.radius:g})"

    @property
    def diameter(self) -> float:
        return 2.0 * self.radius

    @property
    def max_norm(self) -> float:
        return stable_norm(self.centre) + self.radius

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.append(self.centre * v, -self.radius * stable_norm(v)), self.n + 5

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """centre - radius v / |v|; the centre for v = 0."""
        return self.centre - self.radius * _unit(np.asarray(v))

    def project(self, v: Array) -> Array:
        v = self._finite(v, "the vector to project")
        away = v - self.centre
        if stable_norm(away) <= self.radius:
            return v.copy()
        return self.centre + self.radius * _unit(away)


class GroupL1Ball(ClosedForm):
    r"""The group-norm ball :math:`X = \{x : \sum_G \|x_G\| \le r\}`, with Euclidean norms.

    Parameters
    ----------
    groups : array_like of int, shape (n,)
        A label for each entry of x; entries with the same label form a group.
    radius : float
        The radius :math:`r`.
    """

    def __init__(self, groups: Any, radius: float = 1.0) -> None:
        self.groups: Indices
        self.groups, self._count = group_indices(groups)
        require_positive(radius, "radius")
        self.n, self.radius = int(self.groups.size), float(radius)
        self._largest = int(np.bincount(self.groups).max())

    def __repr__(self) -> str:
        return f"GroupL1Ball({self._count} groups of {self.n} entries, {self.radius:g})"

    @property
    def max_norm(self) -> float:
        return self.radius

    def norms(self, v: Array) -> Array:
        """Return |v_G| for each group G."""
        return group_norms(v, self.groups, self._count)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.array([-self.radius * float(self.norms(v).max())]), self._largest + 5

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """-radius v_G / |v_G|, for the group G of the largest norm."""
        v = np.asarray(v)
        chosen = self.groups == int(np.argmax(self.norms(v)))
        s = np.zeros(self.n)
        s[chosen] = -self.radius * _unit(v[chosen])
        return s

    def project(self, v: Array) -> Array:
        """v, with the norms of its groups projected onto the l1 ball."""
        v = self._finite(v, "the vector to project")
        norms = self.norms(v)
        if norms.sum() <= self.radius:
            return v.copy()
        shares = onto_simplex(norms, self.radius) / np.where(norms > 0, norms, 1.0)
        return v * shares[self.groups]


@dataclass(frozen=True)
class KSparse(ClosedForm):
    r"""The k-sparse polytope :math:`X = \{x : |x_i| \le r,\ \sum_i |x_i| \le k r\}`.

    It is the hull of the vectors with exactly k nonzero entries, each r or -r.

    Parameters
    ----------
    n : int
        The length of x.
    k : int
        The number of nonzero entries of a vertex, at most n.
    radius : float
        Their size :math:`r`.
    """

    n: int
    k: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        require_whole(self.k, "k")
        require_positive(self.radius, "radius")
        if self.k > self.n:
            raise ProblemError(f"k must be at most n = {self.n}; got {self.k}")

    @property
    def max_norm(self) -> float:
        return self.radius * float(np.sqrt(self.k))

    def _top(self, v: Array) -> Indices:
        """Return the indices of the k largest |v_i|."""
        return np.argpartition(-np.abs(v), self.k - 1)[: self.k]

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return -self.radius * np.abs(v[self._top(v)]), 1

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """-radius sign(v_i), at the k largest |v_i|."""
        v = np.asarray(v)
        s, top = np.zeros(self.n), self._top(v)
        s[top] = np.where(v[top] > 0, -self.radius, self.radius)
        return s

    def project(self, v: Array) -> Array:
        """Each |v_i| is reduced by the same t >= 0 and clipped to the radius."""
        v = self._finite(v, "the vector to project")
        sizes = np.minimum(np.abs(v), self.radius)
        total = self.k * self.radius
        if sizes.sum() > total:
            sizes = _filled(np.abs(v), total, self.radius)
        return np.copysign(sizes, v)


def _unit(v: Array) -> Array:
    """Return v / |v|; 0 for 0."""
    largest = float(np.abs(v).max(initial=0.0))
    if largest == 0.0:
        return np.zeros_like(v)
    scaled = v / largest
    return np.asarray(scaled / np.linalg.norm(scaled))


def _filled(z: Array, total: float, cap: float) -> Array:
    """Return clip(z - t, 0, cap), with the t that makes its sum `total`: the nearest such point."""
    for _ in range(2):  # the second pass, with t near 0, corrects the rounding of a large z
        z = z - _level(z, total, cap)
    return np.asarray(np.clip(z, 0.0, cap))


def _level(z: Array, total: float, cap: float) -> float:
    # As t falls, entry i grows from t = z_i on, and is constant from t = z_i - cap on.
    ones = np.ones(z.size)
    places = np.concatenate([z, z - cap])
    order = np.argsort(-places)
    places, slopes = places[order], np.cumsum(np.concatenate([ones, -ones])[order])
    sums = np.cumsum(slopes[:-1] * (places[:-1] - places[1:]))
    i = int(np.searchsorted(sums, total))  # the segment in which the sum reaches the total
    before = float(sums[i - 1]) if i else 0.0
    return float(places[i] - (total - before) / max(slopes[i], 1.0))
