"""A problem in two forms: condal's, and the one that the judge uses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Asked:
    """The problem for CVXPY: condal's objective is `factor` times this one. `ties` are the
    constraints that represent Ax in K, each with the factor of its duals."""

    problem: Any
    factor: float = 1.0
    ties: Sequence[tuple[Any, Any]] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """A problem for condal, and the same problem in NumPy and CVXPY.

    `value(x)` is the objective, `off(x)` how far x is outside of X as a part of its size,
    `missed(x)` the distance of Ax from K, all of x as the result shows it. `separation(d)` is
    (min_X <A'd, .>, sup_K <d, .>, the size of their terms). `upper` is the objective of a point
    that is feasible without any rounding: no optimum is worse. `margin` is a lower bound on the
    distance of A(X) from K, positive if the problem is infeasible, 0 if it is feasible, nan where
    nobody knows.
    """

    family: str
    story: str
    model: Any
    asked: Callable[[], Asked]
    value: Callable[[Any], float]
    off: Callable[[Any], float]
    missed: Callable[[Any], float]
    maximise: bool = False
    separation: Callable[[np.ndarray], tuple[float, float, float]] | None = None
    upper: float = np.inf
    margin: float = np.nan

    @property
    def sense(self) -> float:
        return -1.0 if self.maximise else 1.0
