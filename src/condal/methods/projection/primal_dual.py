"""The primal-dual hybrid gradient: projections onto X, proximal points of h, products with A.

    x+ = proj_X(x - tau (grad f(x) + A'y)),   y+ = prox_{sigma h*}(y + sigma A(2 x+ - x))

Chambolle and Pock (2011), with a smooth f as in Condat (2013) and Vu (2013). The method restarts
from the average of the steps when this is much better than the last restart, and rebalances tau and
sigma from the distances that x and y have moved (Applegate et al. 2021, for linear programs). Both
turn a slow rate into a linear one. Without h it is Nesterov's gradient method. For domains with a
cheap projection; the oracle serves only for the bound.
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
from condal.linalg.rounding import TINY
from condal.methods.choice import Estimate, Size, primal_dual_seconds
from condal.methods.projection.vectorise import Vectoriser
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_whole
from condal.types import Domain, Keeps, Projectable, Smooth, Storage, projects

if TYPE_CHECKING:
    from condal.problem import Problem

SUFFICIENT_DECREASE = 0.2  # of the error at the last restart: restart
NECESSARY_DECREASE = 0.8  # restart if the error also grows
MAX_ROUND = 0.36  # of all steps: restart after that many
CURVATURE_DECREASE = 0.95  # of the last curvature: the next trial
MAX_BALANCE_CHANGE = 1e4  # from the initial balance
SMOOTHING = 0.5  # the weight of the new balance
ERROR_ROUNDING = 1e-15  # an error of the normalised problem that cannot fall further
VECTORS = 20  # of the size of x, at the peak
CHOICE_PATIENCE = 100  # each iteration is several steps
MAX_MATRIX_SIDE = 500  # of a matrix that is decomposed at each step


@dataclass(frozen=True, eq=False)
class PrimalDualState:
    """x and y, their sums since the last restart, and the point and error of that restart.

    `balance` is sigma / tau apart from the curvature of f, and `usual` its initial value. `last` is
    the previous x, and `t` the parameter of Nesterov's momentum. `L` is the curvature along the
    last steps, which may be far less than that of f.
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
        """Return the state that starts at x and y."""
        return cls(x, y, balance, balance, x, y, np.zeros_like(x), np.zeros_like(y))

    def restarted(self, x: Array, y: Array, balance: float, error: float) -> PrimalDualState:
        """Return the state after a restart at x and y, which have that error."""
        fresh = PrimalDualState.first(x, y, balance)
        return replace(fresh, usual=self.usual, first_error=error, last_error=error, L=self.L)


@dataclass(frozen=True, eq=False)
class Pair:
    """x, the state of x and y, and its error: the largest of gap, infeasibility and price."""

    x: Array
    state: State
    error: float


