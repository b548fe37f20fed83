"""Guards of user-supplied objectives f, sets K and functions g."""

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

FAR_FACTOR = 2.0**30  # a power of 2, which rounds nothing
CONJUGATE_ROUNDING = 1e-12  # of the terms of h*: the rounding of one of its values

T = TypeVar("T")

_VERBS = {
    "prox": "prox",
    "value": "value",
    "distance": "distance",
    "normal_residual": "normal",
    "support": "support",
    "support_abs_sum": "size of the support",
    "support_error": "error of the support",
    "conjugate": "conjugate",
    "conjugate_abs_sum": "size of the conjugate",
    "multiplier": "multiplier",
    "dual_point": "dual point",
    "dual_error": "dual error",
}


class once(cached_property[T]):
    """A cached_property without the class-wide lock of Python 3.11.

    h may contain other guarded functions, so two threads that compute their properties in another
    order would deadlock. A value that is computed twice is the same.
    """

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self.attrname] = self.func(instance)
        return value


class GuardedObjective:
    """f, whose values and gradients are checked."""

    def __init__(self, f: Smooth, letter: str, again: Guard) -> None:
        self.f, self._letter, self._again = f, letter, again
        names = "the value", "the gradient", "the constant L", "the errors"
        pieces = [UserPiece(letter, name) for name in names]
        self._value, self._gradient, self._constant, self._errors = pieces

    @once
    def M(self) -> LinearMap:
        return self._again(self.f.M, "M")

    @property
    def L(self) -> float:
        with self._constant.asked():
            return self._constant.number(self.f.L)

    def value(self, u: Array) -> float:
        with self._value.asked():
            value = self.f.value(u)
        return self._value.number(value)

    def gradient(self, u: Array) -> Array:
        with self._gradient.asked():
            gradient = self.f.gradient(u)
        return self._gradient.array(gradient, np.shape(u))

    def errors(self, u: Array) -> Errors | None:
        if not isinstance(self.f, Rounded):
            return None
        with self._errors.asked():
            errors = self.f.errors(u)
        if not isinstance(errors, Errors | None):
            self._errors.wrong(f"a {type(errors).__name__}", "a condal.linalg.rounding.Errors")
        return errors

    def scaled(self, c: float) -> Smooth:
        with self._value.asked():
            f = self.f.scaled(c)
        return self._again(f, self._letter)

    def variation(self, max_norm: float) -> float:
        with self._value.asked():
            return self._value.number(self.f.variation(max_norm))


def _given(name: str) -> Any:
    """Return a property that is that of h."""
    return property(lambda self: getattr(self.h, name))


def _number(verb: str) -> Any:
    """Return a method that asks h for a number, and checks it."""
    return lambda self, z: self._number(verb, z)


def _array(verb: str) -> Any:
    """Return a method that asks h for an array, and checks it."""
    return lambda self, z, *args, **options: self._array(verb, z, *args, **options)


class GuardedFunction:
    """h, whose prox, values and multipliers are checked."""

    def __init__(self, h: Provable, letter: str, again: Guard) -> None:
        self.h, self._letter, self._again = h, letter, again
        self._verbs = {verb: UserPiece(letter, f"the {name}") for verb, name in _VERBS.items()}

    size, separable, lipschitz, fixed = map(_given, ("size", "separable", "lipschitz", "fixed"))
    prox, normal_residual = _array("prox"), _array("normal_residual")
    multiplier, dual_point = _array("multiplier"), _array("dual_point")
    value, distance, dual_error = _number("value"), _number("distance"), _number("dual_error")
    conjugate, conjugate_abs_sum = _number("conjugate"), _number("conjugate_abs_sum")

    @once
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return [
            (places, self if piece is self.h else self._again(piece, self._letter))
            for places, piece in self.h.pieces
        ]

    def _asked(self, verb: str, *args: Any, **options: Any) -> Any:
        with self._verbs[verb].asked():
            return getattr(self.h, verb)(*args, **options)

    def _number(self, verb: str, z: Array) -> float:
        return self._verbs[verb].number(self._asked(verb, z))

    def _array(self, verb: str, z: Array, *args: Any, **options: Any) -> Array:
        return self._verbs[verb].array(self._asked(verb, z, *args, **options), z.shape)

    def support(self, d: Array) -> float:
        """Return the support of dom h; where h has none, derive it.

        A function with a Lipschitz constant is finite everywhere. h* of a set is positively
        homogeneous in d; that of another function is not, and its support is not known.
        """
        if hasattr(self.h, "support"):
            return self._number("support", d)
        if not np.any(d):
            return 0.0
        if self.lipschitz < inf:
            return inf
        near, far = self.conjugate(d), self.conjugate(FAR_FACTOR * d) / FAR_FACTOR
        same = near == far or abs(near - far) <= CONJUGATE_ROUNDING * self.conjugate_abs_sum(d)
        return near if same else inf

    def support_abs_sum(self, d: Array) -> float:
        return self._of_the_support("support_abs_sum", "conjugate_abs_sum", d)

    def support_error(self, d: Array) -> float:
        return self._of_the_support("support_error", "dual_error", d)

    def _of_the_support(self, verb: str, conjugate: str, d: Array) -> float:
        if hasattr(self.h, verb):
            return self._number(verb, d)
        return self._number(conjugate, d) if np.any(d) else 0.0

    def scaled(self, rows: Array, c: float) -> Provable:
        with UserPiece(self._letter, "the scaled form").asked():
            h = self.h.scaled(rows, c)
        return self._again(h, self._letter)
