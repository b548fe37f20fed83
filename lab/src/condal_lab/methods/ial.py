"""IAL, the inexact augmented Lagrangian method of Liu, Liu and Ma (2018)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from condal.errors import ProblemError
from condal.linalg.blocked import axpy
from condal.methods.lagrangian import Segment, best_atom, residual
from condal.methods.rules import (
    AccuracyRule,
    Classical,
    Corrective,
    Exact,
    FractionOfGap,
    PrimalRule,
)
from condal.methods.state import State, Warm, require_penalty
from condal.runtime.arguments import require_positive
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True)
class IALState:
    """The number of the subproblem, 1, 2, ..., and of the steps taken on it."""

    outer: int = 1
    inner: int = 0


@dataclass(frozen=True)
class IAL:
    r"""The method of multipliers with subproblems solved by conditional gradients.

    Conditional gradient steps minimise :math:`L_\lambda(\cdot, y)` in subproblem j = 1, 2, ...
    until the gap :math:`\max_{x \in X} \langle \nabla L, x_{k+1} - x \rangle` is at most
    :math:`\varepsilon_0 / j`; then :math:`y \leftarrow y + \lambda d`. An iteration is one oracle
    call: a conditional gradient step (sigma = 0), or the dual step that ends a subproblem
    (sigma = lam, eta = 0).

    Parameters
    ----------
    lam : float
        The constant penalty.
    eps0 : float
        The accuracy of the first subproblem.
    eta : PrimalRule
        The conditional gradient step; ``Classical()`` restarts with each subproblem.
    tol : AccuracyRule
        The accuracy asked of the oracle, at most a tenth of eps0 / j.
    normalise : bool
        Whether `solve` normalises the problem. If not, lam and eps0 are in its own units.

    References
    ----------
    Y.-F. Liu, X. Liu, S. Ma. On the nonergodic convergence rate of an inexact augmented Lagrangian
    framework for composite convex programming. Mathematics of Operations Research 44, 2019.
    """

    name: ClassVar[str] = "ial"
    keeps: ClassVar[Keeps] = "x"

    lam: float = 1.0
    eps0: float = 1.0
    eta: PrimalRule = field(default_factory=Classical)
    tol: AccuracyRule = field(default_factory=FractionOfGap)
    normalise: bool = True

    @classmethod
    def paper(cls, lam: float, eps0: float, *, eta: PrimalRule | None = None) -> IAL:
        """Return the method as printed: an exact oracle, and the problem as it is given.

        Parameters
        ----------
        lam, eps0, eta
            As of the method.

        Returns
        -------
        IAL
            The method.
        """
        return cls(lam, eps0, eta or Classical(), Exact(), normalise=False)

    def __post_init__(self) -> None:
        require_penalty(self.lam, "lam")
        require_positive(self.eps0, "eps0")
        if isinstance(self.eta, Corrective):
            raise ProblemError("IAL takes eta=Classical() or LineSearch(); got Corrective()")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of the first subproblem, with the point and dual of `warm` if given."""
        return State.start(problem, warm, carry=IALState())

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each oracle call."""
        f, h, lam = problem.f, problem.h, self.lam
        curvature = (f.L + lam * problem.A.norm**2) * problem.X.diameter**2
        state = start or self.start(problem)
        Mx, Ax, y, s, gap = state.Mx, state.Ax, state.y, state.s, state.gap
        outer, inner, has_x = state.carry.outer, state.carry.inner, state.has_x

        for k in count(state.k + 1):
            target = self.eps0 / outer
            tol = min(self.tol(max(k, inner + 1), gap, curvature), 0.1 * target)
            atom = best_atom(problem, Mx, Ax, y, lam, tol=tol, guess=s)
            s, gap, u = atom.s, atom.gap, Mx if has_x else None
            if has_x and gap + tol <= target:
                # The subproblem is solved: a step of the method of multipliers.
                eta, sigma = 0.0, lam
                y = axpy(y, residual(h, Ax, y, lam), sigma)
                outer, inner = outer + 1, 0
            else:
                inner, sigma = inner + 1, 0.0
                segment = Segment(problem, Mx, Ax, atom, y, lam)
                eta = self.eta(inner, segment.slope) if has_x else 1.0
                Mx, Ax = segment.images(eta)
                has_x = True
            value, carry, w = f.value(Mx), IALState(outer, inner), atom.w
            if sigma == 0.0:
                x.move(s, eta)  # last: an interrupted iteration leaves x unchanged
            yield State(k, Mx, Ax, y, w, s, value, gap, atom.lower, lam, eta, sigma, carry, u=u)
