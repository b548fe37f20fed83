"""IAL, the inexact augmented Lagrangian method of Liu, Liu and Ma (2018)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from condal.errors import ProblemError
from condal.linalg.blocked import axpy
from condal.methods.lagrangian import best_atom, require_penalty, residual
from condal.methods.primal_step import Segment
from condal.methods.rules import AccuracyRule, Classical, Corrective, FractionOfGap, PrimalRule
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive
from condal.runtime.cancellation import uninterrupted
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True)
class Loops:
    """The subproblem, 1, 2, ..., and how many steps were made on it."""

    outer: int = 1
    inner: int = 0


@dataclass(frozen=True)
class IAL:
    """The method of multipliers, y += lam d, each subproblem min L_lam(., y) left to CG.

    The conditional gradient on subproblem j = 1, 2, ... ends when its gap
    max over x in X of <grad L, x_{k+1} - x> is at most eps0 / j. An iteration is one call of the
    oracle: a step of the conditional gradient (sigma = 0), or the dual step that ends a subproblem
    (sigma = lam, eta = 0).

    Parameters
    ----------
    lam : the penalty, the same for ever.
    eps0 : the accuracy of the first subproblem, in units of the normalised objective.
    eta : the step of the conditional gradient; `Classical()` begins each subproblem afresh.
    tol : the accuracy asked of the oracle, never worse than a tenth of eps0 / j.
    """

    name: ClassVar[str] = "ial"
    keeps: ClassVar[Keeps] = "x"

    lam: float = 1.0
    eps0: float = 1.0
    eta: PrimalRule = field(default_factory=Classical)
    tol: AccuracyRule = field(default_factory=FractionOfGap)

    def __post_init__(self) -> None:
        require_penalty(self.lam, "lam")
        require_positive(self.eps0, "eps0")
        if isinstance(self.eta, Corrective):
            raise ProblemError("IAL takes eta=Classical() or LineSearch(); got Corrective()")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """The first subproblem, at the dual of `warm` if there is one."""
        return State.start(problem, warm, carry=Loops())

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each call of the oracle."""
        f, h, lam = problem.f, problem.h, self.lam
        curvature = (f.L + lam * problem.A.norm**2) * problem.X.diameter**2
        state = start or self.start(problem)
        Mx, Ax, y, s, gap = state.Mx, state.Ax, state.y, state.s, state.gap
        outer, inner = state.carry.outer, state.carry.inner

        for k in count(state.k + 1):
            target = self.eps0 / outer
            tol = min(self.tol(max(k, inner + 1), gap, curvature), 0.1 * target)
            atom = best_atom(problem, Mx, Ax, y, lam, tol=tol, guess=s)
            s, gap, u = atom.s, atom.gap, None if k == 1 else Mx
            if k > 1 and gap + tol <= target:
                # The subproblem is solved: a step of the method of multipliers.
                eta, sigma = 0.0, lam
                y = axpy(y, residual(h, Ax, y, lam), sigma)
                outer, inner = outer + 1, 0
            else:
                inner, sigma = inner + 1, 0.0
                segment = Segment(problem, Mx, Ax, atom, y, lam)
                eta = 1.0 if k == 1 else self.eta(inner, segment.slope)
                Mx, Ax = segment.images(eta)
            own = Loops(outer, inner)
            with uninterrupted():  # x and what the state says of it move as one
                if sigma == 0.0:
                    x.move(s, eta)
                value = f.value(Mx)
            yield State(k, Mx, Ax, y, atom.w, s, value, gap, atom.lower, lam, eta, sigma, own, u=u)
