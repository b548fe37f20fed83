"""Objectives f, sets K and functions g, guarded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condal.guards.faults import Piece
from condal.guards.maps import Guard
from condal.points import Array
from condal.types import LinearMap, Proximable, Smooth


class GuardedObjective:
    """f, its values and gradients looked at."""

    def __init__(self, f: Smooth, letter: str, again: Guard) -> None:
        self.f, self._letter, self._again = f, letter, again
        self._value, self._gradient = Piece(letter, "the value"), Piece(letter, "the gradient")
        self._rest = Piece(letter, "the constant L")

    @cached_property
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

    def scaled(self, c: float) -> Smooth:
        """c f, guarded."""
        with self._value.asked():
            f = self.f.scaled(c)
        return self._again(f, self._letter)

    def magnitude(self, size: float) -> float:
        """That of f."""
        with self._value.asked():
            return self._value.number(self.f.magnitude(size))


class GuardedFunction:
    """h, its prox, values and multipliers looked at."""

    def __init__(self, h: Proximable, letter: str, again: Guard) -> None:
        self.h, self._letter, self._again = h, letter, again
        self._verbs = {
            verb: Piece(letter, f"the {name}")
            for verb, name in (
                ("prox", "prox"),
                ("value", "value"),
                ("distance", "distance"),
                ("outward", "normal"),
                ("conjugate", "conjugate"),
                ("conjugate_size", "size of the conjugate"),
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

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
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

    def outward(self, z: Array) -> Array:
        """That of h."""
        return self._array("outward", z)

    def conjugate(self, y: Array) -> float:
        """That of h."""
        return self._number("conjugate", y)

    def conjugate_size(self, y: Array) -> float:
        """That of h."""
        return self._number("conjugate_size", y)

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """That of h."""
        return self._array("multiplier", z, lam, out=out)

    def dual_point(self, y: Array) -> Array:
        """That of h."""
        return self._array("dual_point", y)

    def dual_error(self, y: Array) -> float:
        """That of h."""
        return self._number("dual_error", y)

    def scaled(self, rows: Array, c: float) -> Proximable:
        """h scaled, guarded."""
        with Piece(self._letter, "the scaled form").asked():
            h = self.h.scaled(rows, c)
        return self._again(h, self._letter)
