"""Douglas-Rachford splitting: x in X and h(Ax), each by its carry proximal point.

    z = prox_{h A}(u),   x = proj_X(2 z - u - C / rho),   u <- u + alpha (x - z)

The alternating direction method (Gabay 1983; Boyd et al. 2011) as a fixed-point iteration. It keeps
dense n x n matrices and takes one eigenvalue decomposition per step: for small n, whatever the rank
of the solution and the number of constraints. rho balances the two residuals. Anderson acceleration
removes the linear part of the iteration; each accelerated step is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import block_slices
from condal.linalg.gradients import dot
from condal.linalg.points import Array, LowRank, dense
from condal.linalg.symmetric import Symmetric
from condal.methods.preconditions import require_linear, require_spectral
from condal.methods.projection.anderson import MEMORY, Anderson
from condal.methods.projection.composite import Composite
from condal.methods.projection.nonnegative_rows import NonNegativeRows
from condal.methods.projection.splitting_rows import fits
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

BOUND_EVERY = 10  # steps
PROX_ERROR = 0.01  # of the last residual
ORACLE_ERROR = 0.02  # of the relative residual, for a bound
FIRST_BALANCE = 10  # the step of the first balance of rho
BALANCE_GROWTH = 1.3  # of the interval between balances, so that rho converges
UNBALANCED = 1.25  # the least factor that changes rho
MAX_BALANCE = 5.0  # the largest factor that changes rho
WORSE = 2.0  # times the residual before: an accelerated step that exceeds it is taken back
RESIDUAL_ROUNDING = 1e-15  # a relative residual that cannot fall further
TINY = 1e-300
MATRICES = 15  # of a step, at the peak
MAX_SIDE = 2000  # n up to which the method may be chosen automatically,
MAX_ROWS_SIDE = 7000  # or for row sums and nonnegative entries, which need no sparse A
WARM_RHO = 0.3  # of rho for these rows, if a multiplier is known: measured, 30 steps for 40
LARGE_SIDE = 1500  # n from which passes over the matrices of the acceleration cost too much
LARGE_MEMORY = 5  # steps that the acceleration then uses


@dataclass(frozen=True, eq=False)
class SplittingState:
    """u and rho, and the warm starts of a step: y_L, the last z, the point and |x - z|.

    `ratio` sums log(primal/dual residual) over the `seen` steps since the last balance of rho; the
    next balance is at step `balance`. `plain` is u without acceleration, if it was accelerated.
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
    r"""Minimise :math:`\langle C, x \rangle + h(Ax)` over a spectral domain of small n.

    Each step takes a dense projection onto X. Each state is a point of X whose infeasibility tends
    to 0; every tenth state carries a bound.

    Parameters
    ----------
    rho : float
        The initial penalty, on the normalised problem, where x has a trace of about 1.
    alpha : float
        The relaxation, between 0 and 2.

    References
    ----------
    S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein. Distributed optimization and statistical
    learning via the alternating direction method of multipliers. Foundations and Trends in Machine
    Learning 3, 2011.
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
        """Whether the method applies, with matrices small enough to factor some hundred times."""
        X = problem.X
        linear = problem.f.L == 0 and problem.h.separable
        if not linear or not isinstance(X, Spectral):
            return False
        if NonNegativeRows.of(problem, X.n) is not None:
            return X.n <= MAX_ROWS_SIDE
        return X.n <= MAX_SIDE and fits(problem)

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
        rho, anderson = self.rho / X.max_norm**2, Anderson(memory=_memory(X.n))
        if warm is not None and NonNegativeRows.of(problem, X.n) is not None:
            rho *= WARM_RHO
        carry = SplittingState(x.ravel(), None, rho, anderson=anderson)
        return replace(State.start(problem, warm), carry=carry)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each projection onto X; end where rounding prevents progress."""
        X = problem.X
        state = start or self.start(problem)
        if state.last:
            return
        carry, s = state.carry, state.s
        assert isinstance(X, Spectral)
        assert isinstance(carry, SplittingState)
        n, matrix = X.n, slice(0, X.n**2)
        g = NonNegativeRows.of(problem, n) or Composite.of(problem, n)
        u, tied = carry.u, carry.tied
        if tied is None:
            u, tied = g.start(u, state.y, carry.rho)
        carry, c = replace(carry, u=u), np.zeros_like(u)
        c[matrix] = _cost(problem).to_dense().ravel()

        for k in count(state.k + 1):
            # z = prox_{h A}(u)
            tol = PROX_ERROR * min(carry.residual, X.max_norm)
            near = g.prox(carry.u, carry.rho, tied, tol=tol)
            z, tied = near.z, near.tied
            carry = _balanced(carry, z, c)

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
            carry = self._stepped(replace(carry, tied=tied, point=point), z, residual, size)

            y = problem.h.dual_point(near.y)  # rounding may have left dom h*
            relative = size / X.max_norm
            ended = relative <= RESIDUAL_ROUNDING
            gap, lower = inf, -inf
            if k % BOUND_EVERY == 0 or ended:
                v = Symmetric(n, dense=(c[matrix] + g.adjoint(y)).reshape(n, n))
                slack = ORACLE_ERROR * relative
                s = X.lmo(v, slack, guess=s)
                least = dot(v, s) - slack
                gap, lower = value + float(y @ Ax) - least, least - problem.h.conjugate(y)
            x.load(point)
            yield State(k, Mx, Ax, y, y, s, value, gap, lower, carry=carry, last=ended)
            if ended:
                return

    def _stepped(
        self, carry: SplittingState, z: Array, residual: Array, size: float
    ) -> SplittingState:
        """u + alpha (x - z), accelerated unless the last acceleration increased the residual.

        The residual is overwritten.
        """
        if carry.plain is not None and size > WORSE * carry.residual:
            anderson = carry.anderson.restarted()
            return replace(carry, u=carry.plain, plain=None, anderson=anderson, z=None)
        step = np.multiply(residual, self.alpha, out=residual)
        plain = carry.u + step
        anderson = carry.anderson.after(plain, step)
        u = anderson.next()
        return replace(
            carry,
            u=plain if u is None else u,
            plain=None if u is None else plain,
            anderson=anderson,
            z=z,
            residual=size,
        )


