"""How near the best an answer is, by what is proved: the same for a person and for --json."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.cli.application import Figures, Lines
from condal.cli.text import number, percent
from condal.result import Result

ROUNDING = 1e-11  # of the sum of all weights: a bound below it is 0 but for rounding


@dataclass(frozen=True)
class AtMost:
    """A value that was reached, where none is above a bound.

    `weights` are those that values are sums and differences of: if all are whole numbers, so is
    every value, and the best of them.
    """

    value: float
    bound: float
    weights: Any

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool(np.all(self.weights == np.rint(self.weights)))

    @property
    def most(self) -> float:
        """What no value is above."""
        return float(math.floor(self.bound)) if self.whole else self.bound

    @property
    def nothing(self) -> bool:
        """Whether the bound is 0 but for rounding."""
        return 0 < self.bound <= ROUNDING * float(np.abs(self.weights).sum())

    @property
    def best(self) -> bool:
        """Whether it is proved that the value is the best."""
        return self.whole and self.value == self.most

    @property
    def share(self) -> float | None:
        """At least what part of the best the value is; None where the bound does not say."""
        if not math.isfinite(self.bound):
            return None
        if self.best:
            return 1.0
        if self.most <= 0 or self.value < 0 or self.nothing:
            return None
        return min(self.value, self.most) / self.most

    def lines(self, none: str, what: str) -> Lines:
        """The bound, by which there is `none` better, and how good that proves the value, of
        `what`, to be."""
        shown = number(self.bound, up=True)
        if self.nothing:
            shown = "0" if self.whole else "0 up to rounding"
        rows = [("bound", f"{shown}, {none}")]
        if self.best:
            return [*rows, ("quality", f"the best possible: {none}")]
        if self.share is None:
            return rows
        share = percent(self.share, 1.0)
        return [*rows, ("quality", f"at least {share} of the best possible {what}")]


def cost_figures(result: Result, found: Any | None, excess: Callable[[Any], float]) -> Figures:
    """The cost of what was found, and how much of it is too much at most."""
    if found is None:
        return {"cost": None, "excess": None}
    return {
        "cost": found.cost,
        "excess": excess(found) if math.isfinite(result.bound) else None,
    }
