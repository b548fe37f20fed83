"""Which method to use where none is given, why, and what to try after it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.cone_slices import sections
from condal.methods.cgal import CGAL, corrective
from condal.methods.interior import MOST_SECONDS, InteriorPoint
from condal.methods.lowrank.method import LowRankCGAL
from condal.methods.projection.primal_dual import PrimalDual
from condal.methods.projection.splitting import Splitting
from condal.methods.rules import LineSearch
from condal.types import Method, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem

SMALL_SYSTEM = "f is linear and the system of a Newton step is small"
ALWAYS = "it takes any problem, and no more than the oracle of its domain"
PROJECTED = 400  # n up to which a curved f is faster by projections than by factors of any rank
SMALL = 150  # n below which an eigenvalue decomposition costs next to nothing
LARGE = 600  # n from which projections, some hundred of them, take a minute
FEW_ROWS = 50_000  # of the maps: what is kept of each atom
FEW = 10  # constraints: a solution then has a rank of 4 at most
LOOSE = 3e-2  # a tolerance that CGAL reaches before the others have set up
TIGHT = 1e-4  # a tolerance below which splitting takes some hundred steps
INTERIOR_STEPS = 12
SOON = 0.3  # seconds, in which projections of vectors are not done
SPLITTING_STEPS = (60, 200)  # measured, to a tolerance above and below that
SPLITTING_CALLS, SPLITTING_CUBE = 1.5e-3, 1e-9  # seconds of a step, and times n^3
SPLITTING_READ = 1.6e-8  # seconds, of an entry of A
FEWER = 100  # iterations of primal-dual steps, each of some of them, instead of PATIENCE
PATIENCE = 500  # iterations in which the gap and infeasibility halve, or the next method is tried


@dataclass(frozen=True)
class Choice:
    """A method, why it is the one, and how many iterations it may go without getting anywhere."""

    method: Method
    why: str
    patience: int = PATIENCE


def choices(problem: Problem, *, tol: float, free_storage: bool = True) -> tuple[Choice, ...]:
    """What to try, in turn: the next takes over the point and the dual of one that can do no more.

    CGAL with line search comes last, and alone where the storage is given: the others carry x in a
    form of their own.
    """
    last = Choice(CGAL(eta=LineSearch()), ALWAYS)
    if not free_storage:
        return (last,)
    if spectral_parts(problem.X) is not None:
        return (*_spectral(problem, tol), last)
    (newton, seconds), found = _newton(problem), []
    if PrimalDual().suits(problem):
        found.append(Choice(PrimalDual(), "projections onto X are cheap", FEWER))
    matrices = any(part.kind == "psd" for part in sections(problem.X) or ())
    sooner = matrices or seconds <= SOON
    found = newton + found if sooner else found + newton
    if problem.f.M.size + problem.A.size <= FEW_ROWS:
        why = "few atoms may make a solution, and weighing them is cheap"
        found.append(Choice(corrective(), why))
    return (*found, last)


def _spectral(problem: Problem, tol: float) -> list[Choice]:
    """What to try before CGAL for matrices, one or several."""
    n = max(X.n for X in spectral_parts(problem.X) or ())
    found = []
    lowrank = LowRankCGAL(aim=tol)
    why_low = _why_low_rank(problem, n, lowrank)
    if why_low is not None:
        found.append(Choice(lowrank, why_low))
    if tol < LOOSE:
        found += _projected(problem, n, tol)
    if found and why_low is None and tol < LOOSE and lowrank.fits(problem):
        found.append(Choice(lowrank, "a factor of x may go on where projections rest"))
    return found


def _projected(problem: Problem, n: int, tol: float) -> list[Choice]:
    """Projections and Newton steps, for which n must be small: the faster first."""
    newton, seconds = _newton(problem)
    if Splitting().suits(problem):
        why = f"n = {n} is small enough for an eigenvalue decomposition a step"
        each = SPLITTING_CALLS + SPLITTING_CUBE * n**3 + SPLITTING_READ * problem.A.terms * n**2
        splitting = SPLITTING_STEPS[tol < TIGHT] * each
        found = [Choice(Splitting(), why)]
        return newton + found if seconds < splitting else found + newton
    if PrimalDual().suits(problem):
        why = f"n = {n} is small enough for a projection a step"
        return [*newton, Choice(PrimalDual(), why, FEWER)]
    return newton


def _newton(problem: Problem) -> tuple[list[Choice], float]:
    """Newton's method, if a step of it does not take too long, and the seconds of all steps."""
    step = _newton_seconds(problem)
    found = [Choice(InteriorPoint(), SMALL_SYSTEM)] if step <= MOST_SECONDS else []
    return found, INTERIOR_STEPS * step


def _newton_seconds(problem: Problem) -> float:
    """Of a Newton step; inf where there are no constraints, and the oracle knows the answer."""
    return InteriorPoint().seconds(problem) if problem.A.size else inf


def _why_low_rank(problem: Problem, n: int, method: LowRankCGAL) -> str | None:
    if problem.f.L > 0:
        projected = n <= PROJECTED and problem.rank is None and PrimalDual().suits(problem)
        return None if projected or not method.fits(problem) else "f is smooth in a factor of x"
    if method.suits(problem):
        return "f is linear and diag x = b is all of A, which the rows of a factor of x can keep"
    if not method.fits(problem):
        return None
    if problem.A.diagonal_rows is not None and problem.h.fixed is not None:
        return "f is linear and A reads the diagonal alone"
    if n >= SMALL and problem.A.size <= FEW:
        return f"f is linear and {problem.A.size} constraints leave a solution of small rank"
    slow = n >= LARGE and _newton_seconds(problem) > MOST_SECONDS
    if slow and _fixes_diagonal(problem, n):
        return f"f is linear, A fixes diag x among others, and n = {n} is large for the rest"
    return None


def _fixes_diagonal(problem: Problem, n: int) -> bool:
    """Whether each x_ii of one matrix has a row of its own, an equation."""
    A = problem.A.as_matrix() if problem.h.fixed is not None else None
    if A is None or A.shape[1] != n * n:
        return False
    alone = A.indices[A.indptr[:-1][np.diff(A.indptr) == 1]]
    return np.unique(alone[alone % (n + 1) == 0]).size == n


class StallDetector:
    """Whether a method still gets anywhere: by halves of the larger of gap and infeasibility."""

    checkpoint_fields = ("_first", "_halved", "_least", "_patience", "stalled")

    def __init__(self, k: int, patience: int = PATIENCE) -> None:
        self._first = self._halved = k
        self._least, self._patience = inf, patience
        self.stalled = False  # whether it gets nowhere

    def note(self, k: int, measure: float) -> None:
        """It stalls where the patience, and half of all iterations, have passed since a halving."""
        if measure <= 0.5 * self._least and measure < self._least:
            self._least, self._halved = measure, k
        self.stalled = k - self._halved > max(self._patience, (k - self._first) // 2)
