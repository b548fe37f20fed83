"""Positive vectors, some of them with caps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.methods.interior.place import Aim, Step
from condal.methods.interior.schur import FULL
from condal.methods.interior.standard import Cone


@dataclass(frozen=True, eq=False)
class Orthant:
    """u, z > 0 and, for the entries that are capped, w = cap - u > 0 and v > 0; else v = 0."""

    cone: Cone
    u: Array
    w: Array
    z: Array
    v: Array

    @cached_property
    def capped(self) -> Any:
        """Which entries are."""
        return self.cone.cap < inf

    @property
    def gap(self) -> float:
        """<u, z> + <w, v>."""
        return float(self.u @ self.z + self.w[self.capped] @ self.v[self.capped])

    @property
    def degree(self) -> float:
        """One for each entry, and one for each cap."""
        return float(self.u.size + np.count_nonzero(self.capped))

    @property
    def point(self) -> Array:
        """u."""
        return self.u

    @property
    def flat(self) -> Array:
        """u."""
        return self.u

    def price(self) -> float:
        """<cap, v>."""
        return float(self.cone.cap[self.capped] @ self.v[self.capped])

    @cached_property
    def H(self) -> Array:
        """1 / (z/u + v/w)."""
        return np.asarray(1.0 / (self.z / self.u + self.v / self.w))

    def add_to(self, M: Array) -> None:
        """A H A'."""
        A = self.cone.A
        if A.nnz > FULL * A.shape[0] * A.shape[1]:
            full = A.toarray() * np.sqrt(self.H)
            M += full @ full.T
        else:
            M += (A.multiply(self.H[None, :]) @ A.T).toarray()

    def aim(self, mu: float, past: Step | None) -> Aim:
        """H (uz/u - z - wv/w + v), uz and wv the products aimed at."""
        uz = np.full(self.u.size, mu)
        wv = np.where(self.capped, mu, 0.0)
        if past is not None:
            assert past.v is not None
            uz -= past.u * past.z
            wv += past.u * past.v
        return Aim(self.H * (uz / self.u - self.z - wv / self.w + self.v), uz, wv)

    def step(self, aim: Aim, dz: Array) -> Step:
        """du = r - H dz, and dz and dv, the difference of which is dz."""
        assert aim.uz is not None
        assert aim.wv is not None
        du = aim.r - self.H * dz
        return Step(
            du,
            aim.uz / self.u - self.z - self.z / self.u * du,
            aim.wv / self.w - self.v + self.v / self.w * du,
        )

    def longest(self, step: Step) -> tuple[float, float]:
        """By the smallest ratios."""
        assert step.v is not None
        primal = min(_ratio(self.u, step.u), _ratio(self.w, -step.u))
        return primal, min(_ratio(self.z, step.z), _ratio(self.v, step.v))

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        """That of u and z, and of w and v."""
        assert step.v is not None
        gap = float((self.u + primal * step.u) @ (self.z + dual * step.z))
        here = self.capped
        w, v = self.w[here] - primal * step.u[here], self.v[here] + dual * step.v[here]
        return gap + float(w @ v)

    def moved(self, step: Step, primal: float, dual: float, y: Array) -> Orthant | None:
        """Each a step further; z, or v where it is the larger, is made of y and the other."""
        assert step.v is not None
        u, w = self.u + primal * step.u, self.w - primal * step.u
        z, v = self.z + dual * step.z, self.v + dual * step.v
        cost = self.cone.reduced(y)
        by_z = z >= v
        z, v = np.where(by_z, cost + v, z), np.where(by_z, v, z - cost)
        inside = min(part.min(initial=1.0) for part in (u, w, z, v[self.capped])) > 0
        return Orthant(self.cone, u, w, z, v) if inside else None


def _ratio(u: Array, du: Array) -> float:
    """The largest t with u + t du >= 0."""
    falling = du < 0
    return float(np.min(-u[falling] / du[falling], initial=inf))
