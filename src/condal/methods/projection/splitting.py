"""Douglas-Rachford splitting: x in X and h(Ax), each by its carry proximal point.

    z = prox_{h A}(u),   x = proj_X(2 z - u - C / rho),   u <- u + alpha (x - z)

The alternating direction method (Gabay 1983; Boyd et al. 2011) as a fixed-point iteration. It keeps
dense n x n matrices and takes one eigenvalue decomposition per step: for small n, whatever the rank
of the solution and the number of constraints. rho balances the errors of x and y. Anderson
acceleration removes the linear part of the iteration; each accelerated step is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.linalg.blocked import block_slices
from condal.linalg.gradients import dot
from condal.linalg.points import Array, LowRank, dense
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.methods.choice import SPLITTING_SPREAD, Estimate, Size, splitting_seconds
from condal.methods.projection.anderson import MEMORY, Anderson
from condal.methods.projection.composite import Composite
from condal.methods.projection.nonnegative_rows import NonNegativeRows
from condal.methods.projection.splitting_rows import fits
from condal.methods.state import State, Warm, require_linear, require_spectral
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

FIRST_RHO = 1.0  # on the normalised problem, where x has a trace of about 1
ALPHA = 1.6  # the relaxation, between 0 and 2
BOUND_EVERY = 10  # steps
PROX_ERROR = 0.01  # of the last residual
ORACLE_ERROR = 0.02  # of the relative residual, for a bound
BALANCE_GROWTH = 1.3  # of the steps between two balances of rho, so that rho converges
UNBALANCED = 1.25  # the least factor that changes rho
MAX_BALANCE = 5.0  # the largest factor that changes rho
MIN_OBJECTIVE = 1e-4  # of its range: errors are relative to an objective of at least this
DRIFT = 0.05  # of a step: the change of one that repeats the step before
WORSE = 2.0  # times the residual before: an accelerated step that exceeds it is taken back
RESIDUAL_ROUNDING = 1e-15  # a relative residual that cannot fall further
MATRICES = 15  # of a step, at the peak
MAX_SIDE = 2000  # n up to which the method may be chosen automatically,
MAX_ROWS_SIDE = 7000  # or for row sums and nonnegative entries, which need no sparse A
LARGE_SIDE = 1500  # n from which passes over the matrices of the acceleration cost too much
LARGE_MEMORY = 5  # steps that the acceleration then uses


@dataclass(frozen=True, eq=False)
class SplittingState:
    """u and rho, and the warm starts of a step: y_L, the point and |x - z|.

    `ratio` sums log(primal/dual error) over the `seen` bounds since the last balance of rho; the
    next balance is after step `balance`. `plain` is u without acceleration, if it was accelerated,
    and `stretch` the multiple of the step that was taken.
    """

    u: Array
    tied: Array | None  # None before the first step, when u is x
    rho: float
    point: LowRank | None = None
    residual: float = inf
    anderson: Anderson = field(default_factory=Anderson)
    plain: Array | None = None
    stretch: float = 1.0
    ratio: float = 0.0
    seen: int = 0
    steps: int = 0
    balance: int = 0


@dataclass(frozen=True)
class Splitting:
    r"""Minimise :math:`\langle C, x \rangle + h(Ax)` over a spectral domain of small n.

    Each step takes a dense projection onto X. Each state is a point of X whose infeasibility tends
    to 0; every tenth state carries a bound.

    References
    ----------
    S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein. Distributed optimization and statistical
    learning via the alternating direction method of multipliers. Foundations and Trends in Machine
    Learning 3, 2011.
    """

    name: ClassVar[str] = "splitting"
    keeps: ClassVar[Keeps] = "factor"

    def suits(self, problem: Problem) -> bool:
        """Whether the method applies, with matrices small enough to factor some hundred times."""
        X = problem.X
        linear = problem.f.L == 0 and problem.h.separable
        if not linear or not isinstance(X, Spectral):
            return False
        if NonNegativeRows.of(problem, X.n) is not None:
            return X.n <= MAX_ROWS_SIDE
        return X.n <= MAX_SIDE and fits(problem)

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, or why the method does not apply."""
        if not self.suits(problem):
            return "it needs a linear f, a separable h, and rows and a side that allow projections"
        size = Size.of(problem, tol)
        why = f"n = {size.n} is small enough for an eigenvalue decomposition per step"
        return Estimate(splitting_seconds(size, problem.A.terms), why, SPLITTING_SPREAD)

    def bytes(self, problem: Problem) -> int:
        """Return the size of its n x n matrices, those of the acceleration included."""
        X = problem.X
        return 8 * (2 * _memory(X.n) + MATRICES) * X.n**2 if isinstance(X, Spectral) else 0

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at the point and dual of `warm`, or at the centre of X."""
        require_linear(problem, "the splitting method")
        X = require_spectral(problem, "the splitting method")
        x = X.trace / X.n * np.eye(X.n)
        if warm is not None and warm.x is not None:
            x = np.asarray(dense(warm.x))
        anderson = Anderson(memory=_memory(X.n))
        carry = SplittingState(x.ravel(), None, FIRST_RHO / X.max_norm**2, anderson=anderson)
        return replace(State.start(problem, warm), carry=carry)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each projection; the last where rounding prevents progress."""
        X = problem.X
        state = start or self.start(problem)
        carry, s = state.carry, state.s
        assert isinstance(X, Spectral)
        assert isinstance(carry, SplittingState)
        n, matrix = X.n, slice(0, X.n**2)
        g = NonNegativeRows.of(problem, n) or Composite.of(problem, n)
        u, tied = carry.u, carry.tied
        if tied is None:
            u, tied = g.start(u, state.y, carry.rho)
        carry, c = replace(carry, u=u), np.zeros_like(u)
        C = problem.f.M.adjoint(problem.f.gradient(np.zeros(problem.f.M.size)))
        assert isinstance(C, Symmetric)
        c[matrix] = C.to_dense().ravel()

        for k in count(state.k + 1):
            # z = prox_{h A}(u)
            tol = PROX_ERROR * min(carry.residual, X.max_norm)
            near = g.prox(carry.u, carry.rho, tied, tol=tol)
            z, tied = near.z, near.tied
            carry = _balanced(carry, z)

            # x = proj_X(2 z - u - C / rho); `image` is x and its copies
            image = _reflected(z, carry.u, c, carry.rho)
            point = X.project(image[matrix].reshape(n, n), carry.point, tol=tol)
            some = point.weights > 0
            U, weights = point.U[:, some], point.weights[some]
            np.matmul(U * weights, U.T, out=image[matrix].reshape(n, n))
            Mx, Ax = np.array([c @ image]), g.images(image[matrix])
            value = float(Mx[0])

            # u <- u + alpha (x - z)
            residual = np.subtract(image, z, out=image)
            size = _norm(residual)
            carry = _stepped(replace(carry, tied=tied, point=point), residual, size)

            y = problem.h.dual_point(near.y)  # rounding may have left dom h*
            relative = size / X.max_norm
            ended = relative <= RESIDUAL_ROUNDING
            gap, lower = inf, -inf
            if k % BOUND_EVERY == 0 or ended:
                v = (c[matrix] + g.adjoint(y)).reshape(n, n)
                slack = max(ORACLE_ERROR * relative, RESIDUAL_ROUNDING)
                s = _least_point(X, v, slack, point)
                least = dot(Symmetric(n, dense=v), s) - slack
                gap, lower = value + float(y @ Ax) - least, least - problem.h.conjugate(y)
                primal, dual = _errors(problem, Ax, y, z[matrix], value, gap)
                ratio = carry.ratio + log(primal) - log(dual)  # the quotient may underflow
                carry = replace(carry, ratio=ratio, seen=carry.seen + 1)
            x.load(point)
            yield State(k, Mx, Ax, y, y, s, value, gap, lower, carry=carry, last=ended)


