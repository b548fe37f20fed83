"""The state of a method between two iterations, and checks that a method applies to a problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

from condal.errors import ProblemError
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, Point
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Spectral, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem


MAX_LAM = 1e50  # and 1 / MAX_LAM is the least: penalties are squared and divided by


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

    @classmethod
    def of_dual(cls, problem: Problem, warm: Warm | None, carry: Any = None) -> State:
        """Return the state of the dual and the k of `warm`, for a method whose carry has x."""
        near = None if warm is None else replace(warm, x=None)
        state = cls.start(problem, near, carry=carry)
        return replace(state, k=0 if warm is None else warm.k)

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


def require_linear(problem: Problem, method: str) -> None:
    """Raise ProblemError unless f is linear."""
    if problem.f.L != 0:
        raise ProblemError(
            f"{method} needs a linear objective: got {type(problem.f).__name__}, with curvature "
            f"L = {problem.f.L:.3g}; use condal.CGAL()"
        )


def require_spectral(problem: Problem, method: str) -> Spectral:
    """Return X; raise ProblemError unless its points have factors."""
    if not isinstance(problem.X, Spectral):
        raise ProblemError(
            f"{method} needs a spectral domain, such as condal.Spectrahedron(n): this problem has "
            "another; use condal.CGAL()"
        )
    return problem.X


def require_blocks(problem: Problem, method: str) -> None:
    """Raise ProblemError unless the points of X, or of its blocks, have factors."""
    if spectral_parts(problem.X) is None:
        require_spectral(problem, method)


def require_lipschitz(problem: Problem, method: str) -> None:
    """Raise ProblemError unless h is finite everywhere, so without a constraint Ax in K."""
    if problem.h.lipschitz == inf:
        raise ProblemError(
            f"{method} needs a problem without a constraint Ax in K: got one with {problem.A.size} "
            "rows; use condal.CGAL()"
        )


def require_unconstrained(problem: Problem, method: str) -> None:
    """Raise ProblemError unless there is neither a constraint nor a nonsmooth term."""
    if problem.A.size:
        raise ProblemError(
            f"{method} needs a smooth objective over X alone: got Ax with {problem.A.size} rows; "
            "use condal.CGAL()"
        )


def require_penalty(lam: Any, name: str) -> None:
    """Raise ProblemError unless lam is a positive number that does not over- or underflow."""
    require_positive(lam, name)
    if not 1 / MAX_LAM <= lam <= MAX_LAM:
        raise ProblemError(
            f"{name} must be a positive number, from {1 / MAX_LAM:g} to {MAX_LAM:g}; got {lam!r}: "
            "1 is a good start, as problems are normalised"
        )


def require_factor(rank: int | None, seed: int = 0, aim: float | None = None) -> None:
    """Raise ProblemError unless a method over factors can take this rank, seed and aim."""
    if rank is not None:
        require_whole(rank, "rank")
    if aim is not None:
        require_positive(aim, "aim")
    require_whole(seed, "seed", least=0)
