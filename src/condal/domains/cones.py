"""Truncated cones: the orthant by the sum of x, the second-order cone by its axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condal.domains.flat import ClosedForm
from condal.linalg.cone_slices import ConeSlice
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.linalg.rounding import gamma, stable_norm
from condal.nonsmooth.levels import onto_simplex
from condal.runtime.arguments import require_positive, require_whole
from condal.sets.cones import SecondOrder


@dataclass(frozen=True)
class _Cut(ClosedForm):
    """A cone with apex 0, truncated at a height."""

    n: int
    height: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        require_positive(self.height, "height")


class CutOrthant(_Cut):
    r"""The truncated orthant :math:`X = \{x \ge 0 : \sum_i x_i \le h\}`.

    Parameters
    ----------
    n : int
        The length of x.
    height : float
        The bound :math:`h`.
    """

    @property
    def diameter(self) -> float:
        return float(np.sqrt(min(self.n, 2))) * self.height

    @property
    def max_norm(self) -> float:
        return self.height

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        return (ConeSlice("orthant", self.n, self.height, at_most=True),)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.array([self.height * min(0.0, float(v.min()))]), 1

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """height e_i, at the smallest v_i; 0 if none is negative."""
        v, s = np.asarray(v), np.zeros(self.n)
        i = int(np.argmin(v))
        s[i] = self.height if v[i] < 0 else 0.0
        return s

    def project(self, v: Array) -> Array:
        v = self._finite(v, "the vector to project")
        inside = np.maximum(v, 0.0)
        return inside if inside.sum() <= self.height else onto_simplex(v, self.height)


class CutCone(_Cut):
    r"""The truncated second-order cone :math:`X = \{(s, u) : \|u\| \le s \le h\}`.

    Parameters
    ----------
    n : int
        The length of :math:`(s, u)`; :math:`s` is the first coordinate.
    height : float
        The bound :math:`h`.
    """

    @property
    def diameter(self) -> float:
        return min(self.n, 2) * self.height

    @property
    def max_norm(self) -> float:
        """sqrt(2) height, at the rim; the height for n = 1."""
        return float(np.sqrt(min(self.n, 2))) * self.height

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        return (ConeSlice("second-order", self.n, self.height, at_most=True),)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        terms = np.array([float(v[0]), -stable_norm(v[1:])])
        # If the sum may be negative by rounding, keep its terms: they bound the rounding.
        rounding = gamma(self.n + 8) * float(np.abs(terms).sum())
        inside = float(terms.sum()) > rounding
        return (np.zeros(1), 0) if inside else (self.height * terms, self.n + 6)

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """height (1, -u / |u|) for v = (s, u); 0 if |u| <= s."""
        v = np.asarray(v)
        width = stable_norm(v[1:])
        s = np.zeros(self.n)
        if width > v[0]:
            s[0] = self.height
            s[1:] = -self.height * (v[1:] / width) if width > 0 else 0.0
        return s

    def project(self, v: Array) -> Array:
        """The projection onto the cone or, if that is too high, onto the disc at the end."""
        v = self._finite(v, "the vector to project")
        x = SecondOrder(self.n).prox(v, 1.0)
        if x[0] <= self.height:
            return np.array(x)
        width = stable_norm(v[1:])
        shrunk = min(1.0, self.height / width) if width > 0 else 0.0
        return np.concatenate([[self.height], shrunk * v[1:]])