def _stepped(carry: SplittingState, residual: Array, size: float) -> SplittingState:
    """u + alpha (x - z), accelerated unless the last acceleration increased the residual.

    A step that repeats the one before has no differences to accelerate from: u drifts along a
    ray until the rank of x or an active set changes. The steps along it are doubled. The
    residual is overwritten.
    """
    if carry.plain is not None and size > WORSE * carry.residual:
        anderson = carry.anderson.restarted()
        return replace(carry, u=carry.plain, plain=None, anderson=anderson, stretch=1.0)
    step = np.multiply(residual, ALPHA, out=residual)
    plain = carry.u + step
    anderson = carry.anderson.after(plain, step)
    drifts = anderson.change <= DRIFT * ALPHA * size
    stretch = 2 * carry.stretch if drifts else 1.0
    u = carry.u + stretch * step if drifts else anderson.next()
    return replace(
        carry,
        u=plain if u is None else u,
        plain=None if u is None else plain,
        anderson=anderson,
        stretch=stretch,
        residual=size,
    )


def _errors(
    problem: Problem, Ax: Array, y: Array, z: Array, value: float, gap: float
) -> tuple[float, float]:
    """The relative errors of x and y: infeasibility or the gap of h, and the gap over X.

    Both gaps sum to that of x and y. |A| max|x| = 1 on the normalised problem, so the image of a
    point like z has a size of about |z| / max|x|.
    """
    h, unit = problem.h, max(abs(value), MIN_OBJECTIVE)
    infeasibility = h.distance(Ax) * problem.X.max_norm / max(_norm(z), TINY)
    complementarity = abs(h.value(Ax) + h.conjugate(y) - float(y @ Ax)) / unit
    return max(infeasibility, complementarity, TINY), max(gap / unit, TINY)


