"""The primal-dual hybrid gradient: projections onto X, proximal points of h, products with A.

    x+ = proj_X(x - tau (grad f(x) + A'y)),   y+ = prox_{sigma h*}(y + sigma A(2 x+ - x))

Chambolle and Pock (2011), with a smooth f as Condat and Vu (2013) have it. From the average of the
steps it is begun anew wherever that is much better than the last beginning, and the balance of tau
and sigma is set from how far x and y went (Applegate et al. 2021, for linear programs): this turns
a slow rate into a linear one. Without h it is Nesterov's gradient method. For domains whose
projection is cheap; the oracle is asked for the bound alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient, add, dot
from condal.linalg.points import Array, Point
from condal.methods.projection.vectorise import Flattening
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Domain, Keeps, Projectable, Smooth, Storage, projects

if TYPE_CHECKING:
    from condal.problem import Problem

MUCH = 0.2  # of the error at the last beginning: reason enough to begin anew
SOME = 0.8  # reason enough, if the error has begun to grow
LONG = 0.36  # of all steps: long enough since the last beginning
LESS = 0.95  # of the curvature that was met: what is tried next
FARTHEST = 1e4  # that the balance may go from where it began
SMOOTHING = 0.5  # how much of the new balance is taken
ROUNDING = 1e-15  # an error of the normalised problem that will not fall
TINY = 1e-300
VECTORS = 20  # of the size of x, at the worst moment
LARGEST = 500  # side of a matrix that is decomposed at each step


@dataclass(frozen=True, eq=False)
class PrimalDualState:
    """x and y, their sums since the last beginning, and where that was, with its error.

    `balance` is sigma / tau but for the curvature of f, and `usual` what it was at first; `last` is
    the x before, and `t` the length of Nesterov's momentum. `L` is the curvature that the last
    steps met, which may be far less than the most that f has.
    """

    x: Array
    y: Array
    balance: float
    usual: float
    first_x: Array
    first_y: Array
    sum_x: Array
    sum_y: Array
    since: int = 0
    first_error: float = inf
    last_error: float = inf
    last: Array | None = None
    t: float = 1.0
    L: float = inf

    @classmethod
    def first(cls, x: Array, y: Array, balance: float) -> PrimalDualState:
        """Begun at x and y."""
        return cls(x, y, balance, balance, x, y, np.zeros_like(x), np.zeros_like(y))

    def anew(self, x: Array, y: Array, balance: float, error: float) -> PrimalDualState:
        """Begun anew at x and y, of that error."""
        begun = PrimalDualState.first(x, y, balance)
        return replace(begun, usual=self.usual, first_error=error, last_error=error, L=self.L)


@dataclass(frozen=True, eq=False)
class Pair:
    """x and y, their images, their bound, and the larger of their gap and their infeasibility."""

    x: Array
    y: Array
    point: Point
    Mx: Array
    Ax: Array
    s: Point
    value: float
    gap: float
    lower: float
    error: float


@dataclass(frozen=True)
class PrimalDual:
    """minimise f(x) + h(Ax) over an X that has a projection, by primal-dual gradient steps.

    Parameters
    ----------
    balance : sigma / tau to begin with, on the normalised problem whose x has a size of 1.
    steps : how many make an iteration; each iteration carries a bound.
    """

    name: ClassVar[str] = "primal-dual"
    keeps: ClassVar[Keeps] = "factor"

    balance: float = 1.0
    steps: int = 20

    def __post_init__(self) -> None:
        require_positive(self.balance, "balance")
        require_whole(self.steps, "steps")

    def suits(self, problem: Problem) -> bool:
        """Whether X has a projection, and matrices in it are small."""
        return projects(problem.X) and Flattening.of(problem).largest <= LARGEST

    def bytes(self, problem: Problem) -> int:
        """What its vectors of the size of x take."""
        return 8 * VECTORS * Flattening.of(problem).size

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """The projection of 0, or the point and the dual of `warm`."""
        X = problem.X
        if not isinstance(X, Projectable):
            raise ProblemError(
                "the primal-dual method needs a domain with a projection: add project(v), the "
                "nearest point of X to v, to a domain of your own, or use condal.CGAL()"
            )
        flat = Flattening.of(problem)
        state = State.start(problem, warm)
        x = flat.point(np.zeros(flat.size))
        if warm is not None and warm.x is not None:
            x = warm.x
        first = flat.vector(X.project(flat.point(flat.vector(x))))
        y = problem.h.dual_point(state.y)
        return replace(state, own=PrimalDualState.first(first, y, self.balance / _square(X)))

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after some steps; end where rounding stops it."""
        state = start or self.start(problem)
        if state.last:
            return
        own, s = state.own, state.s
        assert isinstance(own, PrimalDualState)
        flat = Flattening.of(problem)
        descend = _primal_dual if problem.A.size else _accelerated
        for k in count(state.k + 1):
            own = descend(problem, flat, own, self.steps)
            pair = _see(problem, flat, own.x, own.y, s)
            if problem.A.size:
                mean = _see(problem, flat, own.sum_x / own.since, own.sum_y / own.since, s)
                pair = min(pair, mean, key=lambda either: either.error)
                own = _begun_anew(own, pair, k * self.steps)
            s = pair.s
            x.load(pair.point)
            y, Mx, Ax, ended = pair.y, pair.Mx, pair.Ax, pair.error <= ROUNDING
            yield State(k, Mx, Ax, y, y, s, pair.value, pair.gap, pair.lower, own=own, last=ended)
            if ended:
                return


