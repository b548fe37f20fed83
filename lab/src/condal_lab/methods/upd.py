"""UPD and AUPD, the universal primal-dual methods of Yurtsever, Tran-Dinh and Cevher (2015).

For a linear f the dual is G(y) = G0(y) + h*(y) with G0(y) = -min over X of f(x) + <y, Ax>. G0 has
the subgradient -A x*(y), where x*(y) is the answer of the oracle. The methods are (accelerated)
proximal gradient methods on G. A line search that tolerates an error of eps finds the step length
1/M, so the dual need not be smooth. The primal point is an average of the answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from condal.linalg.gradients import add
from condal.linalg.points import Array, Point
from condal.methods.lagrangian import multiplier
from condal.methods.state import State, Warm, require_linear
from condal.runtime.arguments import require_fraction, require_positive
from condal.runtime.meter import uninterrupted
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_DOUBLINGS = 50  # of M in one line search; with an exact oracle a few are enough


@dataclass(frozen=True, eq=False)
class OracleAnswer:
    """x*(y), the answer of the oracle at y, its images, and G0(y)."""

    y: Array
    s: Point
    Ms: Array
    As: Array
    G0: float


@dataclass(frozen=True, eq=False)
class UPDState:
    """M, the sum of the weights so far, the answer to resume from, and the t of AUPD."""

    M: float
    total: float
    answer: OracleAnswer | None
    t: float = 1.0


@dataclass(frozen=True)
class _Universal:
    """Both methods: UPD keeps t = 1, and AUPD, which is `accelerated`, extrapolates by its t."""

    keeps: ClassVar[Keeps] = "x"
    accelerated: ClassVar[bool] = False

    eps: float = 0.01
    oracle_error: float = 0.01
    normalise: bool = True

    @classmethod
    def paper(cls, eps: float) -> Self:
        """Return the method as printed: an exact oracle, and the problem as it is given.

        Parameters
        ----------
        eps : float
            The target accuracy, in the units of the problem.

        Returns
        -------
        UPD or AUPD
            The method.
        """
        return cls(eps, oracle_error=0.0, normalise=False)

    def __post_init__(self) -> None:
        require_positive(self.eps, "eps")
        if self.oracle_error != 0:
            require_fraction(self.oracle_error, "oracle_error")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state with y = 0 or the dual of `warm`; the average of x starts empty."""
        require_linear(problem, type(self).__name__)
        begin = State.start(problem, None if warm is None else Warm(None, warm.y, warm.k))
        y = problem.h.dual_point(begin.y)
        return replace(begin, k=0, y=y, w=y, carry=UPDState(M=1.0, total=0.0, answer=None))

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each accepted step; end if no step is accepted."""
        state = start or self.start(problem)
        average, y, carry = _Average(problem, x, state), state.y, state.carry
        M, t, tol = carry.M, carry.t, self.oracle_error * self.eps / carry.t
        at = carry.answer or _ask(problem, y, tol, state.s)
        for k in count(state.k + 1):
            first = M if self.accelerated else M / 2
            accepted = _search(problem, at, first, self.eps / (2 * t), tol)
            if accepted is None:
                return
            M, before, after = accepted
            at, last_t, last_tol = after, t, tol
            if self.accelerated:
                t = (1 + sqrt(1 + 4 * t**2)) / 2
                tol = self.oracle_error * self.eps / t
                at = _ask(problem, after.y + (last_t - 1) / t * (after.y - y), tol, after.s)
            with uninterrupted():  # x and the state move together
                average.add(before, last_t / M)
                y = after.y
                state = average.state(k, y, after, last_tol, UPDState(M, average.total, at, t))
            yield state


@dataclass(frozen=True)
class UPD(_Universal):
    r"""Proximal gradient steps on the dual, with x averaged by weights 1/M.

    The step is :math:`y^+ = \operatorname{prox}_{h^*/M}(y + A x^*(y)/M)`. M halves before each line
    search and doubles until :math:`G_0(y^+) \le G_0(y) - \langle A x^*(y), y^+ - y \rangle +
    \tfrac{M}{2} |y^+ - y|^2 + \varepsilon/2`. Each trial is an oracle call. The method converges
    only up to eps; its authors advise a tenth to a hundredth of the optimal value.

    Parameters
    ----------
    eps : float
        The target accuracy, which the line search tolerates.
    oracle_error : float
        The error asked of the oracle, relative to what the line search tolerates; 0 for none.
    normalise : bool
        Whether `solve` normalises the problem. If not, eps is in its own units.

    References
    ----------
    A. Yurtsever, Q. Tran-Dinh, V. Cevher. A universal primal-dual convex optimization framework.
    NeurIPS 2015.
    """

    name: ClassVar[str] = "upd"


@dataclass(frozen=True)
class AUPD(_Universal):
    r"""Accelerated UPD, of the same paper: steps from an extrapolated dual point.

    :math:`t_{k+1} = (1 + \sqrt{1 + 4 t_k^2})/2`. The line search tolerates
    :math:`\varepsilon/(2 t_k)`, M never decreases, and x is averaged by weights :math:`t_k / M_k`.
    An iteration takes one oracle call at the extrapolated point and one per trial. The method needs
    an accurate oracle; the iterates end if no step is accepted.

    Parameters
    ----------
    eps, oracle_error, normalise
        As of `UPD`.
    """

    name: ClassVar[str] = "aupd"
    accelerated: ClassVar[bool] = True


def _ask(problem: Problem, y: Array, tol: float, guess: Point | None) -> OracleAnswer:
    f, A = problem.f, problem.A
    g = f.gradient(np.zeros(f.M.size))
    s = problem.X.lmo(add(f.M.adjoint(g), A.adjoint(y)), tol, guess=guess)
    Ms, As = f.M(s), A(s)
    return OracleAnswer(y, s, Ms, As, -f.value(Ms) - float(y @ As))


def _search(
    problem: Problem, at: OracleAnswer, M: float, tolerated: float, tol: float
) -> tuple[float, OracleAnswer, OracleAnswer] | None:
    """The smallest M 2^i whose step is accepted, and the answers before and after it; else None.

    Where the oracle erred by more than its tolerance, G0(y) was too low and no step would be
    accepted: a trial's answer that is better at y then replaces the answer at y.
    """
    for _ in range(MAX_DOUBLINGS):
        y = multiplier(problem.h, at.As, at.y, 1 / M)  # prox_{h*/M}(y + As/M), by Moreau
        after = _ask(problem, y, tol, at.s)
        G0_at_y = -problem.f.value(after.Ms) - float(at.y @ after.As)
        if G0_at_y > at.G0 + tolerated:
            at = replace(after, y=at.y, G0=G0_at_y)
            continue
        step = y - at.y
        model = at.G0 - float(at.As @ step) + 0.5 * M * float(step @ step)
        if model + tolerated >= after.G0:
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

    def state(self, k: int, y: Array, at: OracleAnswer, tol: float, carry: UPDState) -> State:
        value = self.problem.f.value(self.Mx)
        gap = value + float(at.y @ self.Ax) + at.G0
        lower = -at.G0 - self.problem.h.conjugate(at.y) - tol
        return State(
            k, self.Mx, self.Ax, y, at.y, at.s, value, gap, lower, eta=self.eta, carry=carry
        )
