"""CGAL, Algorithm 1 of Yurtsever, Fercoq and Cevher (2019), and its variants by their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import ceil, inf, isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import axpy
from condal.linalg.points import Array
from condal.methods.choice import CGAL_CALLS, PATIENCE, SLOW, Estimate, Size, cgal_seconds
from condal.methods.lagrangian import (
    Curvature,
    Segment,
    best_atom,
    primal_step,
    residual,
)
from condal.methods.rules import (
    AccuracyRule,
    Balanced,
    Classical,
    Const,
    Corrective,
    Decr,
    DualBound,
    DualRule,
    Exact,
    Fixed,
    FractionOfGap,
    Given,
    Harmonic,
    LineSearch,
    Never,
    PenaltyRule,
    PrimalRule,
    Smoothed,
    norm_cap,
)
from condal.methods.state import State, Warm, require_penalty, tree_dual
from condal.runtime.arguments import require_fraction, require_positive
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.methods.faces import Face
    from condal.methods.hull import Hull
    from condal.problem import Problem

MAX_IMAGE_ROWS = 50_000  # rows of the maps, kept for each atom of fully corrective steps


@dataclass(frozen=True, eq=False)
class CGALState:
    """The current lam0, and the hull of the atoms if the primal rule is `Corrective`."""

    lam0: float
    hull: Hull | None = None


@dataclass(frozen=True)
class CGAL:
    r"""Minimise :math:`f(x) + h(Ax)` over X by conditional gradient steps.

    Each iteration takes a conditional gradient step on the augmented Lagrangian
    :math:`L_\lambda(\cdot, y)` and a gradient ascent step on the multiplier y:

    .. math::

        r &= \operatorname{prox}_{h/\lambda}(Ax + y/\lambda), \quad
        w = y + \lambda (Ax - r), \quad
        s = \operatorname{lmo}(\nabla f(x) + A^\top w), \\
        x &\leftarrow x + \eta (s - x), \quad
        y \leftarrow y + \sigma \bigl(Ax - \operatorname{prox}_{h/\lambda}(Ax + y/\lambda)\bigr).

    Parameters
    ----------
    lam0 : float, PenaltyRule or None
        The initial penalty of :math:`\lambda_k = \lambda_0 \sqrt{k + 1}`, or a penalty rule such as
        ``Fixed(lam)``. None means ``Balanced()``, which adapts the penalty of a normalised problem
        (`solve` normalises). With None and a ``Const`` or ``Decr`` dual step, y starts at
        `tree_dual` where the problem has one. Otherwise y starts at 0.
    eta : PrimalRule
        The primal step: ``Classical()``, ``LineSearch()`` or ``Corrective()``.
    sigma : DualRule
        The dual step: ``Const()``, ``Decr()``, ``Never()``, or ``Smoothed()``, which keeps the
        multipliers of g(Bx) fixed.
    tol : AccuracyRule
        The accuracy asked of the oracle.
    D_Y : float or DualBound
        The bound on the norm of y, which shortens the dual step: a number, ``Proportional()`` for
        :math:`D_X |A| \lambda_0`, or a function of k and of :math:`D_X |A| \lambda_0`.
    normalise : bool
        Whether `solve` normalises the problem. If not, lam0 and D_Y are in the units of the problem
        as it is given, and lam0 is required.

    Raises
    ------
    ProblemError
        If a number is not positive, a rule is not callable, or a problem that is not normalised has
        no lam0.

    References
    ----------
    A. Yurtsever, O. Fercoq, V. Cevher. A conditional-gradient-based augmented Lagrangian framework.
    ICML 2019, arXiv:1901.04013.

    Examples
    --------
    >>> import numpy as np, condal
    >>> from condal.methods.rules import LineSearch
    >>> A = condal.Matrix(np.array([[1.0, 2.0, 3.0]]))
    >>> problem = condal.Problem.of(
    ...     f=condal.Linear([3.0, 1.0, 2.0]), X=condal.Simplex(3), A=A, K=condal.Equal([2.5])
    ... )
    >>> result = condal.solve(problem, condal.CGAL(eta=LineSearch()), tol=1e-2)
    >>> print(f"{result.objective:.1f}")
    1.5
    """

    lam0: float | PenaltyRule | None = None
    eta: PrimalRule = field(default_factory=Classical)
    sigma: DualRule = field(default_factory=Const)
    tol: AccuracyRule = field(default_factory=FractionOfGap)
    D_Y: float | DualBound = inf
    normalise: bool = True

    @classmethod
    def paper(
        cls,
        lam0: float | PenaltyRule,
        *,
        eta: PrimalRule | None = None,
        sigma: DualRule | None = None,
        D_Y: float | DualBound = inf,
    ) -> CGAL:
        """Return Algorithm 1 as printed: an exact oracle, and the problem as it is given.

        ``solve(..., warm_start=(x1, y1))`` gives its other inputs; x1 and y1 are 0 by default.

        Parameters
        ----------
        lam0 : float or PenaltyRule
            The initial penalty; ``Fixed(lam)`` for FW-AL.
        eta : PrimalRule, optional
            ``Classical()`` by default.
        sigma : DualRule, optional
            ``Const()`` by default; ``Decr()``, ``Never()`` for HCGM, ``Harmonic()`` for FW-AL.
        D_Y : float or DualBound
            The bound on the norm of y.

        Returns
        -------
        CGAL
            The method.
        """
        eta, sigma = eta or Classical(), sigma or Const()
        return cls(lam0, eta, sigma, Exact(), D_Y=D_Y, normalise=False)

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
        if self.lam0 is None and not self.normalise:
            raise ProblemError(
                "lam0 is required for a problem that is not normalised, as the default adapts to a "
                "normalised one: try several powers of 10"
            )
        if not callable(self.D_Y) and inf != self.D_Y:
            require_positive(self.D_Y, "D_Y")
        for name, rule, example in (
            ("eta", self.eta, "LineSearch()"),
            ("sigma", self.sigma, "Decr()"),
            ("tol", self.tol, "Exact()"),
        ):
            if isinstance(rule, type) or not callable(rule):
                raise ProblemError(
                    f"{name} takes a rule of condal.methods.rules, such as {example}; got {rule!r}"
                )

    @property
    def penalty(self) -> PenaltyRule:
        """The penalty rule that lam0 stands for."""
        if self.lam0 is None:
            return Balanced()
        if isinstance(self.lam0, float | int | np.number):
            return Given(float(self.lam0))
        return self.lam0

    @property
    def name(self) -> str:
        if isinstance(self.eta, Corrective):
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
        return "atoms" if isinstance(self.eta, Corrective) else "x"

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, inf if the steps cannot be counted, or why it does not apply."""
        if not isinstance(self.eta, Corrective):
            seconds = cgal_seconds(Size.of(problem, tol), problem.A.terms)
            why = f"f is linear and A has few rows, {problem.A.size}"
            patience = ceil(min(PATIENCE, seconds / CGAL_CALLS))  # of steps: all that it may take
            return Estimate(seconds, why, patience=patience, follows=False)
        if problem.f.M.size + problem.A.size > MAX_IMAGE_ROWS:
            return "the images of its atoms are too long to keep"
        return Estimate(SLOW, "few atoms may make a solution, and weighing them is cheap")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0, or where an earlier solve ended.

        An adaptive penalty resumes from the lam of `warm`. Rows of the dual that the dual rule
        never moves are 0, but for a `Smoothed` rule that is not centred.
        """
        penalty = self.penalty
        lam0 = penalty.first
        if isinstance(penalty, Balanced) and warm is not None and isfinite(warm.lam):
            lam0 = warm.lam / penalty.at(warm.k, 1.0)
        if warm is None:
            warm = self.suggested(problem, lambda: tree_dual(problem))
        elif isinstance(self.sigma, Never):
            warm = replace(warm, y=np.zeros_like(warm.y))
        elif isinstance(self.sigma, Smoothed) and self.sigma.centred:
            warm = replace(warm, y=np.where(self.sigma.held(problem.h), 0.0, warm.y))
        return State.start(problem, warm, carry=CGALState(lam0))

    def suggested(self, problem: Problem, dual: Callable[[], Array | None]) -> Warm | None:
        """Return a warm start at dual(), scaled to norm at most D_Y; None to start at y = 0.

        Only the default penalty with a `Const` or `Decr` dual step starts at dual().
        """
        if self.lam0 is not None or not isinstance(self.sigma, Const | Decr):
            return None
        y = dual()
        if y is None:
            return None
        norm = float(np.linalg.norm(y))
        D_Y = self._dual_bound(1, self.penalty.first, Curvature.of(problem))
        return Warm(None, y * min(1.0, D_Y / norm) if norm else y, 0)

    def _dual_bound(self, k: int, lam0: float, curvature: Curvature) -> float:
        """D_Y of y_k."""
        return self.D_Y(k, sqrt(curvature.penalty) * lam0) if callable(self.D_Y) else self.D_Y

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration k = 1, 2, ..."""
        f, h, penalty, curvature = problem.f, problem.h, self.penalty, Curvature.of(problem)
        state = start or self.start(problem)
        Mx, Ax, y, s, gap = state.Mx, state.Ax, state.y, state.s, state.gap
        lam0, hull, has_x, value = state.carry.lam0, state.carry.hull, state.has_x, state.value
        if hull is None and isinstance(self.eta, Corrective):
            from condal.methods.hull import Hull

            hull = Hull.of(problem, x)
        face = _face(problem) if self.normalise else None  # the paper has no faces
        held = self.sigma.held(h) if isinstance(self.sigma, Smoothed) else None

        for k in count(state.k + 1):
            lam = penalty.at(k, lam0)

            # Primal step: a conditional gradient step on L_lam(., y).
            tol = self.tol(k, gap, curvature.at(lam))  # then r, w, v, s = lmo(v)
            atom = best_atom(problem, Mx, Ax, y, lam, tol=tol, guess=s, face=face)
            s, w, gap = atom.s, atom.w, atom.gap
            missed = max(abs(atom.missed), problem.equivalent_gap(Ax, value))
            segment = Segment(problem, Mx, Ax, atom, y, lam)
            step = primal_step(self.eta, k, segment, x, hull, first=not has_x)
            has_x = True
            eta, Mx, Ax, hull = step.eta, step.Mx, step.Ax, step.hull

            # Penalty update: lam_{k+1}.
            lam0 = penalty(k, lam0, curvature.share(lam) * gap, missed)
            lam_next = penalty.at(k + 1, lam0)

            # Dual step: a gradient ascent step on the multiplier.
            d = residual(h, Ax, y, lam_next, held)
            sigma = self.sigma(k, lam0, y, d, 2 / (k + 1) ** 2 * curvature.at(lam_next))
            sigma = min(sigma, norm_cap(y, d, self._dual_bound(k + 1, lam0, curvature)))
            y = axpy(y, d, sigma)

            value, carry = f.value(Mx), CGALState(lam0, hull)
            step.move(x)  # last: an interrupted iteration leaves x unchanged
            yield State(
                k, Mx, Ax, y, w, s, value, gap, atom.lower, lam, eta, sigma, carry, u=step.u
            )


