"""CGAL, Algorithm 1 of Yurtsever, Fercoq and Cevher (2019), and its variants by their rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import sqrt

from condal.lagrangian import multiplier, slope_along
from condal.methods.rules import (
    AccuracyRule,
    Balanced,
    Classical,
    Const,
    DualRule,
    FractionOfGap,
    Given,
    LineSearch,
    Never,
    PenaltyRule,
    PrimalRule,
)
from condal.operators import add
from condal.problem import Problem
from condal.state import State
from condal.types import Storage


@dataclass(frozen=True)
class CGAL:
    """minimise f(x) + h(Ax) over X by conditional gradient steps on the augmented Lagrangian.

    Parameters
    ----------
    lam0 : the initial penalty, lam_k = lam0 sqrt(k + 1); None lets `Balanced` choose and adapt it,
        which wants a normalised problem (`solve` normalises).
    eta : the primal step, `Classical()` or `LineSearch()`.
    sigma : the dual step, `Const()`, `Decr()` or `Never()`.
    tol : the accuracy asked of the oracle.
    """

    lam0: float | None = None
    eta: PrimalRule = field(default_factory=Classical)
    sigma: DualRule = field(default_factory=Const)
    tol: AccuracyRule = field(default_factory=FractionOfGap)

    def __post_init__(self) -> None:
        _ = self.penalty  # validates lam0

    @property
    def penalty(self) -> PenaltyRule:
        """The rule that lam0 stands for."""
        return Balanced() if self.lam0 is None else Given(self.lam0)

    @property
    def name(self) -> str:
        """What the method is called in tables and at the command line."""
        if isinstance(self.sigma, Never):
            return "hcgm"
        if isinstance(self.eta, LineSearch):
            return "cgal-ls"
        return "cgal" if isinstance(self.sigma, Const) else "cgal-decr"

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration k = 1, 2, ..."""
        f, X, A, h = problem.f, problem.X, problem.A, problem.h
        penalty = self.penalty
        L_D2, A_D2 = f.L * X.diameter**2, (A.norm * X.diameter) ** 2  # L_f D_X^2, |A|^2 D_X^2
        state = start or State.start(problem, penalty.first)
        Mx, Ax, y, s = state.Mx, state.Ax, state.y, state.s
        lam0, gap, value = state.lam0, state.gap, state.value

        for k in count(state.k + 1):
            lam = lam0 * sqrt(k + 1)

            # Primal step: a conditional gradient step on the augmented Lagrangian.
            w = multiplier(h, Ax, y, lam)
            g = f.gradient(Mx)
            v = add(f.M.adjoint(g), A.adjoint(w))
            tol = self.tol(k, gap, L_D2 + lam * A_D2)
            s = X.lmo(v, tol, guess=s)
            dM, dA = f.M(s) - Mx, A(s) - Ax
            gap = -float(g @ dM) - float(w @ dA)
            price = float(w @ Ax) - h.conjugate(w)
            lower = value - gap + price - tol
            eta = self.eta(k, slope_along(problem, Mx, dM, Ax, dA, y, lam))
            x.move(s, eta)
            Mx, Ax = Mx + eta * dM, Ax + eta * dA
            value = f.value(Mx)

            # Penalty update: lam_{k+1} = lam0 sqrt(k + 2).
            share = lam * A_D2 / (L_D2 + lam * A_D2) if A_D2 else 0.0
            lam0 = penalty(k, lam0, share * gap, price)
            lam_next = lam0 * sqrt(k + 2)

            # Dual step: a gradient ascent step on the multiplier.
            d = Ax - h.prox(Ax + y / lam_next, 1 / lam_next)
            budget = 2 / (k + 1) ** 2 * (L_D2 + lam_next * A_D2)
            sigma = self.sigma(k, lam0, y, d, budget)
            y = y + sigma * d

            yield State(k, Mx, Ax, y, w, s, lam0, lam, eta, sigma, value, gap, lower)


def hcgm(lam0: float | None = None) -> CGAL:
    """HCGM (Yurtsever, Fercoq, Locatello and Cevher 2018): CGAL whose dual never moves."""
    return replace(CGAL(lam0), sigma=Never())
