"""The simplex, products of simplices, and the l1 ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.domains.flat import ClosedForm
from condal.errors import ProblemError
from condal.linalg.cone_slices import ConeSlice
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Indices, Point
from condal.nonsmooth.levels import onto_l1_ball, onto_simplex
from condal.runtime.arguments import plain_array, require_positive, require_whole


@dataclass(frozen=True)
class _Vertices(ClosedForm):
    """The base of the two whose vertices have one nonzero entry, of the size of the radius."""

    n: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        require_positive(self.radius, "radius")

    @property
    def max_norm(self) -> float:
        return self.radius


class Simplex(_Vertices):
    r"""The simplex :math:`X = \{x \ge 0 : \sum_i x_i = r\}`.

    Parameters
    ----------
    n : int
        The length of x.
    radius : float
        The sum :math:`r`.

    Examples
    --------
    >>> import condal, numpy as np
    >>> condal.Simplex(3).lmo(np.array([1.0, -2.0, 0.0]))
    array([0., 1., 0.])
    """

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2.0)) * self.radius if self.n > 1 else 0.0

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        return (ConeSlice("orthant", self.n, self.radius),)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.array([self.radius * float(v.min())]), 1

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """radius e_i, at the smallest v_i."""
        s = np.zeros(self.n)
        s[int(np.argmin(np.asarray(v)))] = self.radius
        return s

    def project(self, v: Array) -> Array:
        """max(v - t, 0), with the t that makes its sum the radius."""
        return onto_simplex(self._finite(v, "the vector to project"), self.radius)


class Simplices(ClosedForm):
    r"""A product of simplices: :math:`X = \{(x_1, x_2, \dots) : x_i \ge 0,\ 1^\top x_i = 1\}`.

    Many small simplices cost only as much as their entries.

    Parameters
    ----------
    sizes : array_like of int
        The length of each part.
    """

    def __init__(self, sizes: Any) -> None:
        lengths = plain_array(sizes, "sizes", "whole numbers, at least 1")
        whole = lengths.ndim == 1 and lengths.size and lengths.dtype.kind in "iu"
        if not whole or lengths.min() < 1:
            raise ProblemError(f"sizes must be whole numbers, at least 1; got {sizes!r}")
        self.sizes: Indices = lengths.astype(np.intp)
        self.n = int(self.sizes.sum())
        self._begins = np.cumsum(self.sizes) - self.sizes

    def __repr__(self) -> str:
        return f"Simplices({self.sizes.size} parts of {self.n} entries)"

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2.0 * np.count_nonzero(self.sizes > 1)))

    @property
    def max_norm(self) -> float:
        return float(np.sqrt(self.sizes.size))

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        return tuple(ConeSlice("orthant", int(size), 1.0) for size in self.sizes)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.minimum.reduceat(v, self._begins), 0

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """e_i for each part, at its smallest entry."""
        v = self._finite(v, "the gradient")
        least = np.flatnonzero(v == np.repeat(self._minimum(v)[0], self.sizes))
        s = np.zeros(self.n)
        s[least[np.searchsorted(least, self._begins)]] = 1.0
        return s

    def project(self, v: Array) -> Array:
        """Part by part, parts of one length together."""
        v = self._finite(v, "the vector to project")
        x = np.empty(self.n)
        for size in np.unique(self.sizes):
            places = self._begins[self.sizes == size][:, None] + np.arange(size)
            parts = v[places]
            parts = np.maximum(parts - parts.max(axis=1, keepdims=True), -1.0)
            levels = (np.cumsum(-np.sort(-parts, axis=1), axis=1) - 1.0) / np.arange(1, size + 1)
            parts = np.maximum(parts - levels.max(axis=1, keepdims=True), 0.0)
            x[places] = parts / parts.sum(axis=1, keepdims=True)
        return x


class L1Ball(_Vertices):
    r"""The l1 ball :math:`X = \{x : \sum_i |x_i| \le r\}`.

    Parameters
    ----------
    n : int
        The length of x.
    radius : float
        The radius :math:`r`.
    """

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.array([-self.radius * float(np.abs(v).max())]), 1

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """-radius sign(v_i) e_i, at the largest |v_i|."""
        v = np.asarray(v)
        s = np.zeros(self.n)
        i = int(np.argmax(np.abs(v)))
        s[i] = -self.radius if v[i] > 0 else self.radius
        return s

    def project(self, v: Array) -> Array:
        v = self._finite(v, "the vector to project")
        inside = np.abs(v).sum() <= self.radius
        return v.copy() if inside else onto_l1_ball(v, self.radius)
