"""UPD and AUPD, the universal primal-dual methods of Yurtsever, Tran-Dinh and Cevher (2015).

For a linear f the dual  G(y) = G0(y) + h*(y),  G0(y) = -min over X of f(x) + <y, Ax>,  has the
subgradient -A x*(y) in its first part, x*(y) the oracle's answer. The methods are (accelerated)
proximal gradient methods on G that find their step length M by a line search which forgives an
error of eps: so the dual need not be smooth. The primal point is an average of the answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.linalg.gradients import add
from condal.linalg.points import Array, Point
from condal.methods.lagrangian import multiplier
from condal.methods.preconditions import require_linear
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive
from condal.runtime.cancellation import uninterrupted
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

TRIALS = 50  # doublings of M in one line search: with an exact oracle a few are enough
ORACLE = 0.01  # the oracle's error, of the error that the line search forgives


@dataclass(frozen=True, eq=False)
class OracleAnswer:
    """x*(y): the oracle's answer at y, its images, and G0(y)."""

    y: Array
    s: Point
    Ms: Array
    As: Array
    G0: float


@dataclass(frozen=True, eq=False)
class UPDState:
    """M, the sum of the weights so far, the answer to go on from, and AUPD's t."""

    M: float
    total: float
    answer: OracleAnswer | None
    t: float = 1.0


@dataclass(frozen=True)
class UPD:
    """Proximal gradient steps on the dual, y+ = prox_{h*/M}(y + A x*(y)/M), x averaged by 1/M.

    M halves before each line search and doubles until
    G0(y+) <= G0(y) - <A x*(y), y+ - y> + (M/2)|y+ - y|^2 + eps/2. Each trial is a call of the
    oracle. Converges only up to eps, in units of the normalised objective: a tenth to a hundredth
    of the optimal value is what its authors advise.

    Parameters
    ----------
    eps : the accuracy aimed at, which the line search forgives.
    """

    name: ClassVar[str] = "upd"
    keeps: ClassVar[Keeps] = "x"

    eps: float = 0.01

    def __post_init__(self) -> None:
        require_positive(self.eps, "eps")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """y = 0, or the dual of `warm`: x is averaged anew."""
        return _start(problem, warm, "UPD")

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each accepted step; end where no step is accepted."""
        state = start or self.start(problem)
        own, average, tol = state.carry, _Average(problem, x, state), ORACLE * self.eps
        answer = own.answer or _ask(problem, state.y, tol, state.s)
        M = own.M
        for k in count(state.k + 1):
            found = _search(problem, answer, M / 2, self.eps / 2, tol)
            if found is None:
                return
            M, answer, after = found
            with uninterrupted():  # x and what the state says of it move as one
                average.add(answer, 1 / M)
                answer = after
                own = UPDState(M, average.total, answer)
                state = average.state(k, answer.y, answer, tol, own)
            yield state


@dataclass(frozen=True)
class AUPD:
    """UPD accelerated: steps from the extrapolated yhat, t_{k+1} = (1 + sqrt(1 + 4 t_k^2))/2.

    The line search forgives eps/(2 t_k), M never falls, and x is averaged by t_k / M_k. An
    iteration takes a call of the oracle at yhat and one for each trial. Wants an accurate oracle:
    where no step is accepted the iterates end.

    Parameters
    ----------
    eps : the accuracy aimed at.
    """

    name: ClassVar[str] = "aupd"
    keeps: ClassVar[Keeps] = "x"

    eps: float = 0.01

    def __post_init__(self) -> None:
        require_positive(self.eps, "eps")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """y = 0, or the dual of `warm`: x is averaged anew."""
        return _start(problem, warm, "AUPD")

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each accepted step; end where no step is accepted."""
        state = start or self.start(problem)
        own, average, y = state.carry, _Average(problem, x, state), state.y
        M, t, tol = own.M, own.t, ORACLE * self.eps / own.t
        hat = own.answer or _ask(problem, y, tol, state.s)
        for k in count(state.k + 1):
            found = _search(problem, hat, M, self.eps / (2 * t), tol)
            if found is None:
                return
            M, before, after = found
            t_next = (1 + sqrt(1 + 4 * t**2)) / 2
            asked, tol = tol, ORACLE * self.eps / t_next
            hat = _ask(problem, after.y + (t - 1) / t_next * (after.y - y), tol, after.s)
            with uninterrupted():
                average.add(before, t / M)
                y, t = after.y, t_next
                state = average.state(k, y, after, asked, UPDState(M, average.total, hat, t))
            yield state


def _start(problem: Problem, warm: Warm | None, method: str) -> State:
    require_linear(problem, method)
    state = State.start(problem, None if warm is None else Warm(None, warm.y, warm.k), carry=None)
    y = problem.h.dual_point(state.y)
    return State(
        0, state.Mx, state.Ax, y, y, None, state.value, state.gap, state.lower, carry=_FIRST
    )


_FIRST = UPDState(M=1.0, total=0.0, answer=None)


def _ask(problem: Problem, y: Array, tol: float, guess: Point | None) -> OracleAnswer:
    f, A = problem.f, problem.A
    g = f.gradient(np.zeros(f.M.size))
    s = problem.X.lmo(add(f.M.adjoint(g), A.adjoint(y)), tol, guess=guess)
    Ms, As = f.M(s), A(s)
    return OracleAnswer(y, s, Ms, As, -f.value(Ms) - float(y @ As))


def _search(
    problem: Problem, at: OracleAnswer, M: float, forgiven: float, tol: float
) -> tuple[float, OracleAnswer, OracleAnswer] | None:
    """The smallest M 2^i whose step is accepted, and the answers before and after it.

    Where the oracle erred by more than it was allowed, G0(y) was seen too low and no step would be
    accepted: an answer to a trial that is a better one at y takes its place. None if no step is.
    """
    for _ in range(TRIALS):
        y = multiplier(problem.h, at.As, at.y, 1 / M)  # prox_{h*/M}(y + As/M), by Moreau
        after = _ask(problem, y, tol, at.s)
        there = -problem.f.value(after.Ms) - float(at.y @ after.As)
        if there > at.G0 + forgiven:
            at = replace(after, y=at.y, G0=there)
            continue
        step = y - at.y
        model = at.G0 - float(at.As @ step) + 0.5 * M * float(step @ step)
        if model + forgiven >= after.G0:
            return M, at, after
        M *= 2
    return None


class _Average:
    """x = sum of weight_k x*(y_k) / total, and its images."""

    def __init__(self, problem: Problem, x: Storage, state: State) -> None:
        self.problem, self.x = problem, x
        self.Mx, self.Ax, self.total = state.Mx, state.Ax, state.carry.total
        self.eta = 1.0

    def add(self, answer: OracleAnswer, weight: float) -> None:
        self.total += weight
        self.eta = weight / self.total
        self.x.move(answer.s, self.eta)
        self.Mx = self.Mx + self.eta * (answer.Ms - self.Mx)
        self.Ax = self.Ax + self.eta * (answer.As - self.Ax)

    def state(self, k: int, y: Array, at: OracleAnswer, tol: float, own: UPDState) -> State:
        value = self.problem.f.value(self.Mx)
        gap = value + float(at.y @ self.Ax) + at.G0
        lower = -at.G0 - self.problem.h.conjugate(at.y) - tol
        return State(k, self.Mx, self.Ax, y, at.y, at.s, value, gap, lower, eta=self.eta, carry=own)
