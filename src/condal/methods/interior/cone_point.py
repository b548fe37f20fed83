"""Pairs of points inside a cone and its dual, and the Newton step for u z = mu from them.

    du = r - H dz,    dz = -A'dy

for each cone, with H positive definite: X . Z^-1 for matrices (Helmberg et al. 1996, Kojima et al.
1997, Monteiro 1997), 1 / (z/u + v/w) for 0 <= u <= cap, w = cap - u, whose duals are z and v, and
the square of the Nesterov-Todd scaling for second-order cones. A H A', summed over the cones, is
the Schur complement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from condal.linalg.points import Array
from condal.methods.interior.standard import Cone


@dataclass(frozen=True, eq=False)
class Step:
    """du and dz, and dv for capped entries."""

    u: Array
    z: Array
    v: Array | None = None


@dataclass(frozen=True, eq=False)
class Aim:
    """r, and for an orthant the target products of u and z and of w and v."""

    r: Array
    uz: Array | None = None
    wv: Array | None = None


class ConePoint(Protocol):
    """u inside a cone, z inside its dual."""

    @property
    def cone(self) -> Cone:
        """The cone, with its columns of the data."""

    @property
    def gap(self) -> float:
        """<u, z>, and <w, v>."""

    @property
    def degree(self) -> float:
        """The gap at mu = 1."""

    @property
    def point(self) -> Array:
        """u; for matrices, their Cholesky factors."""

    @property
    def flat(self) -> Array:
        """u as a vector."""

    @property
    def dual(self) -> Array:
        """z as a vector."""

    @property
    def depth(self) -> float:
        """A number t with z - d in the dual cone for every d of norm at most t."""

    def price(self) -> float:
        """Return <cap, v>, the price of the caps in the dual objective."""

    def add_to(self, M: Array) -> None:
        """M += A H A'."""

    def aim(self, mu: float, past: Step | None) -> Aim:
        """Return the target u z = mu, with the second-order term of the predictor step, if any."""

    def scaled(self, dz: Array) -> Array:
        """Return H dz."""

    def step(self, aim: Aim, dz: Array) -> Step:
        """Return the step with du = r - H dz."""

    def longest(self, step: Step) -> tuple[float, float]:
        """Return the largest feasible lengths for u and for z."""

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        """Return the gap after steps of these lengths."""

    def moved(self, step: Step, primal: float, dual: float, cost: Array | None) -> ConePoint | None:
        """Return the next pair, with z = cost if it is given; None unless it is inside."""
