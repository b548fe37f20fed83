"""The choice of a method where none is given: candidates in order, and when to try the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from condal.types import Method, Spectral, spectral_parts

if TYPE_CHECKING:
    from condal.methods.lowrank.method import LowRankCGAL
    from condal.problem import Problem

SMALL_SYSTEM = "f is linear and the system of a Newton step is small"
DEPENDENT_ROWS = "the rows may be dependent at a solution, which matters little to it"
ALWAYS = "it takes any problem and needs only the oracle of its domain"
MAX_PROJECTED_SIDE = 400  # n up to which projections beat factors of any rank for a curved f
CHEAP_SIDE = 150  # n below which an eigenvalue decomposition costs next to nothing
SLOW_SIDE = 600  # n from which a few hundred projections take a minute
MAX_IMAGE_ROWS = 50_000  # rows of the maps, kept for each atom
FEW_CONSTRAINTS = 10  # a solution then has a rank of 4 at most
LOOSE_TOL = 3e-2  # CGAL reaches this before the others have set up
TIGHT_TOL = 1e-4  # below this splitting takes some hundred steps
INTERIOR_STEPS = 12
MAX_SLOW_STEP_SECONDS = 10.0  # of an interior-point step, where factors of low rank fail
VECTOR_SECONDS = 0.3  # projections of vectors take longer
SPLITTING_STEPS = (75, 260)  # medians, for a tolerance above and below TIGHT_TOL
# Seconds of a step, times 1, n^2 and n^3, fitted to lab/results/crossover.json.
SPLITTING_CALLS, SPLITTING_SQUARE, SPLITTING_CUBE = 1e-3, 6e-8, 3e-11
SPLITTING_READ = 1.6e-8  # seconds per entry of A
# Newton's method over factors takes up to this multiple of its estimate on degenerate problems.
SURFACE_SPREAD = 2.0
SURFACE_PATIENCE = 60  # each iteration of this method is a Newton step
PRIMAL_DUAL_PATIENCE = 100  # each iteration of this method is several steps
SWEPT_PATIENCE = 300  # each iteration of this method is ten sweeps
MIN_SWEPT_SIDE = 4000  # n from which sweeps are faster than Newton steps,
SWEPT_TOL = 3e-4  # for this tolerance or a larger one
PATIENCE = 500  # iterations in which gap and infeasibility halve, or the next method is tried


@dataclass(frozen=True)
class Choice:
    """A method, the reason for it, and its patience: iterations without progress."""

    method: Method
    why: str
    patience: int = PATIENCE


def choices(problem: Problem, *, tol: float, free_storage: bool = True) -> Iterator[Choice]:
    """Yield the methods to try in turn; each starts from the point and dual of the one before.

    CGAL with line search comes last, and is the only one where the storage is given: the other
    methods carry x in a form of their own.
    """
    if free_storage:
        matrices = spectral_parts(problem.X) is not None
        yield from _spectral(problem, tol) if matrices else _conic(problem)
    from condal.methods.cgal import CGAL
    from condal.methods.rules import LineSearch

    yield Choice(CGAL(eta=LineSearch()), ALWAYS)


def _conic(problem: Problem) -> list[Choice]:
    """The candidates before CGAL for vectors and products of cones."""
    from condal.linalg.forms import sections
    from condal.methods.cgal import corrective
    from condal.methods.projection.primal_dual import PrimalDual

    (newton, seconds), candidates = _newton(problem), []
    if PrimalDual().suits(problem):
        why = "projections onto X are cheap"
        candidates.append(Choice(PrimalDual(), why, PRIMAL_DUAL_PATIENCE))
    has_matrices = any(section.kind == "psd" for section in sections(problem.X) or ())
    newton_first = has_matrices or seconds <= VECTOR_SECONDS
    candidates = newton + candidates if newton_first else candidates + newton
    if problem.f.M.size + problem.A.size <= MAX_IMAGE_ROWS:
        why = "few atoms may make a solution, and weighing them is cheap"
        candidates.append(Choice(corrective(), why))
    return candidates


def _spectral(problem: Problem, tol: float) -> Iterator[Choice]:
    """The candidates before CGAL for one or several matrices."""
    from condal.methods.lowrank.method import LowRankCGAL

    n = max(X.n for X in spectral_parts(problem.X) or ())
    lowrank, others, on_surface = LowRankCGAL(aim=tol), [], None
    why = _why_low_rank(problem, n, lowrank)
    if why is not None:  # the others are seldom needed, and take time to import
        yield from _curved(problem, tol) if problem.f.L > 0 else ()
        yield Choice(lowrank, why)
    else:
        if n >= MIN_SWEPT_SIDE and tol >= SWEPT_TOL:
            yield from _swept(problem, tol)
        on_surface = _on_surface(problem, tol) if tol < LOOSE_TOL else None
        if on_surface is not None and on_surface.seconds < _least_seconds(problem, n, tol):
            yield from on_surface.choices  # the estimates of the others take time
        why = _why_not_projected(problem, n, lowrank)
        others += [] if why is None else [_Estimate(Choice(lowrank, why))]
    if tol < LOOSE_TOL:
        others += _projected(problem, n, tol)
    candidates = _in_order(others, on_surface)
    if on_surface is not None and on_surface.seconds < _least_seconds(problem, n, tol):
        candidates = [choice for choice in candidates if choice not in on_surface.choices]
    if (candidates or on_surface) and why is None and tol < LOOSE_TOL and lowrank.fits(problem):
        candidates.append(Choice(lowrank, "a factor of x may progress where projections stall"))
    yield from candidates


def _curved(problem: Problem, tol: float) -> Iterator[Choice]:
    """The candidates before the augmented Lagrangian over factors, for a curved f."""
    from condal.methods.accelerated.method import AcceleratedGradient
    from condal.methods.lowrank.method import LowRankCGAL

    method = AcceleratedGradient()
    if not method.suits(problem):
        return
    if problem.rank == 1:
        single = LowRankCGAL(aim=tol, fixed_rank=True)
        yield Choice(single, "f is smooth in a factor of x, and a solution of rank 1 is expected")
    yield Choice(method, "f is curved and projections onto X have a low rank")


@dataclass(frozen=True)
class _Estimate:
    """A choice, the seconds it is expected to take, and up to how many times that."""

    choice: Choice
    seconds: float = inf
    spread: float = 1.0
    successors: tuple[Choice, ...] = ()  # to try next if the choice fails

    @property
    def choices(self) -> list[Choice]:
        """The choice and its successors."""
        return [self.choice, *self.successors]


def _in_order(others: list[_Estimate], on_surface: _Estimate | None) -> list[Choice]:
    """All choices, with the method on the surface before the first one that it should beat.

    Interior-point steps are as many on a degenerate problem as on another: to come before them,
    the method must be faster by its spread.
    """
    before = [other.choice for other in others]
    if on_surface is None:
        return before
    for place, other in enumerate(others):
        spread = on_surface.spread if other.choice.why == SMALL_SYSTEM else 1.0
        if spread * on_surface.seconds < other.seconds:
            return [*before[:place], *on_surface.choices, *before[place:]]
    return [*before, *on_surface.choices]


def _least_seconds(problem: Problem, n: int, tol: float) -> float:
    """What projections or interior-point steps take at least, by n and the number of rows.

    It is divided by the spread of the method on the surface, which comes first if it takes less.
    """
    from condal.methods.interior.cost import least_step_seconds

    each = SPLITTING_CALLS + SPLITTING_SQUARE * n**2 + SPLITTING_CUBE * n**3
    interior = INTERIOR_STEPS * least_step_seconds(n, problem.A.size)
    return min(SPLITTING_STEPS[tol < TIGHT_TOL] * each, interior) / SURFACE_SPREAD


def _on_surface(problem: Problem, tol: float) -> _Estimate | None:
    """Newton's method over the factors of feasible points, for sparse equations."""
    from condal.methods.surface.method import LowRankNewton

    method = LowRankNewton(aim=tol)
    seconds = method.seconds(problem)
    if seconds == inf:
        return None
    successors = _after_surface(problem)
    method = replace(method, patient=not successors)
    why = "f is linear and sparse equations define a surface of factors of x"
    # Without an interior, interior-point steps stall short of a small tolerance.
    spread = 1.0 if method.reduces(problem) else SURFACE_SPREAD
    return _Estimate(Choice(method, why, SURFACE_PATIENCE), seconds, spread, successors)


