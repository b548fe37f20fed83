"""Errors of the rows, allowed at a price, for problems whose multipliers are not unique.

Where the rows of J are dependent at a solution, many multipliers make S R = 0, and only some of
them make S psd: those of least squares may never prove the optimum. With the rows A(R R') + size e
= b and the objective <C, R R'> + |e|^2 / 2 + size <anchor, e>, the multiplier is the proximal step

    y = argmax (dual objective of y - size^2 |y - anchor|^2 / 2)

from the anchor: the method of multipliers, which converges to a multiplier that proves the optimum.
The infeasibility of R is size^2 |y - anchor|. J J' grows by size^2 I, so its equations are easy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, sqrt

import numpy as np

from condal.linalg.points import Array

FIRST_SIZE = 0.3  # times the root of the usual diagonal entry of J J'
LEAST_SIZE = 1e-3  # times the first
FASTER = 0.3  # ratio of the infeasibilities of two rounds, above which the size is halved
ROUND_SHARE = 0.3  # of the gap or the price: the residual at the end of a round
MAX_ROUND_RESIDUAL = 0.03


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The size of the errors, the anchor, and the infeasibility after the last round."""

    size: float
    anchor: Array
    least: float
    infeasibility: float = inf

    @classmethod
    def of(cls, diagonal: Array, anchor: Array) -> Relaxation:
        """Return the first relaxation, given the diagonal of J J' and a multiplier."""
        size = FIRST_SIZE * sqrt(float(np.median(diagonal)) or float(diagonal.max()))
        return cls(size, anchor, LEAST_SIZE * size)

    @cached_property
    def price(self) -> Array:
        """What an error costs."""
        return self.size * self.anchor

    def round_ends(self, residual: float, price: float, gap: float, aim: float) -> bool:
        """Whether a point is near enough to a solution of this round; all numbers are relative."""
        due = ROUND_SHARE * max(abs(price), min(gap, 1.0))
        return residual <= max(0.1 * aim, min(MAX_ROUND_RESIDUAL, due))

    def next_round(self, multiplier: Array, infeasibility: float) -> Relaxation:
        """Return the relaxation around another multiplier; smaller if the last round did little."""
        slow = infeasibility > FASTER * self.infeasibility
        size = max(self.least, 0.5 * self.size) if slow else self.size
        return replace(self, size=size, anchor=multiplier, infeasibility=infeasibility)
