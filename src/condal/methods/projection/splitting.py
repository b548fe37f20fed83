"""Douglas and Rachford's splitting: x in X and h(Ax), each by its own proximal point.

    z = prox_{h A}(u),   x = proj_X(2 z - u - C / rho),   u <- u + alpha (x - z)

Alternating directions (Gabay 1983; Boyd et al. 2011) as one fixed-point iteration. It keeps dense
n x n matrices and takes an eigenvalue decomposition a step: for small n, where the rank of the
solution does not matter to it, nor how many constraints there are. rho balances the two residuals;
Anderson's acceleration takes what is linear out of the iteration, under a test of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import dot
from condal.linalg.points import Array, LowRank, dense
from condal.linalg.symmetric import Symmetric
from condal.methods.preconditions import require_linear, require_spectral
from condal.methods.projection.anderson import MEMORY, Anderson
from condal.methods.projection.composite import Composite
from condal.methods.projection.splitting_rows import fits
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

LOOK = 10  # steps from one bound to the next
EXACT = 0.01  # of the last residual: how far a proximal point may be off
SLACK = 0.02  # of the relative residual: how far the oracle of a bound may be off
FIRST_BALANCE = 10
LATER = 1.3  # how much later rho is looked at each time, so that it rests in the end
UNBALANCED = 1.25
FASTEST = 5.0
WORSE = 2.0  # times the residual before: an accelerated step that makes more is taken back
ROUNDING = 1e-15  # a relative residual that will not fall
TINY = 1e-300
MATRICES = 15  # of a step, at the worst moment
LARGEST = 2000  # n up to which the method may be chosen by itself


@dataclass(frozen=True, eq=False)
class SplittingState:
    """u and rho, and what a step begins from: y_L, the last z, the point and |x - z|.

    `ratio` sums log(primal/dual residual) over the `seen` steps since rho was looked at; it is at
    step `balance` again. `plain` is u without acceleration, if that was used.
    """

    u: Array
    tied: Array | None  # None before the first step, when u is x
    rho: float
    z: Array | None = None
    point: LowRank | None = None
    residual: float = inf
    anderson: Anderson = field(default_factory=Anderson)
    plain: Array | None = None
    ratio: float = 0.0
    seen: int = 0
    steps: int = 0
    balance: int = FIRST_BALANCE


@dataclass(frozen=True)
class Splitting:
    """minimise <C, x> + h(Ax) over a spectral domain of small n, by dense projections.

    Each state is a point of X, infeasible by as much as the method has to go; some carry a bound.

    Parameters
    ----------
    rho : the penalty to begin with, on the normalised problem, whose x has a trace of about 1.
    alpha : the relaxation, between 0 and 2.
    """

    name: ClassVar[str] = "splitting"
    keeps: ClassVar[Keeps] = "factor"

    rho: float = 1.0
    alpha: float = 1.6

    def __post_init__(self) -> None:
        require_positive(self.rho, "rho")
        require_positive(self.alpha, "alpha")
        if self.alpha >= 2:
            raise ProblemError(f"alpha must lie between 0 and 2; got {self.alpha!r}")

    def suits(self, problem: Problem) -> bool:
        """Whether it applies, with matrices small enough to factor some hundred times."""
        X = problem.X
        linear = problem.f.L == 0 and problem.h.separable
        if not linear or not isinstance(X, Spectral) or X.n > LARGEST:
            return False
        return fits(problem)

    def bytes(self, problem: Problem) -> int:
        """What its n x n matrices take: those of a step, and what is remembered of earlier ones."""
        X = problem.X
        return 8 * (2 * MEMORY + MATRICES) * X.n**2 if isinstance(X, Spectral) else 0

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """u from the point and the dual of `warm`, or from the centre of X."""
        require_linear(problem, "the splitting method")
        X = require_spectral(problem, "the splitting method")
        x = X.trace / X.n * np.eye(X.n)
        if warm is not None and warm.x is not None:
            x = np.asarray(dense(warm.x))
        own = SplittingState(x.ravel(), None, self.rho / X.max_norm**2)
        return replace(State.start(problem, warm), carry=own)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each projection onto X; end where rounding stops it."""
        X = problem.X
        state = start or self.start(problem)
        if state.last:
            return
        own, s = state.carry, state.s
        assert isinstance(X, Spectral)
        assert isinstance(own, SplittingState)
        n, g, matrix = X.n, Composite.of(problem, X.n), slice(0, X.n**2)
        u, tied = (own.u, own.tied) if own.tied is not None else g.start(own.u, state.y, own.rho)
        own, c = replace(own, u=u), np.zeros_like(u)
        c[matrix] = _cost(problem).to_dense().ravel()

        for k in count(state.k + 1):
            tol = EXACT * min(own.residual, X.max_norm)
            near = g.prox(own.u, own.rho, tied, tol=tol)
            tied = near.tied
            own = _balanced(own, near.z, c)
            image = 2 * near.z - own.u - c / own.rho  # its copies are as they should be
            point = X.project(image[matrix].reshape(n, n), own.point, tol=tol)
            np.matmul(point.U * point.weights, point.U.T, out=image[matrix].reshape(n, n))
            Mx, Ax = np.array([c @ image]), g.images(image[matrix])
            value = float(Mx[0])

            y = problem.h.dual_point(near.y)  # which rounding may have left
            residual = image - near.z
            own = self._stepped(replace(own, tied=tied, point=point), near.z, residual)
            relative = _norm(residual) / X.max_norm
            ended = relative <= ROUNDING
            gap, lower = inf, -inf
            if k % LOOK == 0 or ended:
                v = Symmetric(n, dense=(c[matrix] + g.adjoint(y)).reshape(n, n))
                slack = SLACK * relative
                s = X.lmo(v, slack, guess=s)
                least = dot(v, s) - slack
                gap, lower = value + float(y @ Ax) - least, least - problem.h.conjugate(y)
            x.load(point)
            yield State(k, Mx, Ax, y, y, s, value, gap, lower, carry=own, last=ended)
            if ended:
                return

    def _stepped(self, own: SplittingState, z: Array, residual: Array) -> SplittingState:
        """u + alpha (x - z), accelerated; or without that, if it made the residual grow."""
        size = _norm(residual)
        if own.plain is not None and size > WORSE * own.residual:
            return replace(own, u=own.plain, plain=None, anderson=Anderson(), z=None)
        step = self.alpha * residual
        plain = own.u + step
        anderson = own.anderson.after(plain, step)
        u = anderson.next()
        return replace(
            own,
            u=plain if u is None else u,
            plain=None if u is None else plain,
            anderson=anderson,
            z=z,
            residual=size,
        )


