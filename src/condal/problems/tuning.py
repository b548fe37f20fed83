"""Choose a growing parameter, such as a radius, by the loss of its predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

GROWTH = 2**0.5
IMPROVEMENT = 0.999  # a loss must fall below this fraction of the least to count as better
MAX_FAILURES = 2  # consecutive values without improvement that end the search
MAX_VALUES = 24


@dataclass(frozen=True)
class Trial:
    """The loss at a value, and whether larger values should not be tried."""

    loss: float
    last: bool = False


def best_of_growing(trial: Callable[[float], Trial], first: float) -> float:
    """Return the value of least loss among first, sqrt(2) first, 2 first, ...

    The search ends after two values in turn that do not improve on the best, when a trial says so,
    or after 24 values. It suits losses that fall and then rise as a model gains freedom.
    """
    value = best = first
    least, failures = inf, 0
    for _ in range(MAX_VALUES):
        outcome = trial(value)
        if outcome.loss < IMPROVEMENT * least:
            best, least, failures = value, outcome.loss, 0
        else:
            failures += 1
        if failures >= MAX_FAILURES or outcome.last:
            break
        value *= GROWTH
    return best