def _face(problem: Problem) -> Face | None:
    """Return the face that holds all feasible x; None if no row <v v', x> = 0 tells one."""
    fixed = problem.h.fixed
    if problem.A.size == 0 or (fixed is not None and np.all(fixed)):
        return None
    from condal.methods.faces import Face

    return Face.of(problem)


def hcgm(lam0: float | None = None, *, normalise: bool = True) -> CGAL:
    r"""Return HCGM: CGAL whose dual never moves (homotopy smoothing).

    Parameters
    ----------
    lam0, normalise
        As in `CGAL`.

    Returns
    -------
    CGAL
        The method ``CGAL(lam0, sigma=Never())``.

    References
    ----------
    A. Yurtsever, O. Fercoq, F. Locatello, V. Cevher. A conditional gradient framework for composite
    convex minimization with applications to semidefinite programming. ICML 2018.
    """
    return CGAL(lam0, sigma=Never(), normalise=normalise)


def fwal(
    lam: float = 1.0, rho: float = 0.1, eta: PrimalRule | None = None, *, normalise: bool = True
) -> CGAL:
    r"""Return FW-AL: CGAL with a fixed penalty and the harmonic dual step.

    The dual step is :math:`\sigma_k = 2 \sigma_0 / (k + 2)` with :math:`\sigma_0 = 2 \rho/\lambda`.

    Parameters
    ----------
    lam : float
        The penalty.
    rho : float
        The factor of the dual step, in (0, 1]. The theory asks for a sufficiently small rho and
        does not say how small.
    eta : PrimalRule, optional
        The primal step: ``Classical()`` by default; its authors use ``LineSearch()``.
    normalise : bool
        As in `CGAL`.

    Returns
    -------
    CGAL
        The method ``CGAL(Fixed(lam), eta, sigma=Harmonic(2 * rho / lam))``.

    References
    ----------
    G. Gidel, F. Pedregosa, S. Lacoste-Julien. Frank-Wolfe splitting via augmented Lagrangian
    method. AISTATS 2018.
    """
    require_penalty(lam, "lam")
    require_fraction(rho, "rho")
    sigma = Harmonic(rho * 2 / lam)
    return CGAL(Fixed(lam), eta or Classical(), sigma, normalise=normalise)


def corrective(
    lam0: float | None = None, *, D_Y: float | DualBound = inf, normalise: bool = True
) -> CGAL:
    r"""Return fully corrective CGAL.

    :math:`x_{k+1}` minimises :math:`L_\lambda(\cdot, y_k)` over the hull of the atoms so far.

    Parameters
    ----------
    lam0, D_Y, normalise
        As in `CGAL`.

    Returns
    -------
    CGAL
        The method ``CGAL(lam0, eta=Corrective())``.
    """
    return CGAL(lam0, eta=Corrective(), D_Y=D_Y, normalise=normalise)
