"""The parts of a problem by their letters: A and K, B and g."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from condal.maps import Stack
from condal.sets import Separable
from condal.types import LinearMap, Provable


class ConstraintRows(NamedTuple):
    """A map and the function of its images, with the letters of both."""

    A: LinearMap
    h: Provable
    letters: tuple[str, str]


def rows_of(A: LinearMap, h: Provable) -> list[ConstraintRows]:
    """The pairs that h(Ax) is the sum of: one that is finite everywhere is g(Bx), another Ax in
    K."""
    if (
        isinstance(A, Stack)
        and isinstance(h, Separable)
        and [m.size for m in A.maps] == [part.size for part in h.parts]
    ):
        pairs = zip(A.maps, h.parts, strict=True)
        return [row for m, part in pairs for row in rows_of(m, part)]
    return [ConstraintRows(A, h, ("B", "g") if h.lipschitz < inf else ("A", "K"))]