def _primal_dual(
    problem: Problem, flat: Flattening, own: PrimalDualState, steps: int
) -> PrimalDualState:
    """Some steps; their sums are kept."""
    f, A, h = problem.f, problem.A, problem.h
    x, y, sum_x, sum_y = own.x, own.y, own.sum_x.copy(), own.sum_y.copy()
    root, norm = sqrt(own.balance), A.norm or 1.0
    sigma, L = root / norm, min(own.L, f.L)
    point = flat.point(x)
    Mx, Ax = f.M(point), A(point)
    for _ in range(steps):
        x, point, Mx, L = _descent(problem, flat, x, Mx, A.adjoint(y), L, root * norm)
        before, Ax = Ax, A(point)
        y = h.multiplier(y / sigma + 2 * Ax - before, sigma)
        sum_x += x
        sum_y += y
    return replace(own, x=x, y=y, sum_x=sum_x, sum_y=sum_y, since=own.since + steps, L=L)


def _accelerated(
    problem: Problem, flat: Flattening, own: PrimalDualState, steps: int
) -> PrimalDualState:
    """Some steps with momentum, which is given up where it leads uphill."""
    f = problem.f
    x, last, t, L = own.x, own.x if own.last is None else own.last, own.t, min(own.L, f.L)
    for _ in range(steps):
        longer = 0.5 * (1 + sqrt(1 + 4 * t * t))
        ahead = x + (t - 1) / longer * (x - last)
        Mx = f.M(flat.point(ahead))
        last = x
        x, _, _, L = _descent(problem, flat, ahead, Mx, None, L, 0.0)
        uphill = float((ahead - x) @ (x - last)) > 0  # O'Donoghue and Candes (2015)
        t = 1.0 if uphill else longer
    return replace(own, x=x, last=last, t=t, L=L)


def _descent(
    problem: Problem,
    flat: Flattening,
    x: Array,
    Mx: Array,
    pull: Gradient | None,
    L: float,
    more: float,
) -> tuple[Array, Any, Array, float]:
    """A step against grad f(x) + pull, of length 1 / (L + more), L as small as it may be here: the
    new x, as a vector and as a point, its image, and an L to try next."""
    f, X = problem.f, problem.X
    assert isinstance(X, Projectable)
    g = f.gradient(Mx)
    v = flat.gradient(add(f.M.adjoint(g), pull))
    while True:
        point = X.project(flat.point(x - v / (L + more or 1 / _square(X))))
        moved, image = flat.vector(point), f.M(point)
        way = moved - x
        if L >= f.L or _curved(f, Mx, image, g) <= 0.5 * L * float(way @ way):
            return moved, point, image, LESS * L
        L = min(2 * L, f.L)


def _see(problem: Problem, flat: Flattening, x: Array, y: Array, guess: Point | None) -> Pair:
    """What is known of a pair: one call of the oracle."""
    f, h = problem.f, problem.h
    point, y = flat.point(x), h.dual_point(y)
    Mx, Ax = f.M(point), problem.A(point)
    g = f.gradient(Mx)
    v = add(f.M.adjoint(g), problem.A.adjoint(y))
    s = problem.X.lmo(v, guess=guess)
    value, least = f.value(Mx), dot(v, s)
    gap = float(g @ Mx) + float(y @ Ax) - least
    lower = value - float(g @ Mx) + least - h.conjugate(y)
    error = max(abs(value + h.value(Ax) - lower), h.distance(Ax))
    return Pair(x, y, point, Mx, Ax, s, value, gap, lower, error)


def _begun_anew(own: PrimalDualState, pair: Pair, steps: int) -> PrimalDualState:
    """From the better of the last pair and the average, where that is reason enough."""
    error = pair.error
    much, growing = error <= MUCH * own.first_error, error > own.last_error
    some = error <= SOME * own.first_error and growing
    if not (much or some or own.since >= LONG * steps):
        return replace(own, last_error=error)
    way_x, way_y = _norm(pair.x - own.first_x), _norm(pair.y - own.first_y)
    balance = own.balance
    if way_x > TINY and way_y > TINY:
        found = 2 * log(way_y / way_x)
        balance = exp(SMOOTHING * found + (1 - SMOOTHING) * log(balance))
        balance = min(max(balance, own.usual / FARTHEST), own.usual * FARTHEST)
    return own.anew(pair.x, pair.y, balance, error)


def _curved(f: Smooth, u: Array, ahead: Array, g: Array) -> float:
    """phi(ahead) less its tangent at u, and less what may be its rounding."""
    value, slope = f.value(u), float(g @ (ahead - u))
    return f.value(ahead) - value - slope - 1e-14 * abs(value)


def _norm(v: Array) -> float:
    return float(np.linalg.norm(v))


def _square(X: Domain) -> float:
    """The square of the size of X; 1 for X = {0}, where any step is as good."""
    return X.max_norm**2 or 1.0
