"""What domains of vectors share: their space, and bounds in closed form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.linalg.proof import Proof
from condal.linalg.roundoff import gamma
from condal.linalg.symmetric import Symmetric

SMALLEST = float(np.finfo(np.float64).smallest_subnormal)  # more than a product loses at 0


class Flat(ABC):
    """X, a set of vectors of length n."""

    n: int

    def check(self, v: Gradient, name: str) -> None:
        """Whether v is a vector of length n."""
        if isinstance(v, Symmetric | tuple) or getattr(v, "shape", None) != (self.n,):
            got = "matrices" if isinstance(v, Symmetric) else f"shape {getattr(v, 'shape', None)}"
            raise ProblemError(
                f"{name} must act on vectors of length {self.n}, as the domain does; got {got}"
            )

    def _vector(self, x: Point, name: str = "x") -> Array:
        """x, if it is a vector of length n."""
        z = np.asarray(x)
        if z.shape != (self.n,):
            raise ProblemError(
                f"{name} must be a vector of length {self.n}, as those of {type(self).__name__} "
                f"are; got shape {z.shape}"
            )
        return z

    def _finite(self, v: Gradient | Point, name: str) -> Array:
        """v, if it is a vector of n finite numbers."""
        z = self._vector(np.asarray(v), name)
        if not np.all(np.isfinite(z)):
            raise FloatingPointError(f"{name} holds NaN or infinity")
        return z


class ClosedForm(Flat):
    """X, of which min <v, .> is known in closed form: a sum of a few terms."""

    @abstractmethod
    def _minimum(self, v: Array) -> tuple[Array, int]:
        """Terms that add up to min over X of <v, .>, and how many roundings each has had."""

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """The minimum itself, in closed form, less its rounding."""
        v = np.asarray(v)
        terms, roundings = self._minimum(v)
        lost = gamma(roundings + terms.size + 2) * float(np.abs(terms).sum())
        lost += (roundings + terms.size) * SMALLEST * bool(v.any())
        return Proof(float(terms.sum()) - lost, "closed form")
