"""Defaults for the members of h, and the adapter that gives them to a user's set or function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.linalg.rounding import NEAR, norm_above, one_factor, stable_norm, written
from condal.runtime.arguments import copy_members, has_member, require_members
from condal.types import LinearMap, Provable, Proximable, ProximableLike

FAR = 2.0**30  # a power of 2: multiplying by it does not round
SAME = 1e-12  # of the terms of h*: by how much two equal values of h* may differ
OPTIONAL = (
    *("separable", "fixed", "value", "distance", "multiplier"),
    *("conjugate_abs_sum", "dual_point", "dual_error"),
    *("normal_residual", "support", "support_abs_sum", "support_error"),
)


class ProximableDefaults(ABC):
    """All of h (`Provable`) from `size`, `prox` and `conjugate`; a function g adds `value` and
    `lipschitz`."""

    separable = False
    fixed: Array | None = None
    size: int

    @property
    def lipschitz(self) -> float:
        return inf

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return [(slice(0, self.size), self)]

    @abstractmethod
    def prox(self, z: Array, t: float) -> Array:
        """Return argmin_r h(r) + |r - z|^2 / (2 t)."""

    @abstractmethod
    def conjugate(self, y: Array) -> float:
        """Return h*(y)."""

    def value(self, z: Array) -> float:
        return 0.0

    def distance(self, z: Array) -> float:
        return stable_norm(z - self.prox(z, 1.0)) if self.lipschitz == inf else 0.0

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return written(lam * (z - self.prox(z, 1 / lam)), out)

    def scaled(self, rows: Array, c: float) -> Provable:
        return Rescaled(self, one_factor(rows, type(self).__name__), c)

    # What only proofs need.

    def conjugate_abs_sum(self, y: Array) -> float:
        """|h*(y)|: right if no terms of h* cancel."""
        return abs(self.conjugate(y))

    def dual_point(self, y: Array) -> Array:
        """y itself, or prox_{t h*}(y) for a small t, which tends to the nearest point of dom h*."""
        return y if np.isfinite(self.conjugate(y)) else self.multiplier(FAR * y, 1 / FAR)

    def dual_error(self, y: Array) -> float:
        """0: right if `conjugate` decides by exact comparisons alone where h* is finite."""
        return 0.0

    def normal_residual(self, z: Array) -> Array:
        return self.dual_point(z - self.prox(z, 1.0)) if self.lipschitz == inf else 0.0 * z

    def support(self, d: Array) -> float:
        """h*(d) if that is positively homogeneous, as for a set."""
        if not np.any(d):
            return 0.0
        if self.lipschitz < inf:
            return inf
        near, far = self.conjugate(d), self.conjugate(FAR * d) / FAR
        same = near == far or abs(near - far) <= SAME * self.conjugate_abs_sum(d)
        return near if same else inf

    def support_abs_sum(self, d: Array) -> float:
        return self.conjugate_abs_sum(d) if np.any(d) else 0.0

    def support_error(self, d: Array) -> float:
        return self.dual_error(d) if np.any(d) else 0.0


class Projected(ProximableDefaults):
    """The indicator of a set K, from its projection `prox` and its support function `conjugate`."""

    def support(self, d: Array) -> float:
        return self.conjugate(d)

    def support_abs_sum(self, d: Array) -> float:
        return self.conjugate_abs_sum(d)

    def support_error(self, d: Array) -> float:
        return self.dual_error(d)


class Rescaled(ProximableDefaults):
    """z -> c h(z / r), for one factor r of all coordinates."""

    def __init__(self, h: Provable, r: float, c: float) -> None:
        self.h, self.r, self.c, self.size = h, r, c, h.size

    @property
    def lipschitz(self) -> float:
        return self.h.lipschitz * self.c / self.r

    def prox(self, z: Array, t: float) -> Array:
        return self.r * self.h.prox(z / self.r, t * self.c / self.r**2)

    def value(self, z: Array) -> float:
        return self.c * self.h.value(z / self.r)

    def distance(self, z: Array) -> float:
        return self.r * self.h.distance(z / self.r)

    def conjugate(self, y: Array) -> float:
        return self.c * self.h.conjugate(self._dual(y))

    def conjugate_abs_sum(self, y: Array) -> float:
        return self.c * self.h.conjugate_abs_sum(self._dual(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        w = self.h.multiplier(z / self.r, lam * self.r**2 / self.c)
        return written(w * (self.c / self.r), out)

    def dual_point(self, y: Array) -> Array:
        return self.h.dual_point(self._dual(y)) * (self.c / self.r)

    def dual_error(self, y: Array) -> float:
        return self.h.dual_error(self._dual(y)) * (self.c / self.r)

    def normal_residual(self, z: Array) -> Array:
        return self.r * self.h.normal_residual(z / self.r)

    def support(self, d: Array) -> float:
        return self.r * self.h.support(d)

    def support_abs_sum(self, d: Array) -> float:
        return self.r * self.h.support_abs_sum(d)

    def support_error(self, d: Array) -> float:
        return self.h.support_error(d)

    def _dual(self, y: Array) -> Array:
        return y * (self.r / self.c)


class UserProximable(ProximableDefaults):
    """A user's set or function, with defaults for the members that it lacks."""

    of_user = True

    def __init__(self, h: Any, what: str) -> None:
        self.h, self.size, self._what = h, h.size, what
        copy_members(self, h, OPTIONAL)
        if not has_member(h, "scaled"):
            self.separable = False  # the default `scaled` takes one factor
        self._strict = has_member(h, "dual_error")  # then `conjugate` is taken at its word
        exact = self._strict and has_member(h, "conjugate_abs_sum")
        self.trusting = "" if exact else f"the conjugate of {what} to rounding"

    @property
    def lipschitz(self) -> float:
        return getattr(self.h, "lipschitz", inf)

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        pieces = getattr(self.h, "pieces", [(slice(0, self.size), self.h)])
        return [(part, self if h is self.h else self._complete(h)) for part, h in pieces]

    def _complete(self, h: Any) -> Any:
        return complete_proximable(h, self._what)

    def scaled(self, rows: Array, c: float) -> Provable:
        if has_member(self.h, "scaled"):
            return self._complete(self.h.scaled(rows, c))
        return super().scaled(rows, c)

    def prox(self, z: Array, t: float) -> Array:
        return self.h.prox(z, t)

    def conjugate(self, y: Array) -> float:
        """h*(y), or h* at a point nearer to 0 by rounding: a strict comparison may miss y."""
        value = self.h.conjugate(y)
        shifted = value == inf and not self._strict
        return self.h.conjugate((1 - NEAR) * y) if shifted else value

    def dual_error(self, y: Array) -> float:
        return 2 * NEAR * norm_above(y) if self.h.conjugate(y) == inf else 0.0


