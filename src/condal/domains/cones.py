"""Cones cut off at a height: the orthant by the sum of x, the second-order cone by its axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condal.domains.flat import ClosedForm
from condal.linalg.cone_slices import ConeSlice
from condal.linalg.gradients import Gradient
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array, Point
from condal.linalg.roundoff import gamma
from condal.nonsmooth.levels import onto_simplex
from condal.runtime.arguments import require_positive, require_whole
from condal.sets.cones import SecondOrder


@dataclass(frozen=True)
class _Cut(ClosedForm):
    """What the two share: 0 is their apex, and the height bounds them."""

    n: int
    height: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        require_positive(self.height, "height")


class CutOrthant(_Cut):
    """X = {x >= 0 : sum x <= height}."""

    @property
    def diameter(self) -> float:
        """sqrt(2) height; the height for n = 1."""
        return float(np.sqrt(min(self.n, 2))) * self.height

    @property
    def max_norm(self) -> float:
        """The height."""
        return self.height

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        """The orthant, cut."""
        return (ConeSlice("orthant", self.n, self.height, at_most=True),)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.array([self.height * min(0.0, float(v.min()))]), 1

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """height e_i, at the smallest v_i; 0 where none is negative."""
        v, s = np.asarray(v), np.zeros(self.n)
        i = int(np.argmin(v))
        s[i] = self.height if v[i] < 0 else 0.0
        return s

    def project(self, v: Array) -> Array:
        """max(v - t, 0), with t = 0 or the t that makes its sum the height."""
        v = self._finite(v, "the vector to project")
        inside = np.maximum(v, 0.0)
        return inside if inside.sum() <= self.height else onto_simplex(v, self.height)

    def distance(self, x: Point) -> float:
        """The norm of the negative part, plus what the sum of the positive part is too much."""
        z = self._vector(x)
        excess = max(0.0, float(np.maximum(z, 0.0).sum()) - self.height)
        return stable_norm(np.minimum(z, 0.0)) + excess


class CutCone(_Cut):
    """X = {(s, u) : |u| <= s <= height}, s the first of the n coordinates."""

    @property
    def diameter(self) -> float:
        """2 height, across the disc at the end; the height for n = 1."""
        return min(self.n, 2) * self.height

    @property
    def max_norm(self) -> float:
        """sqrt(2) height, at the rim; the height for n = 1."""
        return float(np.sqrt(min(self.n, 2))) * self.height

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        """The cone, cut."""
        return (ConeSlice("second-order", self.n, self.height, at_most=True),)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        terms = np.array([float(v[0]), -stable_norm(v[1:])])
        # Where the sum is negative but for rounding, what it is made of tells how much that is.
        rounding = gamma(self.n + 8) * float(np.abs(terms).sum())
        inside = float(terms.sum()) > rounding
        return (np.zeros(1), 0) if inside else (self.height * terms, self.n + 6)

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """height (1, -u / |u|) for v = (s, u); 0 where |u| <= s."""
        v = np.asarray(v)
        width = stable_norm(v[1:])
        found = np.zeros(self.n)
        if width > v[0]:
            found[0] = self.height
            found[1:] = -self.height * (v[1:] / width) if width > 0 else 0.0
        return found

    def project(self, v: Array) -> Array:
        """The projection onto the cone, or, where that is too high, onto the disc at the end."""
        v = self._finite(v, "the vector to project")
        found = SecondOrder(self.n).prox(v, 1.0)
        if found[0] <= self.height:
            return np.array(found)
        width = stable_norm(v[1:])
        shrunk = min(1.0, self.height / width) if width > 0 else 0.0
        return np.concatenate([[self.height], shrunk * v[1:]])

    def distance(self, x: Point) -> float:
        """|x - its projection|."""
        z = self._finite(x, "x")
        return stable_norm(z - self.project(z))
