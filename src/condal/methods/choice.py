"""The choice of a method where none is given: a sort of the estimates of all methods.

Each candidate answers `estimate(problem, tol)`: the seconds that it is expected to take, or the
reason why it does not apply. A cheap lower bound on the seconds comes first, so that an estimate is
computed, and a module imported, only where the method may still be the fastest of those left.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, Any

from condal.methods.registry import METHODS
from condal.types import Method, Spectral, matrix_sides, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem

LOG = logging.getLogger(__name__)
PATIENCE = 500  # iterations in which gap and infeasibility halve, or the next method is tried

# Seconds on one core, and the spread of runs about them, fitted to lab/results/crossover.json
# (`python -m condal_lab.benchmarks.crossover`).
SPLITTING_STEPS, TIGHT_SPLITTING_STEPS = 75, 260  # medians, the second for a tol below TIGHT_TOL
TIGHT_TOL = 1e-4
SPLITTING_CALLS, SPLITTING_SQUARE, SPLITTING_CUBE = 1e-3, 6e-8, 3e-11  # of a step: 1, n^2, n^3
SPLITTING_READ = 1.6e-8  # of a step, per row of A and entry of x
SPLITTING_SPREAD = 1.5
INTERIOR_STEPS = 12
INTERIOR_CALLS = 2e-3  # of a step, per block
INTERIOR_FACTOR, INTERIOR_WRITE = 2.5e-11, 8e-9  # a step with p rows: p^3, p^2
INTERIOR_PRODUCT = 1.2e-9  # of a step, per product in n x n x n
MAX_STEP_SECONDS = 1.0  # of an interior-point step: slower ones are no choice
NEWTON_CALLS, NEWTON_COUPLING, NEWTON_ENTRY = 0.14, 1.1e-5, 2.4e-5  # per entry of J J', of R
NEWTON_LOOSE, NEWTON_SPREAD = 0.75, 2.0  # the share of a run to a tol of TIGHT_TOL or more
ROOM = 1.3  # n r over the number of equations, at least
ROWS_CALLS, ROWS_ENTRY = 0.01, 2e-6  # of the low-rank method for max-cut, per entry of R

# Orders of magnitude: they place a method among those of the table above.
FEW_CALLS, FEW_ENTRY = 0.085, 1e-5  # of the low-rank method for a few rows, per entry of R
MANY_ENTRY = 1.5e-4  # the same, for many rows
CGAL_STEPS = 4.0  # times sqrt(rows) tol^(-1/3); one without rows, as the oracle has the answer
CGAL_CALLS, CGAL_READ = 1e-3, 5e-9  # of a step: 1, per row of A or f and entry of x
SWEPT_ENTRY = 1e-5  # of sweeps over vectors on spheres, per entry of R
GRADIENT_PRODUCT = 1e-7  # of gradient steps for a curved f, per multiplication of one
VECTOR_SECONDS = 0.3  # of primal-dual steps on vectors
MATRIX_SECONDS = 12.0  # of primal-dual steps on matrices for a linear f: interior ones take less
SLOW = 1e6  # of methods whose steps cannot be counted, before the last one
MAX_DENSE_SIDE = 400  # n up to which projections beat factors of any rank for a curved f
MIN_SWEPT_SIDE, SWEPT_TOL = 4000, 3e-4  # n and tol from which sweeps are faster than Newton steps


@dataclass(frozen=True)
class Choice:
    """A method, the reason for it, and its patience: iterations without progress."""

    method: Method
    why: str
    patience: int = PATIENCE


@dataclass(frozen=True)
class Estimate:
    """The seconds that a method is expected to take, and the reason for it.

    Nine runs of ten take at most `spread` times as long. `method` is the record with parameters for
    the problem, where they differ, and `then` what to try next if it fails. A method that `follows`
    is only tried after another one, and where that is False only before all others.
    """

    seconds: float
    why: str
    spread: float = 1.0
    patience: int = PATIENCE
    method: Method | None = None
    then: tuple[Choice, ...] = ()
    follows: bool | None = None


def choices(problem: Problem, *, tol: float, free_storage: bool = True) -> Iterator[Choice]:
    """Yield the methods to try in turn; each starts from the point and dual of the one before.

    CGAL with line search comes last, and alone where the storage is given: the others carry x in a
    form of their own. No estimate rises with tol, so the smallest one does not either.
    """
    size, tried = Size.of(problem, tol), False
    some = CANDIDATES if free_storage else ()
    bounds = [(each.least(size), place) for place, each in enumerate(some)]
    waiting: list[tuple[float, int, Estimate | None]]
    waiting = [(least, place, None) for least, place in bounds if least < inf]
    heapify(waiting)
    while waiting:
        _, place, estimate = heappop(waiting)
        method: Any = METHODS[some[place].name]()
        if estimate is None:
            answer = method.estimate(problem, tol)
            if isinstance(answer, str):
                LOG.debug("%s is not tried: %s", method.name, answer)
            else:
                heappush(waiting, (answer.spread * answer.seconds, place, answer))
        elif estimate.follows in (None, tried):
            tried = True
            yield Choice(estimate.method or method, estimate.why, estimate.patience)
            yield from estimate.then
    why = "it takes any problem and needs only the oracle of its domain"
    yield Choice(METHODS["cgal-ls"](), why)


@dataclass(frozen=True)
class Size:
    """What the lower bounds depend on: n is the largest side of a matrix, 0 without matrices.

    `spectral` says that x is one or several matrices, and `single` that it is one.
    """

    n: int
    spectral: bool
    single: bool
    rows: int
    curved: bool
    rank: int | None
    tol: float

    @classmethod
    def of(cls, problem: Problem, tol: float) -> Size:
        """Return that of a problem."""
        n, single = max(matrix_sides(problem.X), default=0), isinstance(problem.X, Spectral)
        spectral = spectral_parts(problem.X) is not None
        return cls(n, spectral, single, problem.A.size, problem.f.L > 0, problem.rank, tol)


def splitting_seconds(size: Size, terms: int = 0) -> float:
    """Estimate the seconds of splitting; without the rows of A, a lower bound."""
    if not size.single or size.curved:
        return inf
    n2 = float(size.n) ** 2
    step = SPLITTING_CALLS + SPLITTING_SQUARE * n2 + SPLITTING_CUBE * size.n * n2
    steps = SPLITTING_STEPS if size.tol >= TIGHT_TOL else TIGHT_SPLITTING_STEPS
    return steps * (step + SPLITTING_READ * terms * n2)


def least_columns(n: int, rows: int, most: int = 5) -> int:
    """Return the number of columns of an R that has room for some equations, and that Newton's
    method begins with: about sqrt(2 rows), the largest rank needed, or `most` n^(1/5)."""
    return min(n, max(ceil(ROOM * rows / n) + 1, min(ceil(sqrt(2 * rows)), ceil(most * n**0.2))))


def newton_seconds(entries: int, pairs: float, tol: float) -> float:
    """Estimate the seconds of Newton's method, given the entries of R and those of J J'."""
    share = NEWTON_LOOSE if tol >= TIGHT_TOL else 1.0
    return share * (NEWTON_CALLS + NEWTON_COUPLING * pairs + NEWTON_ENTRY * entries)


def _least_newton(size: Size) -> float:
    n, rows = size.n, size.rows
    if not size.single or size.curved or rows == 0 or 2 * rows >= n * (n + 1):
        return inf
    return newton_seconds(n * least_columns(n, rows), 0.0, size.tol)


def least_interior_step(n: int, rows: int) -> float:
    """Return the seconds of an interior-point step at least, without the entries of A."""
    p = float(rows)
    arithmetic = INTERIOR_FACTOR * p**3 + INTERIOR_WRITE * p**2 + INTERIOR_PRODUCT * float(n) ** 3
    return INTERIOR_CALLS + arithmetic


def _least_interior(size: Size) -> float:
    applies = size.rows > 0 and not size.curved
    return INTERIOR_STEPS * least_interior_step(size.n, size.rows) if applies else inf


def _least_swept(size: Size) -> float:
    swept = size.single and not size.curved and size.tol >= SWEPT_TOL
    return SWEPT_ENTRY * size.n if swept and size.n >= MIN_SWEPT_SIDE else inf


def gradient_seconds(size: Size) -> float:
    """Estimate the seconds of gradient steps over factors, for a curved f over matrices.

    Without an expected rank, factors have as many columns as make a step as slow as a projection.
    """
    seconds = GRADIENT_PRODUCT * float(size.n) ** 2 * (size.rank or MAX_DENSE_SIDE)
    return seconds if size.curved and size.spectral else inf


def cgal_seconds(size: Size, terms: int = 0) -> float:
    """Estimate the seconds of CGAL; without the terms of A, a lower bound."""
    steps = max(1.0, CGAL_STEPS * sqrt(size.rows) * size.tol ** (-1 / 3))
    step = CGAL_CALLS + CGAL_READ * (1 + terms) * float(size.n) ** 2
    return steps * step if size.spectral and not size.curved else inf


def primal_dual_seconds(size: Size) -> float:
    """Estimate the seconds of primal-dual steps."""
    if size.n == 0:
        return VECTOR_SECONDS
    return GRADIENT_PRODUCT * float(size.n) ** 3 if size.curved else MATRIX_SECONDS


@dataclass(frozen=True)
class Candidate:
    """The name of a method, and a lower bound on its seconds, which is inf if it cannot apply."""

    name: str
    least: Callable[[Size], float]


CANDIDATES = (
    Candidate("primal-dual", primal_dual_seconds),
    Candidate("accelerated", gradient_seconds),
    Candidate("lowrank", lambda size: 0.0 if size.spectral else inf),
    Candidate("spheres", _least_swept),
    Candidate("newton", _least_newton),
    Candidate("interior-point", _least_interior),
    Candidate("splitting", splitting_seconds),
    Candidate("cgal-fc", lambda size: inf if size.spectral else SLOW),
    Candidate("cgal-ls", cgal_seconds),
)