def _swept(problem: Problem, tol: float) -> Iterator[Choice]:
    """Sweeps over vectors on spheres, for a fixed diagonal or theta, and bounds on entries."""
    from condal.methods.spheres.method import SphereSweeps

    method = SphereSweeps(aim=tol)
    if method.suits(problem):
        why = "f is linear and A bounds inner products of pairs of vectors on spheres"
        yield Choice(method, why, SWEPT_PATIENCE)


def _after_surface(problem: Problem) -> tuple[Choice, ...]:
    """Slow interior-point steps, for rows that are nearly dependent; fast ones are tried anyway."""
    from condal.methods.interior.cost import MAX_STEP_SECONDS, least_step_seconds

    assert isinstance(problem.X, Spectral)
    least = least_step_seconds(problem.X.n, problem.A.size)
    if not MAX_STEP_SECONDS < least <= MAX_SLOW_STEP_SECONDS:  # the estimate itself takes time
        return ()
    if _newton_seconds(problem) > MAX_SLOW_STEP_SECONDS:
        return ()
    from condal.methods.interior.method import InteriorPoint

    return (Choice(InteriorPoint(), DEPENDENT_ROWS),)


def _projected(problem: Problem, n: int, tol: float) -> list[_Estimate]:
    """Projections and Newton steps, which need a small n: the faster first."""
    from condal.methods.projection.primal_dual import PrimalDual
    from condal.methods.projection.splitting import Splitting

    interior, seconds = _newton(problem)
    newton = [_Estimate(choice, seconds) for choice in interior]
    if Splitting().suits(problem):
        why = f"n = {n} is small enough for an eigenvalue decomposition per step"
        each = SPLITTING_CALLS + SPLITTING_SQUARE * n**2 + SPLITTING_CUBE * n**3
        each += SPLITTING_READ * problem.A.terms * n**2
        splitting = _Estimate(Choice(Splitting(), why), SPLITTING_STEPS[tol < TIGHT_TOL] * each)
        return sorted([splitting, *newton], key=lambda estimate: estimate.seconds)
    if PrimalDual().suits(problem):
        why = f"n = {n} is small enough for a projection per step"
        return [*newton, _Estimate(Choice(PrimalDual(), why, PRIMAL_DUAL_PATIENCE))]
    return newton


