"""The problem as methods see it: of one scale, and with its oracle counted.

A method sees c f, D A and the h of D A, with D diagonal: rows of equal norm, |D A| max|x| = 1, and
an objective that varies by about 1. x itself is not scaled: a method is unchanged when x and A are
scaled against each other, so fitting D A to the size of X has the same effect.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from condal.certificates.bound import require_scales
from condal.certificates.history import Row
from condal.domains.wrapped import Wrapped, WrappedSpectral
from condal.errors import ProblemError
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array
from condal.methods.state import State
from condal.problem import Problem
from condal.runtime.meter import check_cancelled, products_done
from condal.types import Domain, Projectable, Spectral, projects, spectral_parts

MAX_DISTANCE = 1e30  # of K from 0, times the longest Ax: beyond it the data are wrong


@dataclass(frozen=True, eq=False)
class Scaling:
    """The factors: c of the objective, `rows` of the constraints."""

    c: float
    rows: Array

    def dual(self, y: Array) -> Array:
        """Return the user's y from the normalised one."""
        return self.rows * y / self.c

    def normalised_dual(self, y: Array) -> Array:
        """Return the normalised y from the user's."""
        return self.c * y / self.rows

    def image(self, Ax: Array) -> Array:
        """Return the user's Ax from the normalised one."""
        return Ax / self.rows


@dataclass(frozen=True, eq=False)
class Normalised(Problem):
    """A normalised problem, which measures infeasibility in the units of the given one."""

    given: Problem = field(kw_only=True)
    scaling: Scaling = field(kw_only=True)

    def equivalent_gap(self, Ax: Array, objective: float) -> float:
        c = self.scaling.c
        return c * self.given.equivalent_gap(self.scaling.image(Ax), objective / c)


def normalise(problem: Problem) -> tuple[Problem, Scaling]:
    """Return the normalised problem, and the scaling that undoes it."""
    require_scales(problem)
    size, magnitude = problem.X.max_norm, problem.objective_range
    with np.errstate(over="ignore", under="ignore"):
        norms = problem.A.row_norms()
    c = 1.0 / magnitude if magnitude > 0 else 1.0
    rows = np.ones_like(norms)
    for places, piece in problem.h.pieces:
        each = norms[places]
        each = each if piece.separable else np.full(piece.size, each.max(initial=0.0))
        rows[places] = 1.0 / np.where(each > 0, each, 1.0)
    A = problem.A.scaled(rows)
    longest = A.norm * size
    if longest > 0:
        rows = rows / longest
        A = problem.A.scaled(rows)
    f, h = problem.f.scaled(c), problem.h.scaled(rows, c)
    with np.errstate(over="ignore"):
        away = h.distance(zeros_of(A))
    if away > MAX_DISTANCE:
        raise ProblemError(
            f"K is {away:.3g} times as far from 0 as any Ax can be: nothing is feasible; check b, "
            "the bounds and their units"
        )
    others = {name: getattr(problem, name) for name in ("maximise", "propose", "name", "rank")}
    scaling = Scaling(c, rows)
    scaled = Normalised(f, problem.X, A, h, **others, given=problem, scaling=scaling, checked=True)
    return scaled, scaling


def as_given(problem: Problem) -> tuple[Problem, Scaling]:
    """Return the problem for a method in the user's units, and a scaling that changes nothing."""
    require_scales(problem)
    return replace(problem, repair=None, checked=True), Scaling(1.0, zeros_of(problem.A) + 1.0)


@dataclass
class Counts:
    """The calls of the oracle so far."""

    oracle_calls: int = 0
    matvecs: int = 0
    oracle_cpu_seconds: float = 0.0
    longest: float = 0.0  # seconds of one call


def _counted(name: str) -> Any:
    """Return a method that asks X, and counts the call and its time."""

    def call(self: CountedDomain, *args: Any, **options: Any) -> Any:
        check_cancelled()
        counts = self.counts
        counts.oracle_calls += 1
        before, products = time.process_time(), products_done()
        began = time.perf_counter()
        try:
            return getattr(self.X, name)(*args, **options)
        finally:
            counts.matvecs += products_done() - products
            counts.oracle_cpu_seconds += time.process_time() - before
            counts.longest = max(counts.longest, time.perf_counter() - began)

    return call


class CountedDomain(Wrapped):
    """X with its oracle calls and their products counted."""

    def __init__(self, X: Domain, counts: Counts) -> None:
        super().__init__(X)
        self.counts = counts

    lmo = _counted("lmo")


class _CountedSpectral(CountedDomain, WrappedSpectral):
    lowest, project = _counted("lowest"), _counted("project")


class _CountedProjectable(CountedDomain):
    X: Projectable
    project = _counted("project")


class _CountedBlocks(_CountedProjectable):
    @property
    def parts(self) -> tuple[CountedDomain, ...]:
        parts = spectral_parts(self.X)
        assert parts is not None
        return tuple(_CountedSpectral(part, self.counts) for part in parts)


def counted(problem: Problem, counts: Counts | None = None) -> tuple[Problem, Counts]:
    """Return the problem with its oracle counted, and the counts, which may continue others."""
    counts = Counts() if counts is None else counts
    return replace(problem, X=_counted_domain(problem.X, counts), checked=True), counts


def _counted_domain(X: Domain, counts: Counts) -> CountedDomain:
    if isinstance(X, Spectral):
        return _CountedSpectral(X, counts)
    if spectral_parts(X) is not None:
        return _CountedBlocks(X, counts)
    return (_CountedProjectable if projects(X) else CountedDomain)(X, counts)


class Recorder:
    """Converts states of the normalised problem to rows."""

    def __init__(self, problem: Problem, normalised: Problem, scaling: Scaling) -> None:
        self.problem, self.normalised, self.scaling = problem, normalised, scaling
        self._uniform = _uniform(scaling.rows)

    def row(
        self, state: State, lower: float, w: Array, proved: float, counts: Counts, seconds: float
    ) -> Row:
        """Return the row of a state, with the best estimated lower bound so far, its dual, and the
        error that is proved so far."""
        sense, c = self.problem.sense, self.scaling.c
        value = state.value + self.normalised.h.value(state.Ax)
        objective, bound = sense * value / c, sense * lower / c
        if self._uniform is not None:
            distance = self.normalised.h.distance(state.Ax) / self._uniform
            price = self.normalised.price(state.Ax, w) / c if distance else 0.0
        else:
            Ax = self.scaling.image(state.Ax)
            distance = self.problem.h.distance(Ax)
            price = self.problem.price(Ax, self.scaling.dual(w)) if distance else 0.0
        unit = self.problem.gap_unit(objective)
        return Row(
            state.k,
            objective,
            bound,
            abs(bound - objective) / unit,
            distance / self.problem.infeasibility_unit,
            price / unit,
            proved,
            state.lam,
            state.eta,
            state.sigma,
            counts.oracle_calls,
            counts.matvecs,
            seconds,
        )


def _uniform(rows: Array) -> float | None:
    """Return the common factor of the rows, if there is one."""
    if rows.size == 0:
        return 1.0
    least = float(rows.min())
    return least if least == rows.max() else None
