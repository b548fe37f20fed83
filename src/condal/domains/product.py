"""Products of domains: x = (x_1, x_2, ...)."""

from __future__ import annotations

from functools import cached_property
from math import hypot, inf
from reprlib import Repr
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Point
from condal.linalg.rounding import Proof, gamma
from condal.types import Domain, projects

BLOCK_SEED = 7919  # blocks must not share the random start of their proofs
BLOCKS_REPR = Repr()  # for errors: there may be thousands of blocks, of long arrays
BLOCKS_REPR.maxother = 72


class Product:
    r"""The product :math:`X = X_1 \times X_2 \times \dots`, whose points are tuples.

    Parameters
    ----------
    *parts : domains
        The factors :math:`X_i`.
    """

    def __init__(self, *parts: Domain) -> None:
        if not parts:
            raise ProblemError("Product needs at least one domain")
        self.parts = parts

    @property
    def diameter(self) -> float:
        return hypot(*(part.diameter for part in self.parts))

    @property
    def max_norm(self) -> float:
        return hypot(*(part.max_norm for part in self.parts))

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        """The oracles of the parts, each with an equal share of tol."""
        assert isinstance(v, tuple)
        guesses = guess if isinstance(guess, tuple) else (None,) * len(self.parts)
        share = tol / len(self.parts)
        return tuple(
            part.lmo(w, share, g) for part, w, g in zip(self.parts, v, guesses, strict=True)
        )

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """The sum of the parts' bounds, rounded down; the failure probabilities add up."""
        assert isinstance(v, tuple)
        m = len(self.parts)
        proofs = [
            part.bound(w, slack=slack / m, failure=failure / m, seed=seed + BLOCK_SEED * i)
            for i, (part, w) in enumerate(zip(self.parts, v, strict=True))
        ]
        rounding = gamma(m + 2) * sum(abs(proof.value) for proof in proofs)
        return Proof(
            sum(proof.value for proof in proofs) - rounding,
            "; ".join(dict.fromkeys(proof.how for proof in proofs)),
            sum(proof.failure for proof in proofs),
        )

    def project(self, v: Any) -> Point:
        if not self._projects:
            raise ProblemError("a part of this Product has no projection: use condal.CGAL()")
        parts: Any = zip(self.parts, v, strict=True)
        return tuple(part.project(w) for part, w in parts)

    @cached_property
    def _projects(self) -> bool:
        return projects(self)

    def distance(self, x: Point) -> float:
        assert isinstance(x, tuple)
        return float(
            np.linalg.norm([part.distance(p) for part, p in zip(self.parts, x, strict=True)])
        )

    def check(self, v: Gradient, name: str) -> None:
        if not isinstance(v, tuple) or len(v) != len(self.parts):
            raise ProblemError(
                f"{name} must act on a product of {len(self.parts)} blocks: give a tuple for "
                "Linear, or Across(A_1, A_2, ...) for a map; the blocks of X are "
                f"{' '.join(BLOCKS_REPR.repr(self.parts).split())}"
            )
        for i, (part, w) in enumerate(zip(self.parts, v, strict=True)):
            part.check(w, f"{name}, block {i},")

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.parts))})"
