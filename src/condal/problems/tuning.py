"""The best of a parameter that grows: a radius, by what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

STEP = 2**0.5
BETTER = 0.999  # of the least loss: a smaller gain is chance
WORSE = 2  # values in turn that are no better than the best: further ones would not be, either
MOST = 24


@dataclass(frozen=True)
class Trial:
    """The loss of a value, and whether no larger one is to be tried."""

    loss: float
    last: bool = False


def best_of_growing(trial: Callable[[float], Trial], first: float) -> float:
    """The value of least loss among first, sqrt(2) first, 2 first, ..., which end when two in turn
    are no better than the best, when a trial says so, or after 24.

    For a loss that falls and then rises, as that of predictions does when a model is allowed more.
    """
    value = best = first
    least, worse = inf, 0
    for _ in range(MOST):
        found = trial(value)
        if found.loss < BETTER * least:
            best, least, worse = value, found.loss, 0
        else:
            worse += 1
        if worse >= WORSE or found.last:
            break
        value *= STEP
    return best