def _balanced(carry: SplittingState, z: Array) -> SplittingState:
    """Choose rho so that x and y reach a tolerance together.

    The error of x falls as rho grows and that of y rises, about in proportion. z and the multiplier
    rho (u - z) do not change with rho.
    """
    carry = replace(carry, steps=carry.steps + 1)
    if carry.steps <= carry.balance or not carry.seen:
        return carry
    factor = exp(0.5 * carry.ratio / carry.seen)
    factor = min(max(factor, 1 / MAX_BALANCE), MAX_BALANCE)
    carry = replace(carry, ratio=0.0, seen=0, balance=int(BALANCE_GROWTH * carry.steps))
    if 1 / UNBALANCED < factor < UNBALANCED:
        return carry
    u, anderson = z + (carry.u - z) / factor, carry.anderson.restarted()
    return replace(carry, rho=factor * carry.rho, u=u, anderson=anderson, plain=None, stretch=1.0)


def _least_point(X: Spectral, v: Array, slack: float, guess: LowRank) -> LowRank:
    """Return a point of X that minimises <v, .> up to the slack.

    It is proj_X(-t v), which minimises <v, x> + |x|^2 / 2t: the error is at most max|x|^2 / 2t, and
    2 e max|x| / t more if the projection has the error e. A Lanczos process may mistake another
    eigenvalue for the smallest, and rho would follow it.
    """
    return X.project(-(X.max_norm**2) / slack * v, guess, tol=0.125 * X.max_norm)


def _memory(n: int) -> int:
    """The steps that the acceleration uses."""
    return MEMORY if n < LARGE_SIDE else LARGE_MEMORY


def _reflected(z: Array, u: Array, c: Array, rho: float) -> Array:
    """2 z - u - c / rho."""
    out = np.empty_like(z)
    for block in block_slices(z.size):
        part = np.multiply(c[block], -1 / rho, out=out[block])
        part += z[block]
        part += z[block]
        part -= u[block]
    return out


def _norm(v: Array) -> float:
    return sqrt(float(v @ v))
