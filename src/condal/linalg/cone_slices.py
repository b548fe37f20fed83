"""Domains as sections of cones: what a method that stays inside of X has to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from condal.linalg.points import Array


@dataclass(frozen=True, eq=False)
class ConeSlice:
    """A part of X as a section of a cone, or a box; `n` is its side or its length.

    "psd": {x psd : tr x = bound}, "orthant": {x >= 0 : sum x = bound}, "second-order":
    {x : |(x_2, ..., x_n)| <= x_1 = bound}, each with <= for = if `at_most`; "box":
    {x : low <= x <= high}.
    """

    kind: Literal["psd", "orthant", "second-order", "box"]
    n: int
    bound: float = inf
    at_most: bool = False
    low: Array | None = None
    high: Array | None = None

    @property
    def length(self) -> int:
        """How many numbers a point of it takes."""
        return self.n**2 if self.kind == "psd" else self.n


def sections(X: Any) -> tuple[ConeSlice, ...] | None:
    """The sections whose points, one behind the other, make those of X; None if X is none such.

    A domain says so by an attribute `sections`; one that wraps another asks this.
    """
    parts = getattr(X, "parts", None)
    if parts is None:
        return getattr(X, "sections", None)
    found = [sections(part) for part in parts]
    known = tuple(one for some in found if some is not None for one in some)
    return None if None in found else known
