"""CGS, the conditional gradient sliding of Lan and Zhou (2016)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.linalg.gradients import Gradient, add, functional
from condal.linalg.points import Array, Point, combine, dense, inner
from condal.methods.lagrangian import multiplier
from condal.methods.state import State, Warm, require_lipschitz, require_penalty
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True, eq=False)
class CGSState:
    """The last proximal point u, kept whole, and its images."""

    u: Point
    Mu: Array
    Au: Array


@dataclass(frozen=True)
class CGS:
    r"""Nesterov's accelerated gradient method with projections by conditional gradients.

    .. math::

        z = (1 - \gamma) x + \gamma u, \quad
        u \leftarrow \arg\min_{u' \in X} \langle \nabla F(z), u' \rangle
        + \tfrac{\beta}{2} |u' - u|^2, \quad
        x \leftarrow (1 - \gamma) x + \gamma u

    with :math:`\gamma_k = 3/(k + 2)`, :math:`\beta_k = 3L/(k + 1)`, the argmin to an accuracy of
    :math:`L D_X^2 / (k (k + 1))`, and F = f + h smoothed, so :math:`L = L_f + \lambda |A|^2`. It
    takes :math:`O(1/\sqrt\varepsilon)` gradients of F and :math:`O(1/\varepsilon)` oracle calls.
    The images do not determine the distances between proximal points, so u is kept whole: n x n
    numbers for a matrix.

    Parameters
    ----------
    lam : float
        The inverse of the smoothing of h; without h it has no effect.
    normalise : bool
        Whether `solve` normalises the problem. If not, lam is in its own units.

    References
    ----------
    G. Lan, Y. Zhou. Conditional gradient sliding for convex optimization. SIAM Journal on
    Optimization 26, 2016.
    """

    name: ClassVar[str] = "cgs"
    keeps: ClassVar[Keeps] = "x"

    lam: float = 10.0
    normalise: bool = True

    def __post_init__(self) -> None:
        require_penalty(self.lam, "lam")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0; u starts at the point of `warm`."""
        require_lipschitz(problem, "CGS")
        state = State.start(problem, None)
        if warm is None or warm.x is None:
            return state
        return replace(state, carry=_with_images(problem, dense(warm.x)))

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each gradient of F."""
        f, X, A, h, lam = problem.f, problem.X, problem.A, problem.h, self.lam
        L = f.L + lam * A.norm**2
        state = start or self.start(problem)
        Mx, Ax, s = state.Mx, state.Ax, state.s
        zero = np.zeros(A.size)
        u = state.carry
        if u is None:
            s = X.lmo(_gradient(problem, f.gradient(Mx), multiplier(h, Ax, zero, lam)))
            u = _with_images(problem, dense(s))

        for k in count(state.k + 1):
            gamma, beta = 3 / (k + 2), 3 * L / (k + 1)
            accuracy = L * X.diameter**2 / (k * (k + 1))

            Mz, Az = Mx + gamma * (u.Mu - Mx), Ax + gamma * (u.Au - Ax)
            g, w = f.gradient(Mz), multiplier(h, Az, zero, lam)
            tol = 0.1 * accuracy
            u, s, least = self._slide(problem, g, w, u, beta, accuracy, tol, 18 * k + 1, s)
            lower = f.value(Mz) - float(g @ Mz) + least - h.conjugate(w) - tol

            Mx, Ax = Mx + gamma * (u.Mu - Mx), Ax + gamma * (u.Au - Ax)
            value = f.value(Mx)
            gap = value + float(w @ Ax) - h.conjugate(w) - lower
            x.move(u.u, gamma)  # last: an interrupted iteration leaves x unchanged
            yield State(k, Mx, Ax, w, w, s, value, gap, lower, lam, gamma, 0.0, u)

    def _slide(
        self,
        problem: Problem,
        g: Array,
        w: Array,
        centre: CGSState,
        beta: float,
        accuracy: float,
        tol: float,
        steps: int,
        guess: Point | None,
    ) -> tuple[CGSState, Point, float]:
        """The proximal point to an accuracy, the last atom, and min over X of <grad F(z), .>.

        The theory bounds the steps. The first oracle call, at u = centre, gives that minimum.
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
        return CGSState(u, Mu, Au), s, least


def _gradient(problem: Problem, g: Array, w: Array) -> Gradient:
    return add(problem.f.M.adjoint(g), problem.A.adjoint(w))


def _with_images(problem: Problem, u: Point) -> CGSState:
    return CGSState(u, problem.f.M(u), problem.A(u))