def complete_proximable(h: ProximableLike, what: str) -> Any:
    """Return h, or a `UserProximable` if h lacks members; ProblemError names those it must have."""
    purposes = {
        "size": "the length of z in h(z)",
        "prox(z, t)": "argmin_r h(r) + |r - z|^2 / (2 t), the projection for a set; methods use it",
        "conjugate(y)": "h*(y) = sup_z <y, z> - h(z), inf outside its domain; bounds use it",
    }
    if has_member(h, "value") and not has_member(h, "distance"):
        purposes["lipschitz"] = "the Lipschitz constant of a function g, inf for a set"
    require_members(h, what, purposes)
    if all(has_member(h, name) for name in (*OPTIONAL, "lipschitz", "pieces", "scaled")):
        return h
    return UserProximable(h, what)


def trusted(h: Proximable) -> str:
    """Return what a proof takes for granted of h, in words; empty if nothing."""
    inner = [*getattr(h, "parts", ()), *([h.h] if hasattr(h, "h") else [])]
    words = [getattr(h, "trusting", ""), *map(trusted, inner)]
    return " and ".join(dict.fromkeys(filter(None, words)))


def sized_proximable(h: Any, M: LinearMap, parts: str, kind: str, name: str) -> Provable:
    """Return h as a function of the images of M, complete; ProblemError if sizes differ."""
    misfit = f"{parts} do not fit: {parts[0]} makes images of length {M.size}"
    if hasattr(h, "sized"):
        try:
            h = h.sized(M.size)
        except ProblemError as error:
            raise ProblemError(f"{misfit}; {error}") from None
    h = complete_proximable(h, name)
    if h.size != M.size:
        raise ProblemError(f"{misfit}, but {kind} of vectors of length {h.size}")
    return h