def _balanced(carry: SplittingState, z: Array, c: Array) -> SplittingState:
    """Choose rho so that the relative sizes of |x - z| and the change of rho z are equal.

    z and the multiplier rho (u - z) do not change with rho.
    """
    carry = replace(carry, steps=carry.steps + 1)
    if carry.z is None:
        return carry
    force = carry.rho * (carry.u - z)
    primal = carry.residual / max(_norm(z), TINY)
    dual = carry.rho * _norm(z - carry.z) / max(_norm(c), _norm(force), TINY)
    # The quotient itself may underflow.
    ratio, seen = carry.ratio + log(max(primal, TINY)) - log(max(dual, TINY)), carry.seen + 1
    if carry.steps < carry.balance:
        return replace(carry, ratio=ratio, seen=seen)
    factor = min(max(exp(0.5 * ratio / seen), 1 / MAX_BALANCE), MAX_BALANCE)
    carry = replace(
        carry, ratio=0.0, seen=0, balance=int(BALANCE_GROWTH * carry.steps) + FIRST_BALANCE
    )
    if 1 / UNBALANCED < factor < UNBALANCED:
        return carry
    rho = factor * carry.rho
    anderson = carry.anderson.restarted()
    return replace(carry, rho=rho, u=z + force / rho, anderson=anderson, plain=None)


def _cost(problem: Problem) -> Symmetric:
    """C of f(x) = <C, x>."""
    f = problem.f
    C = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    assert isinstance(C, Symmetric)
    return C


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