@dataclass(frozen=True)
class PrimalDual:
    r"""Minimise :math:`f(x) + h(Ax)` over an X with a projection, by primal-dual gradient steps.

    .. math::

        x^+ = \operatorname{proj}_X(x - \tau (\nabla f(x) + A^\top y)), \quad
        y^+ = \operatorname{prox}_{\sigma h^*}(y + \sigma A (2 x^+ - x))

    Parameters
    ----------
    steps : int
        The number of steps per iteration; each iteration carries a bound.

    References
    ----------
    A. Chambolle, T. Pock. A first-order primal-dual algorithm for convex problems with applications
    to imaging. Journal of Mathematical Imaging and Vision 40, 2011.

    D. Applegate et al. Practical large-scale linear programming using primal-dual hybrid gradient.
    NeurIPS 2021.
    """

    name: ClassVar[str] = "primal-dual"
    keeps: ClassVar[Keeps] = "factor"

    steps: int = 20

    def __post_init__(self) -> None:
        require_whole(self.steps, "steps")

    def suits(self, problem: Problem) -> bool:
        """Whether X has a projection and its matrices are small."""
        return projects(problem.X) and Vectoriser.of(problem).largest <= MAX_MATRIX_SIDE

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, or why the method does not apply or another is faster."""
        if not self.suits(problem):
            return "it needs a domain with a projection, and matrices of small sides"
        size, why = Size.of(problem, tol), "projections onto X are cheap"
        if size.spectral:
            from condal.methods.projection.splitting import Splitting

            if Splitting().suits(problem):
                return "splitting takes fewer steps"
            why = f"n = {size.n} is small enough for a projection per step"
        return Estimate(primal_dual_seconds(size), why, patience=CHOICE_PATIENCE)

    def bytes(self, problem: Problem) -> int:
        """Return the size of the vectors of the method."""
        return 8 * VECTORS * Vectoriser.of(problem).size

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at the projection of 0, or at the point and dual of `warm`."""
        X = problem.X
        if not isinstance(X, Projectable):
            raise ProblemError(
                "the primal-dual method needs a domain with a projection: add project(v), the "
                "nearest point of X to v, to a domain of your own, or use condal.CGAL()"
            )
        flat = Vectoriser.of(problem)
        state = State.start(problem, warm)
        x = flat.point(np.zeros(flat.size))
        if warm is not None and warm.x is not None:
            x = warm.x
        first = flat.vector(X.project(flat.point(flat.vector(x))))
        y = problem.h.dual_point(state.y)
        return replace(state, carry=PrimalDualState.first(first, y, 1.0 / _square(X)))

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after `steps` steps; it is the last where rounding prevents progress."""
        state = start or self.start(problem)
        carry, s = state.carry, state.s
        assert isinstance(carry, PrimalDualState)
        flat = Vectoriser.of(problem)
        descend = _primal_dual if problem.A.size else _accelerated
        for k in count(state.k + 1):
            carry = descend(problem, flat, carry, self.steps)
            pair = _evaluate(problem, flat, carry.x, carry.y, s)
            if problem.A.size:
                mean_x, mean_y = carry.sum_x / carry.since, carry.sum_y / carry.since
                mean = _evaluate(problem, flat, mean_x, mean_y, s)
                pair = min(pair, mean, key=lambda either: either.error)
                carry = _restarted(carry, pair, k * self.steps)
            s = pair.state.s
            x.load(flat.point(pair.x))
            yield replace(pair.state, k=k, carry=carry, last=pair.error <= ERROR_ROUNDING)


def _primal_dual(
    problem: Problem, flat: Vectoriser, carry: PrimalDualState, steps: int
) -> PrimalDualState:
    """Take some steps, and add them up."""
    f, A, h = problem.f, problem.A, problem.h
    x, y, sum_x, sum_y = carry.x, carry.y, carry.sum_x.copy(), carry.sum_y.copy()
    root, norm = sqrt(carry.balance), A.norm or 1.0
    sigma, L = root / norm, min(carry.L, f.L)
    point = flat.point(x)
    Mx, Ax = f.M(point), A(point)
    for _ in range(steps):
        x, point, Mx, L = _descent(problem, flat, x, Mx, A.adjoint(y), L, root * norm)
        before, Ax = Ax, A(point)
        y = h.multiplier(y / sigma + 2 * Ax - before, sigma)
        sum_x += x
        sum_y += y
    return replace(carry, x=x, y=y, sum_x=sum_x, sum_y=sum_y, since=carry.since + steps, L=L)


def _accelerated(
    problem: Problem, flat: Vectoriser, carry: PrimalDualState, steps: int
) -> PrimalDualState:
    """Take some steps with momentum, which restarts where it leads uphill."""
    f = problem.f
    x, t, L = carry.x, carry.t, min(carry.L, f.L)
    last = x if carry.last is None else carry.last
    for _ in range(steps):
        longer = 0.5 * (1 + sqrt(1 + 4 * t * t))
        ahead = x + (t - 1) / longer * (x - last)
        Mx = f.M(flat.point(ahead))
        last = x
        x, _, _, L = _descent(problem, flat, ahead, Mx, None, L, 0.0)
        uphill = float((ahead - x) @ (x - last)) > 0  # O'Donoghue and Candes (2015)
        t = 1.0 if uphill else longer
    return replace(carry, x=x, last=last, t=t, L=L)


def _descent(
    problem: Problem,
    flat: Vectoriser,
    x: Array,
    Mx: Array,
    pull: Gradient | None,
    L: float,
    more: float,
) -> tuple[Array, Any, Array, float]:
    """Take a step of length 1 / (L + more) against grad f(x) + pull, with the smallest valid L.

    Return the new x as a vector and as a point, its image, and the next L to try.
    """
    f, X = problem.f, problem.X
    assert isinstance(X, Projectable)
    g = f.gradient(Mx)
    v = flat.gradient(add(f.M.adjoint(g), pull))
    while True:
        point = X.project(flat.point(x - v / (L + more or 1 / _square(X))))
        moved, image = flat.vector(point), f.M(point)
        way = moved - x
        if L >= f.L or _curved(f, Mx, image, g) <= 0.5 * L * float(way @ way):
            return moved, point, image, CURVATURE_DECREASE * L
        L = min(2 * L, f.L)


def _evaluate(problem: Problem, flat: Vectoriser, x: Array, y: Array, guess: Point | None) -> Pair:
    """Evaluate a pair: one oracle call."""
    f, h = problem.f, problem.h
    point, y = flat.point(x), h.dual_point(y)
    Mx, Ax = f.M(point), problem.A(point)
    g = f.gradient(Mx)
    v = add(f.M.adjoint(g), problem.A.adjoint(y))
    s = problem.X.lmo(v, guess=guess)
    value, least = f.value(Mx), dot(v, s)
    gap = float(g @ Mx) + float(y @ Ax) - least
    lower = value - float(g @ Mx) + least - h.conjugate(y)
    error = max(abs(value + h.value(Ax) - lower), h.distance(Ax), problem.price(Ax, y))
    return Pair(x, State(0, Mx, Ax, y, y, s, value, gap, lower), error)


def _restarted(carry: PrimalDualState, pair: Pair, steps: int) -> PrimalDualState:
    """Restart from the better of the last pair and the average, if the error fell enough."""
    error, y = pair.error, pair.state.y
    much, growing = error <= SUFFICIENT_DECREASE * carry.first_error, error > carry.last_error
    some = error <= NECESSARY_DECREASE * carry.first_error and growing
    if not (much or some or carry.since >= MAX_ROUND * steps):
        return replace(carry, last_error=error)
    way_x, way_y = _norm(pair.x - carry.first_x), _norm(y - carry.first_y)
    balance = carry.balance
    if way_x > TINY and way_y > TINY:
        observed = 2 * log(way_y / way_x)
        balance = exp(SMOOTHING * observed + (1 - SMOOTHING) * log(balance))
        balance = min(
            max(balance, carry.usual / MAX_BALANCE_CHANGE), carry.usual * MAX_BALANCE_CHANGE
        )
    return carry.restarted(pair.x, y, balance, error)


def _curved(f: Smooth, u: Array, ahead: Array, g: Array) -> float:
    """phi(ahead) minus its tangent at u, minus a bound on the rounding."""
    value, slope = f.value(u), float(g @ (ahead - u))
    return f.value(ahead) - value - slope - 1e-14 * abs(value)


def _norm(v: Array) -> float:
    return float(np.linalg.norm(v))


def _square(X: Domain) -> float:
    """The square of the norm of X; 1 for X = {0}, where any step works."""
    return X.max_norm**2 or 1.0
