"""The state of a method between two iterations: all that it needs to go on, apart from x."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

from condal.linalg.images import zeros_of
from condal.linalg.points import Array, Point

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True, eq=False)
class State:
    """After iteration k: the images Mx and Ax of x, the dual y, and what the driver reads.

    `w` is the multiplier at which the oracle was last called, `u` the Mx (None for that of the
    state) and `s` its answer; `value` is f(x), `gap` is f(x) + <w, Ax> less its minimum over X, and
    `lower` a lower bound on the optimum, if the oracle kept its tolerance. `lam`, `eta` and `sigma`
    are those of the step, where the method has such things; `own` is what else the method needs to
    go on, a record of its own. `last` says that it can do no more.
    """

    k: int
    Mx: Array
    Ax: Array
    y: Array
    w: Array
    s: Point | None
    value: float
    gap: float
    lower: float
    lam: float = nan
    eta: float = nan
    sigma: float = nan
    own: Any = None
    last: bool = False
    u: Array | None = None

    @classmethod
    def start(cls, problem: Problem, warm: Warm | None, *, own: Any = None) -> State:
        """Where `warm` ended, or k = 0 and nothing known of x."""
        x = None if warm is None else warm.x
        Mx = zeros_of(problem.f.M) if x is None else problem.f.M(x)
        Ax = zeros_of(problem.A) if x is None else problem.A(x)
        y = zeros_of(problem.A) if warm is None else warm.y
        # The first step from k = 0 forgets x: a point worth keeping is one after two steps.
        k = 0 if warm is None or x is None else max(warm.k, 2)
        return cls(k, Mx, Ax, y, y, None, problem.f.value(Mx), inf, -inf, own=own)


@dataclass(frozen=True, eq=False)
class Warm:
    """Where an earlier solve ended: its point (None if it is none of X), dual, k and penalty."""

    x: Point | None
    y: Array
    k: int
    lam: float = nan
