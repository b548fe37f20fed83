"""How large the solutions of a program can be: bounds on the traces of its parts, proved.

In turn: rows that add up to the trace; a linear program over the rows that read diagonals; phase
one; phase one with the objective as a row, which bounds the points of an objective up to a level.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from condal.driver.solve import solve
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.conic import phases
from condal.problems.conic.combinations import Combination, combine, traces
from condal.problems.conic.exact import exact_trace, identity_weights
from condal.problems.conic.linear import diagonal_weights
from condal.problems.conic.rays import Ray, find_ray
from condal.problems.conic.structure import Shape
from condal.result import Status
from condal.runtime.arguments import require_positive

GROWTH = 30.0  # of the room for the objective, where a level turns out too low
SHORTEST = 1e-3  # seconds: a limit is positive
LEVELS = 8  # that are tried
LOOSE = 1e-2  # the tolerance of a trial
NOTHING, ROOM_OF_NOTHING = 1e-9, 1e-3  # of the largest trace: one that is 0, and what it gets
ROOM = 0.5  # of the room that a level leaves: an objective above is not clearly below the level


class UnboundedTraceError(ProblemError):
    """Nothing was found that bounds the trace of a program's solutions."""


@dataclass(frozen=True, eq=False)
class TraceBound:
    """Every feasible x has parts of at most these traces, or of exactly the one; `how` says why.

    With a finite `level` that is so of the points whose (minimised) objective is at most the level:
    the others are no better than that. A bound that is `given` is the user's word; else
    `combinations` prove it.
    """

    traces: Array
    how: str
    exact: bool = False
    level: float = inf
    given: bool = False
    combinations: tuple[Combination, ...] = field(default=(), repr=False)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is proved of a program before it is solved: no x is feasible, or none is the best."""

    status: Status
    how: str
    y: Array | None = field(default=None, repr=False)
    ray: Ray | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Search:
    """What may be spent on finding a bound, until when on the clock, and whom to tell."""

    seed: int = 0
    until: float = inf
    say: Callable[[str], None] | None = None

    @classmethod
    def of(
        cls, seed: int, max_seconds: float | None, say: Callable[[str], None] | None = None
    ) -> Search:
        """One that begins now."""
        return cls(seed, inf if max_seconds is None else time.perf_counter() + max_seconds, say)

    @property
    def left(self) -> float | None:
        """How many seconds are left, hardly any at the least; None for no limit."""
        if self.until == inf:
            return None
        return max(self.until - time.perf_counter(), SHORTEST)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() >= self.until

    def tell(self, line: str) -> None:
        """A line to whoever listens."""
        if self.say is not None:
            self.say(line)


def bound_traces(shape: Shape, trace_bound: float | None, search: Search) -> TraceBound | Verdict:
    """A bound on the traces, or a proof that there is nothing to bound; ProblemError if none was
    found."""
    count = len(shape.maps)
    if trace_bound is not None:
        require_positive(trace_bound, "trace_bound")
        return TraceBound(np.full(count, float(trace_bound)), "it was given", given=True)
    found = _by_rows(shape)
    if not isinstance(found, list):
        return found
    search.tell("no sum of rows bounds the trace: looking for one by solving a problem")
    for of_objective in (False, True):
        y = phases.weights(
            shape, of_objective=of_objective, seed=search.seed, max_seconds=search.left
        )
        if y is None:
            continue
        found.append(combine(shape, y, of_objective=of_objective))
        if found[-1].impossible:
            return _impossible(found[-1], "by phase one")
        bound = traces(found, count, 0.0 if of_objective else inf)
        if np.all(np.isfinite(bound)):
            if of_objective:
                return _by_level(shape, found, search)
            return _bound(bound, found, "constraints, weighed by phase one, bound it")
    search.tell("nothing bounds the trace: looking for a direction without end")
    ray = find_ray(shape.folded.program, seed=search.seed, max_seconds=search.left)
    if ray is not None:
        how = "along a direction inside the cone Ax stays what it is, and the objective improves "
        how += "without end: proved, rounding and all"
        return Verdict(Status.UNBOUNDED, how, ray=ray)
    raise UnboundedTraceError(
        f"no bound on the trace of {shape.folded.program.name} was found: neither its constraints "
        "nor its objective imply one, as far as was seen, and it was not proved to be unbounded "
        "either. Give trace_bound= (--trace-bound at the command line), a number that the trace of "
        "a solution does not exceed"
    )


def _by_rows(shape: Shape) -> TraceBound | Verdict | list[Combination]:
    """A bound by the rows as they are; else the combinations that were found."""
    folded, count = shape.folded, len(shape.maps)
    found: list[Combination] = []
    empty = _empty_row(shape)
    if empty is not None and empty.impossible:
        return _impossible(empty, "by a row without entries")
    y = identity_weights(folded)
    if y is not None:
        total = exact_trace(folded, y)
        if total is not None and total > 0:
            how = "constraints add up to the trace"
            proof = Combination(y, np.ones(count), float(total))
            traces_ = np.full(count, float(total))
            return TraceBound(traces_, how, exact=count == 1, combinations=(proof,))
        found.append(combine(shape, y))
    wanted: list[tuple[int, ...]] = [tuple(range(count))]
    wanted += [(j,) for j in range(count)] if 1 < count <= 64 else []
    for parts in wanted:
        if y is None or len(parts) < count:
            weights = diagonal_weights(folded, parts)
            if weights is not None:
                found.append(combine(shape, weights))
    for one in found:
        if one.impossible:
            return _impossible(one, "by a sum of rows")
    bound = traces(found, count)
    if np.all(np.isfinite(bound)):
        return _bound(bound, found, "a sum of constraints bounds it")
    return found


def _empty_row(shape: Shape) -> Combination | None:
    """A row without entries that asks for something else than 0."""
    entries = sum(np.diff(part.A.indptr) for part in shape.folded.parts)
    # The normal at 0 points from K to 0: all that K has is on its other side.
    asked = shape.K.normal_residual(np.zeros(shape.K.size)) * (entries == 0)
    return combine(shape, asked) if asked.any() else None


def _bound(found: Array, proofs: list[Combination], how: str) -> TraceBound:
    """A part that must be 0 gets some room: a domain has a size, and one far below the others
    makes multipliers that rounding spoils."""
    largest = float(found.max()) or 1.0
    roomy = np.where(found > NOTHING * largest, found, ROOM_OF_NOTHING * largest)
    return TraceBound(roomy, how, combinations=tuple(proofs))


def _impossible(found: Combination, by: str) -> Verdict:
    how = f"{by}: weighed constraints add up to what no point of the cone has, of any trace"
    return Verdict(Status.INFEASIBLE, how, y=found.y)


def _by_level(shape: Shape, found: list[Combination], search: Search) -> TraceBound:
    """A level that some feasible point is below, and the traces that it allows.

    Whatever the level is, the bound is right: the trials only make it a useful one.
    """
    count, last = len(shape.maps), found[-1]
    how = "constraints and objective, weighed by phase one, bound it"
    if shape.K.distance(np.zeros(shape.K.size)) == 0.0:
        level = max(0.0, 1e-9 * abs(last.most))  # x = 0 is feasible: no better point is above
        return replace(_bound(traces(found, count, level), found, how), level=level)
    lowest = -last.most
    norms = np.sqrt(sum(A.row_norms() ** 2 for A in shape.maps))
    reach = abs(shape.K.normal_residual(np.zeros(norms.size))) / np.where(norms > 0, norms, 1.0)
    room = 10.0 * float(reach.max()) * float(last.least.max())
    for _ in range(LEVELS):
        level = lowest + room
        bound = replace(_bound(traces(found, count, level), found, how), level=level)
        problem = shape.problem(bound.traces)
        result = solve(problem, tol=LOOSE, seed=search.seed, max_seconds=search.left)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt  # it is for the whole search
        value = problem.sense * result.objective
        near = result.x is not None and result.infeasibility <= 2 * LOOSE
        if near and value <= lowest + ROOM * room:
            level = value + max(value - lowest, 0.1 * abs(value))
            return replace(_bound(traces(found, count, level), found, how), level=level)
        search.tell(f"no solution of an objective below {level:.3g}: looking above")
        if search.over:
            break
        room *= GROWTH
    return bound
