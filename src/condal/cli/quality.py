"""How close to optimal an answer is proved to be, in words and for --json."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.cli.application import Figures, Lines
from condal.cli.text import number, percent
from condal.result import Result

ZERO_BOUND = 1e-11  # share of the sum of all weights; a bound below it is 0 up to rounding


@dataclass(frozen=True)
class AtMost:
    """A value of a maximisation problem and an upper bound.

    All values are sums and differences of `weights`: with integer weights all values are integers.
    """

    value: float
    bound: float
    weights: Any

    @property
    def whole(self) -> bool:
        """Whether all values are integers."""
        return bool(np.all(self.weights == np.rint(self.weights)))

    @property
    def most(self) -> float:
        """An upper bound on all values, rounded down if they are integers."""
        return float(math.floor(self.bound)) if self.whole else self.bound

    @property
    def zero_bound(self) -> bool:
        """Whether the bound is 0 up to rounding."""
        return 0 < self.bound <= ZERO_BOUND * float(np.abs(self.weights).sum())

    @property
    def best(self) -> bool:
        """Whether the value is proved to be optimal."""
        return self.whole and self.value == self.most

    @property
    def share(self) -> float | None:
        """A lower bound on value / optimum; None if the bound gives none."""
        if not math.isfinite(self.bound):
            return None
        if self.best:
            return 1.0
        if self.most <= 0 or self.value < 0 or self.zero_bound:
            return None
        return min(self.value, self.most) / self.most

    def lines(self, none: str, what: str) -> Lines:
        """Return the bound with the statement `none`, and how good that proves the `what` to be."""
        shown = number(self.bound, up=True)
        if self.zero_bound:
            shown = "0" if self.whole else "0 up to rounding"
        rows = [("bound", f"{shown}, {none}")]
        if self.best:
            return [*rows, ("quality", f"the best possible: {none}")]
        if self.share is None:
            return rows
        share = percent(self.share, 1.0)
        return [*rows, ("quality", f"at least {share} of the best possible {what}")]


def cost_figures(result: Result, answer: Any | None, excess: Callable[[Any], float]) -> Figures:
    """Return the cost of an answer and an upper bound on its relative excess."""
    if answer is None:
        return {"cost": None, "excess": None}
    return {
        "cost": answer.cost,
        "excess": excess(answer) if math.isfinite(result.bound) else None,
    }
