"""The best of a parameter that grows: a radius, by what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

STEP = 2**0.5
WORSE = 2  # values in turn that are worse than the best: further ones would be, too
MOST = 24


def best_of_growing(loss: Callable[[float], float], first: float) -> float:
    """The value of least loss among first, sqrt(2) first, 2 first, ..., which end when two in turn
    are no better than the best, or after 24.

    For a loss that falls and then rises, as that of predictions does when a model is allowed more.
    """
    value = best = first
    least, worse = inf, 0
    for _ in range(MOST):
        found = loss(value)
        if found < least:
            best, least, worse = value, found, 0
        else:
            worse += 1
        if worse >= WORSE:
            break
        value *= STEP
    return best
