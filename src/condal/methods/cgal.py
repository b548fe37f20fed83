"""CGAL, Algorithm 1 of Yurtsever, Fercoq and Cevher (2019), and its variants by their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import axpy
from condal.linalg.points import Array
from condal.methods.hull import Hull
from condal.methods.lagrangian import Segment, best_atom, require_penalty, residual
from condal.methods.rules import (
    AccuracyRule,
    Balanced,
    Classical,
    Const,
    Decr,
    DualRule,
    Fixed,
    FractionOfGap,
    Given,
    Harmonic,
    LineSearch,
    Never,
    PenaltyRule,
    PrimalRule,
    Smoothed,
)
from condal.methods.state import State, Warm
from condal.methods.tree_dual import tree_dual
from condal.runtime.arguments import require_fraction
from condal.runtime.cancellation import uninterrupted
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True, eq=False)
class CGALState:
    """lam0 as it is by now, and the hull of the atoms, for the fully corrective variant."""

    lam0: float
    hull: Hull | None = None


@dataclass(frozen=True)
class CGAL:
    """minimise f(x) + h(Ax) over X by conditional gradient steps on the augmented Lagrangian.

    Parameters
    ----------
    lam0 : the initial penalty, lam_k = lam0 sqrt(k + 1); None lets `Balanced` choose and adapt it,
        which wants a normalised problem (`solve` normalises), and begins at the dual that the
        problem suggests (`tree_dual`), if any. Or a penalty rule, as `Fixed(lam)`. The dual of a
        given lam0 begins at 0.
    eta : the primal step, `Classical()` or `LineSearch()`.
    sigma : the dual step, `Const()`, `Decr()` or `Never()`; `Smoothed()` holds the dual of g at 0.
    tol : the accuracy asked of the oracle.
    corrective : minimise the augmented Lagrangian over the hull of the atoms after each step.
    """

    lam0: float | PenaltyRule | None = None
    eta: PrimalRule = field(default_factory=Classical)
    sigma: DualRule = field(default_factory=Const)
    tol: AccuracyRule = field(default_factory=FractionOfGap)
    corrective: bool = False

    def __post_init__(self) -> None:
        if not (
            self.lam0 is None
            or isinstance(self.lam0, float | int | np.number)
            or hasattr(self.lam0, "at")
        ):
            raise ProblemError(
                f"lam0 must be a positive number, a penalty rule or None; got {self.lam0!r}"
            )
        _ = self.penalty  # validates lam0
        for name, rule, wanted in (
            ("eta", self.eta, "LineSearch()"),
            ("sigma", self.sigma, "Decr()"),
            ("tol", self.tol, "Exact()"),
        ):
            if isinstance(rule, type) or not callable(rule):
                raise ProblemError(
                    f"{name} takes a rule of condal.methods.rules, such as {wanted}; got {rule!r}"
                )

    @property
    def penalty(self) -> PenaltyRule:
        """The rule that lam0 stands for."""
        if self.lam0 is None:
            return Balanced()
        if isinstance(self.lam0, float | int | np.number):
            return Given(float(self.lam0))
        return self.lam0

    @property
    def name(self) -> str:
        """What the method is called in tables and at the command line."""
        if self.corrective:
            return "cgal-fc"
        if isinstance(self.sigma, Never):
            return "hcgm"
        if isinstance(self.sigma, Harmonic):
            return "fw-al"
        if isinstance(self.eta, LineSearch):
            return "cgal-ls"
        if isinstance(self.sigma, Const | Decr):
            return "cgal" if isinstance(self.sigma, Const) else "cgal-decr"
        return f"cgal-{type(self.sigma).__name__.lower()}"

    @property
    def keeps(self) -> Keeps:
        """The atoms, where they are weighed anew."""
        return "atoms" if self.corrective else "x"

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """k = 0, or where an earlier solve ended; a penalty that adapts goes on from its lam.

        A dual that never moves is 0.
        """
        penalty = self.penalty
        lam0 = penalty.first
        if isinstance(penalty, Balanced) and warm is not None and isfinite(warm.lam):
            lam0 = warm.lam / penalty.at(warm.k, 1.0)
        if isinstance(self.sigma, Never) and warm is not None:
            warm = replace(warm, y=np.zeros_like(warm.y))
        if isinstance(self.sigma, Smoothed) and warm is not None:
            warm = replace(warm, y=np.where(self.sigma.held(problem.h), 0.0, warm.y))
        if warm is None:
            warm = self.suggested(lambda: tree_dual(problem))
        return State.start(problem, warm, own=CGALState(lam0))

    def suggested(self, dual: Callable[[], Array | None]) -> Warm | None:
        """The dual to begin with, if it may move, within the D_Y of its rule; None for 0."""
        if self.lam0 is not None or not isinstance(self.sigma, Const | Decr):
            return None
        y = dual()
        if y is None:
            return None
        size = float(np.linalg.norm(y))
        return Warm(None, y * min(1.0, self.sigma.D_Y / size) if size else y, 0)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration k = 1, 2, ..."""
        f, X, A, h = problem.f, problem.X, problem.A, problem.h
        penalty = self.penalty
        L_D2, A_D2 = f.L * X.diameter**2, (A.norm * X.diameter) ** 2  # L_f D_X^2, |A|^2 D_X^2
        state = start or self.start(problem)
        Mx, Ax, y, s, gap = state.Mx, state.Ax, state.y, state.s, state.gap
        lam0, hull = state.own.lam0, state.own.hull
        held = self.sigma.held(h) if isinstance(self.sigma, Smoothed) else None
        if self.corrective and hull is None:
            hull = Hull.of(problem, x)

        for k in count(state.k + 1):
            lam = penalty.at(k, lam0)

            # Primal step: a conditional gradient step on the augmented Lagrangian.
            tol = self.tol(k, gap, L_D2 + lam * A_D2)
            atom = best_atom(problem, Mx, Ax, y, lam, tol=tol, guess=s)
            s, gap = atom.s, atom.gap
            segment = Segment(problem, Mx, Ax, atom, y, lam)
            eta = 1.0 if k == 1 else self.eta(k, segment.slope)  # before k = 1 there is no x
            u = None if k == 1 else Mx
            Mx, Ax = segment.images(eta)
            del segment  # and with it the Ax before, whose memory the dual step takes
            with uninterrupted():  # x and what the state says of it move as one
                x.move(s, eta)  # after the images: one that fails leaves x where it was
                if hull is not None:
                    hull, Mx, Ax = hull.corrected(problem, x, s, y, lam, gap)

                # Penalty update: lam_{k+1}.
                share = lam * A_D2 / (L_D2 + lam * A_D2) if A_D2 else 0.0
                lam0 = penalty(k, lam0, share * gap, atom.price)
                lam_next = penalty.at(k + 1, lam0)

                # Dual step: a gradient ascent step on the multiplier.
                d = residual(h, Ax, y, lam_next)
                if held is not None:
                    d[held] = 0.0
                budget = 2 / (k + 1) ** 2 * (L_D2 + lam_next * A_D2)
                sigma = self.sigma(k, lam0, y, d, budget)
                y = axpy(y, d, sigma)
                value, own = f.value(Mx), CGALState(lam0, hull)  # f may take products, too
            yield State(k, Mx, Ax, y, atom.w, s, value, gap, atom.lower, lam, eta, sigma, own, u=u)


def hcgm(lam0: float | None = None) -> CGAL:
    """HCGM (Yurtsever, Fercoq, Locatello and Cevher 2018): CGAL whose dual never moves."""
    return replace(CGAL(lam0), sigma=Never())


def fwal(lam: float = 1.0, rho: float = 0.1) -> CGAL:
    """FW-AL (Gidel, Pedregosa and Lacoste-Julien 2018): lam fixed, sigma_k = 2 sigma0 / (k + 2).

    sigma0 = rho * 2 / lam; its theory asks for a rho in (0, 1] that is small enough, and cannot say
    how small.
    """
    require_penalty(lam, "lam")
    require_fraction(rho, "rho")
    return CGAL(Fixed(lam), sigma=Harmonic(rho * 2 / lam))


def corrective(lam0: float | None = None) -> CGAL:
    """CGAL, fully corrective: x_{k+1} minimises L_lam(., y_k) over the hull of the atoms so far."""
    return CGAL(lam0, eta=LineSearch(), corrective=True)