def _newton(problem: Problem) -> tuple[list[Choice], float]:
    """The interior-point method, if a step of it is fast enough, and the seconds of all steps."""
    from condal.methods.interior.cost import MAX_STEP_SECONDS
    from condal.methods.interior.method import InteriorPoint

    seconds = _newton_seconds(problem)
    newton = [Choice(InteriorPoint(), SMALL_SYSTEM)] if seconds <= MAX_STEP_SECONDS else []
    return newton, INTERIOR_STEPS * seconds


def _newton_seconds(problem: Problem) -> float:
    """The seconds per Newton step; inf without constraints, where the oracle has the answer."""
    from condal.methods.interior.method import InteriorPoint

    return InteriorPoint().seconds(problem) if problem.A.size else inf


def _why_low_rank(problem: Problem, n: int, method: LowRankCGAL) -> str | None:
    """Why an augmented Lagrangian over factors of x comes first, if it does."""
    if problem.f.L > 0:
        from condal.methods.projection.primal_dual import PrimalDual

        small = n <= MAX_PROJECTED_SIDE and problem.rank is None
        projected = small and PrimalDual().suits(problem)
        return None if projected or not method.fits(problem) else "f is smooth in a factor of x"
    if method.suits(problem):
        fixed = "diag x = b" if problem.A.diagonal_rows is not None else "x_ii = I for its blocks"
        return f"f is linear and {fixed} is all of A, which the rows of a factor of x can keep"
    if not method.fits(problem):
        return None
    if problem.A.diagonal_rows is not None and problem.h.fixed is not None:
        return "f is linear and A reads the diagonal alone"
    if n >= CHEAP_SIDE and problem.A.size <= FEW_CONSTRAINTS:
        return f"f is linear and {problem.A.size} constraints leave a solution of small rank"
    return None


def _why_not_projected(problem: Problem, n: int, method: LowRankCGAL) -> str | None:
    """Why it comes before projections and interior-point steps, if it does."""
    from condal.methods.interior.cost import MAX_STEP_SECONDS

    if n < SLOW_SIDE or problem.f.L > 0 or not method.fits(problem):
        return None
    if _newton_seconds(problem) <= MAX_STEP_SECONDS or not _fixes_diagonal(problem, n):
        return None
    return f"f is linear, A fixes diag x among others, and n = {n} is large for the rest"


def _fixes_diagonal(problem: Problem, n: int) -> bool:
    """Whether each x_ii of one matrix has an equation of its own."""
    from condal.linalg.forms import SquareRows

    rows = SquareRows.of(problem.A) if problem.h.fixed is not None else None
    if rows is None or rows.matrix.shape[1] != n * n:
        return False
    A = rows.matrix
    single = A.indices[A.indptr[:-1][np.diff(A.indptr) == 1]]  # the entry of each one-entry row
    return np.unique(single[single % (n + 1) == 0]).size == n
