"""CGS, the conditional gradient sliding of Lan and Zhou (2016)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.linalg.gradients import Gradient, add, functional
from condal.linalg.points import Array, Point, combine, dense, inner
from condal.methods.lagrangian import multiplier, require_penalty
from condal.methods.preconditions import require_lipschitz
from condal.methods.state import State, Warm
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True, eq=False)
class Prox:
    """u, the last proximal point, kept whole, and its images."""

    u: Point
    Mu: Array
    Au: Array


@dataclass(frozen=True)
class CGS:
    """Nesterov's accelerated gradient, its projections left to the conditional gradient.

    z = (1 - gamma) x + gamma u,  u <- argmin over X of <grad F(z), u> + (beta/2)|u - u_old|^2
    to an accuracy of L D_X^2 / (k (k + 1)),  x <- (1 - gamma) x + gamma u,  with
    gamma_k = 3/(k + 2), beta_k = 3L/(k + 1), and F = f + h smoothed: L = L_f + lam |A|^2.
    O(1/sqrt(eps)) gradients of F, O(1/eps) calls of the oracle. The distances |u - u_old| are not
    seen by the images: u is kept whole, n x n numbers for a matrix.

    Parameters
    ----------
    lam : the inverse of the smoothing of h; without h it does nothing.
    """

    name: ClassVar[str] = "cgs"
    keeps: ClassVar[Keeps] = "x"

    lam: float = 10.0

    def __post_init__(self) -> None:
        require_penalty(self.lam, "lam")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """k = 0; of `warm` the point is where u begins."""
        require_lipschitz(problem, "CGS")
        state = State.start(problem, None)
        if warm is None or warm.x is None:
            return state
        return replace(state, carry=_seen(problem, dense(warm.x)))

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each gradient of F."""
        f, X, A, h, lam = problem.f, problem.X, problem.A, problem.h, self.lam
        L = f.L + lam * A.norm**2
        state = start or self.start(problem)
        Mx, Ax, s = state.Mx, state.Ax, state.s
        zero = np.zeros(A.size)
        if state.carry is None:
            s = X.lmo(_gradient(problem, f.gradient(Mx), multiplier(h, Ax, zero, lam)))
            own = _seen(problem, dense(s))
        else:
            own = state.carry

        for k in count(state.k + 1):
            gamma, beta = 3 / (k + 2), 3 * L / (k + 1)
            accuracy = L * X.diameter**2 / (k * (k + 1))

            Mz, Az = Mx + gamma * (own.Mu - Mx), Ax + gamma * (own.Au - Ax)
            g, w = f.gradient(Mz), multiplier(h, Az, zero, lam)
            tol = 0.1 * accuracy
            own, s, least = self._slide(problem, g, w, own, beta, accuracy, tol, 18 * k + 1, s)
            lower = f.value(Mz) - float(g @ Mz) + least - h.conjugate(w) - tol

            Mx, Ax = Mx + gamma * (own.Mu - Mx), Ax + gamma * (own.Au - Ax)
            value = f.value(Mx)
            gap = value + float(w @ Ax) - h.conjugate(w) - lower
            x.move(own.u, gamma)  # last: an iteration that is given up leaves x where it was
            yield State(k, Mx, Ax, w, w, s, value, gap, lower, lam, gamma, 0.0, own)

    def _slide(
        self,
        problem: Problem,
        g: Array,
        w: Array,
        centre: Prox,
        beta: float,
        accuracy: float,
        tol: float,
        steps: int,
        guess: Point | None,
    ) -> tuple[Prox, Point, float]:
        """The proximal point to that accuracy; the last atom; min over X of <grad F(z), .>.

        The theory bounds the steps; the first call of the oracle, at u = centre, is that minimum.
        """
        v = _gradient(problem, g, w)
        u, Mu, Au, s, least = centre.u, centre.Mu, centre.Au, guess, np.nan
        for step in range(steps):
            away = combine([u, centre.u], np.array([beta, -beta]))
            s = problem.X.lmo(v if step == 0 else add(v, functional(away)), tol, guess=s)
            Ms, As = problem.f.M(s), problem.A(s)
            if step == 0:
                least = float(g @ Ms) + float(w @ As)
            towards = combine([dense(s), u], np.array([1.0, -1.0]))
            gap = float(g @ (Mu - Ms)) + float(w @ (Au - As)) - inner(away, towards)
            if gap + tol <= accuracy:
                break
            curvature = beta * inner(towards, towards)
            eta = min(1.0, gap / curvature) if curvature > 0 else 1.0
            u = combine([u, towards], np.array([1.0, eta]))
            Mu, Au = Mu + eta * (Ms - Mu), Au + eta * (As - Au)
        assert s is not None
        return Prox(u, Mu, Au), s, least


def _gradient(problem: Problem, g: Array, w: Array) -> Gradient:
    return add(problem.f.M.adjoint(g), problem.A.adjoint(w))


def _seen(problem: Problem, u: Point) -> Prox:
    return Prox(u, problem.f.M(u), problem.A(u))
