"""Domains as slices of cones: the form that interior methods need."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Literal

from condal.linalg.points import Array


@dataclass(frozen=True, eq=False)
class ConeSlice:
    """A block of X as a slice of a cone, or as a box; `n` is its side or its length.

    "psd": {x psd : tr x = bound}, "orthant": {x >= 0 : sum x = bound}, "second-order":
    {x : |(x_2, ..., x_n)| <= x_1 = bound}, each with <= in place of = if `at_most`; "box":
    {x : low <= x <= high}.
    """

    kind: Literal["psd", "orthant", "second-order", "box"]
    n: int
    bound: float = inf
    at_most: bool = False
    low: Array | None = None
    high: Array | None = None
    packed: ClassVar[bool] = False  # a matrix has all its entries,
    doubled: ClassVar[bool] = False  # each once

    @property
    def length(self) -> int:
        """The number of entries of a point."""
        return self.n**2 if self.kind == "psd" else self.n


def sections(X: Any) -> tuple[ConeSlice, ...] | None:
    """Return the slices that X is the product of, from its attribute `sections`; None if unknown.

    A product of domains is known if all its parts are.
    """
    parts = getattr(X, "parts", None)
    if parts is None:
        return getattr(X, "sections", None)
    slices: list[ConeSlice] = []
    for part in parts:
        known = sections(part)
        if known is None:
            return None
        slices += known
    return tuple(slices)
