"""Base classes for domains of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import inf

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.linalg.rounding import Proof, gamma, stable_norm
from condal.linalg.symmetric import Symmetric

SMALLEST = float(np.finfo(np.float64).smallest_subnormal)  # more than a product loses to underflow


class Flat(ABC):
    """X, a set of vectors of length n."""

    n: int
    project: Callable[[Array], Array]  # for the default `distance`

    @property
    @abstractmethod
    def max_norm(self) -> float:
        """An upper bound on |x| over X."""

    @property
    def diameter(self) -> float:
        """2 max |x|, for a symmetric X."""
        return 2.0 * self.max_norm

    def distance(self, x: Point) -> float:
        """|x - project(x)|."""
        z = self._finite(x, "x")
        return stable_norm(z - self.project(z))

    def check(self, v: Gradient, name: str) -> None:
        if isinstance(v, Symmetric | tuple) or getattr(v, "shape", None) != (self.n,):
            got = "matrices" if isinstance(v, Symmetric) else f"shape {getattr(v, 'shape', None)}"
            raise ProblemError(
                f"{name} must act on vectors of length {self.n}, as the domain does; got {got}"
            )

    def _vector(self, x: Point, name: str = "x") -> Array:
        """Return x as an array, or raise ProblemError unless it is a vector of length n."""
        z = np.asarray(x)
        if z.shape != (self.n,):
            raise ProblemError(
                f"{name} must be a vector of length {self.n}, as those of {type(self).__name__} "
                f"are; got shape {z.shape}"
            )
        return z

    def _finite(self, v: Gradient | Point, name: str) -> Array:
        """Return v as an array, or raise unless it is a vector of n finite numbers."""
        z = self._vector(np.asarray(v), name)
        if not np.all(np.isfinite(z)):
            raise FloatingPointError(f"{name} holds NaN or infinity")
        return z


class ClosedForm(Flat):
    """X for which min <v, .> is a sum of a few terms in closed form."""

    @abstractmethod
    def _minimum(self, v: Array) -> tuple[Array, int]:
        """Return terms that add up to min over X of <v, .>, and the roundings of each."""

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """The minimum in closed form, less its rounding."""
        v = np.asarray(v)
        terms, roundings = self._minimum(v)
        lost = gamma(roundings + terms.size + 2) * float(np.abs(terms).sum())
        lost += (roundings + terms.size) * SMALLEST * bool(v.any())
        return Proof(float(terms.sum()) - lost, "closed form")
