"""The state of a method between two iterations: all that it needs to resume, except x."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, Point

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True, eq=False)
class State:
    """The state after iteration k: images Mx and Ax of x, the dual y, and what the driver reads.

    `s` is the last answer of the oracle, `w` the multiplier and `u` the Mx of that call (None if u
    is the Mx of this state). `value` is f(x), `gap` is f(x) + <w, Ax> minus its minimum over X, and
    `lower` is a lower bound on the optimum if the oracle kept its tolerance. `lam`, `eta` and
    `sigma` belong to the step, for methods that have them. `carry` is the record of what else the
    method needs to resume. `last` is True if the method can do no more. `refuting` holds unit
    vectors of a failed proof: the gradient is lower along them than this state estimates.
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
    carry: Any = None
    last: bool = False
    u: Array | None = None
    refuting: Array | None = None

    @classmethod
    def start(cls, problem: Problem, warm: Warm | None, *, carry: Any = None) -> State:
        """Return the state where `warm` ended, or k = 0 with nothing known of x."""
        x = None if warm is None else warm.x
        Mx = zeros_of(problem.f.M) if x is None else problem.f.M(x)
        Ax = zeros_of(problem.A) if x is None else problem.A(x)
        y = zeros_of(problem.A) if warm is None else warm.y
        k = 0 if warm is None or x is None else warm.k
        u = None if x is None else Mx
        return cls(k, Mx, Ax, y, y, None, problem.f.value(Mx), inf, -inf, carry=carry, u=u)

    @property
    def has_x(self) -> bool:
        """Whether there is an x: one that was given, or the atom of the first step."""
        return self.k > 0 or self.u is not None


# The first step from k = 0 discards x: a point worth keeping counts as this many steps.
LEAST_WARM_K = 2


@dataclass(frozen=True, eq=False)
class Warm:
    """Where to start: a point of X or None, a dual, the k of that point, and the penalty.

    k = 0 is the start of Algorithm 1 at x1 and y1. Where an earlier solve ended, k is at least
    `LEAST_WARM_K`.
    """

    x: Point | None
    y: Array
    k: int
    lam: float = nan