def _balanced(own: SplittingState, z: Array, c: Array) -> SplittingState:
    """With a rho for which |x - z| and the change of rho z are equal parts of what they belong to.

    z and the multiplier rho (u - z) stay what they are, whatever rho is.
    """
    own = replace(own, steps=own.steps + 1)
    if own.z is None:
        return own
    force = own.rho * (own.u - z)
    primal = own.residual / max(_norm(z), TINY)
    dual = own.rho * _norm(z - own.z) / max(_norm(c), _norm(force), TINY)
    ratio, seen = own.ratio + log(max(primal, TINY) / max(dual, TINY)), own.seen + 1
    if own.steps < own.balance:
        return replace(own, ratio=ratio, seen=seen)
    factor = min(max(exp(0.5 * ratio / seen), 1 / FASTEST), FASTEST)
    own = replace(own, ratio=0.0, seen=0, balance=int(LATER * own.steps) + FIRST_BALANCE)
    if 1 / UNBALANCED < factor < UNBALANCED:
        return own
    rho = factor * own.rho
    return replace(own, rho=rho, u=z + force / rho, anderson=Anderson(), plain=None)


def _cost(problem: Problem) -> Symmetric:
    """C of f(x) = <C, x>."""
    f = problem.f
    C = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    assert isinstance(C, Symmetric)
    return C


def _norm(v: Array) -> float:
    return sqrt(float(v @ v))
