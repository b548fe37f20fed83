"""Objectives f, sets K and functions g, guarded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import Any, TypeVar

import numpy as np

from condal.driver.pieces.guards.maps import Guard
from condal.linalg.guarded import UserPiece
from condal.linalg.points import Array
from condal.linalg.rounding import Errors, Rounded
from condal.types import LinearMap, Provable, Smooth

FAR = 2.0**30  # a power of 2: to multiply by it rounds nothing
SAME = 1e-12  # of the terms of h*: what two of its values may differ by, if they are the same

T = TypeVar("T")


class once(cached_property[T]):
    """A cached_property without the lock of the whole class that Python 3.11 holds while one is
    computed: h may be made of others, and those of guarded ones, so that two threads that ask in
    another order would wait for each other for ever. Computed twice, it is the same."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self.attrname] = self.func(instance)
        return value


class GuardedObjective:
    """f, its values and gradients looked at."""

    def __init__(self, f: Smooth, letter: str, again: Guard) -> None:
        self.f, self._letter, self._again = f, letter, again
        self._value, self._gradient = (
            UserPiece(letter, "the value"),
            UserPiece(letter, "the gradient"),
        )
        self._rest, self._errors = (
            UserPiece(letter, "the constant L"),
            UserPiece(letter, "the errors"),
        )

    @once
    def M(self) -> LinearMap:
        """That of f, guarded."""
        return self._again(self.f.M, "M")

    @property
    def L(self) -> float:
        """That of f."""
        with self._rest.asked():
            return self._rest.number(self.f.L)

    def value(self, u: Array) -> float:
        """phi(u)."""
        with self._value.asked():
            value = self.f.value(u)
        return self._value.number(value)

    def gradient(self, u: Array) -> Array:
        """The gradient of phi at u."""
        with self._gradient.asked():
            gradient = self.f.gradient(u)
        return self._gradient.array(gradient, np.shape(u))

    def errors(self, u: Array) -> Errors | None:
        """Those of f, if it knows them."""
        if not isinstance(self.f, Rounded):
            return None
        with self._errors.asked():
            errors = self.f.errors(u)
        if not isinstance(errors, Errors | None):
            self._errors.wrong(f"a {type(errors).__name__}", "a condal.linalg.rounding.Errors")
        return errors

    def scaled(self, c: float) -> Smooth:
        """c f, guarded."""
        with self._value.asked():
            f = self.f.scaled(c)
        return self._again(f, self._letter)

    def variation(self, max_norm: float) -> float:
        """That of f."""
        with self._value.asked():
            return self._value.number(self.f.variation(max_norm))


class GuardedFunction:
    """h, its prox, values and multipliers looked at."""

    def __init__(self, h: Provable, letter: str, again: Guard) -> None:
        self.h, self._letter, self._again = h, letter, again
        self._verbs = {
            verb: UserPiece(letter, f"the {name}")
            for verb, name in (
                ("prox", "prox"),
                ("value", "value"),
                ("distance", "distance"),
                ("normal_residual", "normal"),
                ("support", "support"),
                ("support_abs_sum", "size of the support"),
                ("support_error", "error of the support"),
                ("conjugate", "conjugate"),
                ("conjugate_abs_sum", "size of the conjugate"),
                ("multiplier", "multiplier"),
                ("dual_point", "dual point"),
                ("dual_error", "dual error"),
            )
        }

    @property
    def size(self) -> int:
        """That of h."""
        return self.h.size

    @property
    def separable(self) -> bool:
        """As h is."""
        return self.h.separable

    @property
    def lipschitz(self) -> float:
        """That of h."""
        return self.h.lipschitz

    @property
    def fixed(self) -> Array | None:
        """That of h."""
        return self.h.fixed

    @once
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        """Those of h, guarded."""
        return [
            (here, self if part is self.h else self._again(part, self._letter))
            for here, part in self.h.pieces
        ]

    def _asked(self, verb: str, *args: Any, **options: Any) -> Any:
        with self._verbs[verb].asked():
            return getattr(self.h, verb)(*args, **options)

    def _number(self, verb: str, z: Array) -> float:
        return self._verbs[verb].number(self._asked(verb, z))

    def _array(self, verb: str, z: Array, *args: Any, **options: Any) -> Array:
        return self._verbs[verb].array(self._asked(verb, z, *args, **options), z.shape)

    def prox(self, z: Array, t: float) -> Array:
        """That of h."""
        return self._array("prox", z, t)

    def value(self, z: Array) -> float:
        """That of h."""
        return self._number("value", z)

    def distance(self, z: Array) -> float:
        """That of h."""
        return self._number("distance", z)

    def normal_residual(self, z: Array) -> Array:
        """That of h."""
        return self._array("normal_residual", z)

    def support(self, d: Array) -> float:
        """That of h; else what follows from the rest.

        A function with a Lipschitz constant is finite everywhere. h* of a set grows with d in
        proportion; that of another function does not, and its support is not known.
        """
        if hasattr(self.h, "support"):
            return self._number("support", d)
        if not np.any(d):
            return 0.0
        if self.lipschitz < inf:
            return inf
        here, far = self.conjugate(d), self.conjugate(FAR * d) / FAR
        same = here == far or abs(here - far) <= SAME * self.conjugate_abs_sum(d)
        return here if same else inf

    def support_abs_sum(self, d: Array) -> float:
        """That of h; else that of the conjugate, for a set."""
        return self._of_the_support("support_abs_sum", "conjugate_abs_sum", d)

    def support_error(self, d: Array) -> float:
        """That of h; else that of the conjugate, for a set."""
        return self._of_the_support("support_error", "dual_error", d)

    def _of_the_support(self, verb: str, conjugate: str, d: Array) -> float:
        if hasattr(self.h, verb):
            return self._number(verb, d)
        return self._number(conjugate, d) if np.any(d) else 0.0

    def conjugate(self, y: Array) -> float:
        """That of h."""
        return self._number("conjugate", y)

    def conjugate_abs_sum(self, y: Array) -> float:
        """That of h."""
        return self._number("conjugate_abs_sum", y)

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """That of h."""
        return self._array("multiplier", z, lam, out=out)

    def dual_point(self, y: Array) -> Array:
        """That of h."""
        return self._array("dual_point", y)

    def dual_error(self, y: Array) -> float:
        """That of h."""
        return self._number("dual_error", y)

    def scaled(self, rows: Array, c: float) -> Provable:
        """h scaled, guarded."""
        with UserPiece(self._letter, "the scaled form").asked():
            h = self.h.scaled(rows, c)
        return self._again(h, self._letter)
