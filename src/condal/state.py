"""The state of a method between two iterations: all that it needs to go on, apart from x."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condal.points import Array, Point
from condal.problem import Problem


@dataclass(frozen=True, eq=False)
class State:
    """After iteration k: the images Mx and Ax of x_{k+1}, the dual y_{k+1}, and what step k did.

    `w` is the multiplier at which the oracle was called, `value` is f(x_{k+1}), `gap` the
    Frank-Wolfe gap and `lower` a lower bound on the optimum, if the oracle kept its tolerance.
    """

    k: int
    Mx: Array
    Ax: Array
    y: Array
    w: Array
    s: Point | None
    lam0: float
    lam: float
    eta: float
    sigma: float
    value: float
    gap: float
    lower: float

    @classmethod
    def start(
        cls, problem: Problem, lam0: float, *, x: Point | None = None, y: Array | None = None
    ) -> State:
        """k = 0: nothing known of x unless a point is given (the first step then forgets it)."""
        Mx = np.zeros(problem.f.M.size) if x is None else problem.f.M(x)
        Ax = np.zeros(problem.A.size) if x is None else problem.A(x)
        y = np.zeros(problem.A.size) if y is None else y
        value = problem.f.value(Mx)
        return cls(0, Mx, Ax, y, y, None, lam0, lam0, 1.0, 0.0, value, float("inf"), float("-inf"))
