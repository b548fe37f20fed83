"""Domains of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from condal.errors import ProblemError
from condal.operators import UNIT_ROUNDOFF, Gradient, Symmetric
from condal.points import Array, Point, require_positive, require_whole
from condal.types import Proof


@dataclass(frozen=True)
class _Vertices:
    """What the domains with a closed-form oracle share: their bound is the oracle's value."""

    n: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        require_positive(self.radius, "radius")

    @property
    def size(self) -> float:
        """The radius."""
        return self.radius

    def _minimum(self, v: Array) -> float:
        raise AssertionError("each domain has its own")

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """The minimum itself, in closed form, less its rounding."""
        value = self._minimum(np.asarray(v))
        return Proof(value - 4 * UNIT_ROUNDOFF * abs(value), "closed form")

    def check(self, v: Gradient, name: str) -> None:
        """Whether v is a vector of length n."""
        if isinstance(v, Symmetric | tuple) or v.shape != (self.n,):
            got = "matrices" if isinstance(v, Symmetric) else f"shape {getattr(v, 'shape', None)}"
            raise ProblemError(
                f"{name} must act on vectors of length {self.n}, as the domain does; got {got}"
            )


class Simplex(_Vertices):
    """X = {x >= 0 : sum x = radius}."""

    @property
    def diameter(self) -> float:
        """sqrt(2) radius; 0 for n = 1."""
        return float(np.sqrt(2.0)) * self.radius if self.n > 1 else 0.0

    def _minimum(self, v: Array) -> float:
        return self.radius * float(v.min())

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """radius e_i, at the smallest v_i."""
        s = np.zeros(self.n)
        s[int(np.argmin(np.asarray(v)))] = self.radius
        return s

    def distance(self, x: Point) -> float:
        """The norm of the negative part, plus what the sum of the positive part misses."""
        z = np.asarray(x)
        missing = abs(np.maximum(z, 0.0).sum() - self.radius)
        return float(np.linalg.norm(np.minimum(z, 0.0)) + missing)


class L1Ball(_Vertices):
    """X = {x : sum |x_i| <= radius}."""

    @property
    def diameter(self) -> float:
        """2 radius."""
        return 2.0 * self.radius

    def _minimum(self, v: Array) -> float:
        return -self.radius * float(np.abs(v).max())

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """-radius sign(v_i) e_i, at the largest |v_i|."""
        v = np.asarray(v)
        s = np.zeros(self.n)
        i = int(np.argmax(np.abs(v)))
        s[i] = -self.radius if v[i] > 0 else self.radius
        return s

    def distance(self, x: Point) -> float:
        """How much the l1 norm is above the radius."""
        return max(0.0, float(np.abs(np.asarray(x)).sum()) - self.radius)
