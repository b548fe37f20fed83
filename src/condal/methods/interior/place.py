"""A place inside a cone and its dual, and a step from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from condal.linalg.points import Array


@dataclass(frozen=True, eq=False)
class Step:
    """du and dz; for capped entries dv too."""

    u: Array
    z: Array
    v: Array | None = None


@dataclass(frozen=True, eq=False)
class Aim:
    """r, and the products that an orthant aims at, of u and z and of w and v."""

    r: Array
    uz: Array | None = None
    wv: Array | None = None


class ConePoint(Protocol):
    """u inside a cone, z inside its dual."""

    @property
    def gap(self) -> float:
        """<u, z>, and <w, v>."""

    @property
    def degree(self) -> float:
        """What the gap is at mu = 1."""

    @property
    def point(self) -> Array:
        """u; of a matrix, its Cholesky factor."""

    @property
    def flat(self) -> Array:
        """u as a vector."""

    def price(self) -> float:
        """<cap, v>: what the dual objective pays for the caps."""

    def add_to(self, M: Array) -> None:
        """M += A H A'."""

    def aim(self, mu: float, past: Step | None) -> Aim:
        """What leads to u z = mu; with the second-order term of a step that was tried before."""

    def step(self, aim: Aim, dz: Array) -> Step:
        """du = r - H dz, and the rest."""

    def longest(self, step: Step) -> tuple[float, float]:
        """How far u and z may go along it."""

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        """The gap so far along it."""

    def moved(self, step: Step, primal: float, dual: float, y: Array) -> ConePoint | None:
        """The next place, its z made of y; None if that is none inside."""
