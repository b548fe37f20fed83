"""Positive vectors, some entries with caps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.methods.interior.cone_point import Aim, Step
from condal.methods.interior.standard import Cone


@dataclass(frozen=True, eq=False)
class Orthant:
    """u, z > 0, and w = cap - u > 0, v > 0 for capped entries; v = 0 for the others."""

    cone: Cone
    u: Array
    w: Array
    z: Array
    v: Array

    @classmethod
    def first(cls, cone: Cone, u: Array, z: Array) -> Orthant | None:
        """Return the pair of two vectors without caps; None unless both are inside."""
        inside = min(u.min(initial=1.0), z.min(initial=1.0)) > 0
        return cls(cone, u, np.full(u.size, inf), z, np.zeros(u.size)) if inside else None

    @cached_property
    def capped(self) -> Any:
        """The mask of the capped entries."""
        return self.cone.cap < inf

    @property
    def gap(self) -> float:
        """<u, z> + <w, v>."""
        return float(self.u @ self.z + self.w[self.capped] @ self.v[self.capped])

    @property
    def degree(self) -> float:
        return float(self.u.size + np.count_nonzero(self.capped))

    @property
    def point(self) -> Array:
        return self.u

    @property
    def flat(self) -> Array:
        return self.u

    @property
    def dual(self) -> Array:
        return self.z

    @property
    def depth(self) -> float:
        """The least z."""
        return float(self.z.min(initial=inf))

    def price(self) -> float:
        return float(self.cone.cap[self.capped] @ self.v[self.capped])

    @cached_property
    def H(self) -> Array:
        """1 / (z/u + v/w)."""
        return np.asarray(1.0 / (self.z / self.u + self.v / self.w))

    def add_to(self, M: Array) -> None:
        """A H A'."""
        self.cone.gram.add(M, self.H)

    def aim(self, mu: float, past: Step | None) -> Aim:
        """H (uz/u - z - wv/w + v), with the target products uz and wv."""
        uz = np.full(self.u.size, mu)
        wv = np.where(self.capped, mu, 0.0)
        if past is not None:
            uz -= past.u * past.z
            if past.v is not None:
                wv += past.u * past.v
        return Aim(self.H * (uz / self.u - self.z - wv / self.w + self.v), uz, wv)

    def scaled(self, dz: Array) -> Array:
        """H dz."""
        return self.H * dz

    def step(self, aim: Aim, dz: Array) -> Step:
        """du = r - H dz; the steps of z and v differ by dz."""
        assert aim.uz is not None
        assert aim.wv is not None
        du = aim.r - self.scaled(dz)
        return Step(
            du,
            aim.uz / self.u - self.z - self.z / self.u * du,
            aim.wv / self.w - self.v + self.v / self.w * du,
        )

    def longest(self, step: Step) -> tuple[float, float]:
        primal = min(_ratio(self.u, step.u), _ratio(self.w, -step.u))
        capped = inf if step.v is None else _ratio(self.v, step.v)
        return primal, min(_ratio(self.z, step.z), capped)

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        assert step.v is not None
        gap = float((self.u + primal * step.u) @ (self.z + dual * step.z))
        capped = self.capped
        w, v = self.w[capped] - primal * step.u[capped], self.v[capped] + dual * step.v[capped]
        return gap + float(w @ v)

    def moved(self, step: Step, primal: float, dual: float, cost: Array | None) -> Orthant | None:
        """Move each; with a cost, the larger of z and v follows from it and the smaller."""
        u, w = self.u + primal * step.u, self.w - primal * step.u
        z, v = self.z + dual * step.z, self.v
        if step.v is not None:
            v = v + dual * step.v
        if cost is not None:
            by_z = z >= v
            z, v = np.where(by_z, cost + v, z), np.where(by_z, v, z - cost)
        inside = min(part.min(initial=1.0) for part in (u, w, z, v[self.capped])) > 0
        return Orthant(self.cone, u, w, z, v) if inside else None


def _ratio(u: Array, du: Array) -> float:
    """The largest t with u + t du >= 0."""
    falling = du < 0
    return float(np.min(-u[falling] / du[falling], initial=inf))
