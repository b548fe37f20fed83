"""Proved bounds on the traces of the parts of a program's solutions.

In turn: sums of rows; the interior-point engine's proposal, and what it proves; phase one; the same
with the objective as a row, which bounds points up to an objective level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from condal.driver.solve import solve
from condal.methods.interior.cost import stacked_step_seconds
from condal.methods.interior.engine import Proposal
from condal.problems.conic.directions import (
    SIZE_GUESSES,
    find_ray,
    phase_one_weights,
    point_size,
)
from condal.problems.conic.folded import Part
from condal.problems.conic.program import Program
from condal.problems.conic.proposed import (
    folded_dual,
    level_above,
    part_traces,
    proposal_for,
    proved_by,
    proving_dual,
    refined,
)
from condal.problems.conic.structure import Shape
from condal.problems.conic.summed_rows import (
    TRACE_OF_ZERO_PARTS,
    by_rows,
    by_single_parts,
    impossible,
    refuted_by_empty_row,
    roomy_bound,
)
from condal.problems.conic.trace_bound import (
    Combination,
    TraceBound,
    UnboundedTraceError,
    Verdict,
    combine,
    traces,
)
from condal.problems.conic.verified import (
    bound_near,
    separator_near,
    verifiable,
    verified_infeasible,
    verified_unbounded,
)
from condal.result import Status
from condal.runtime.arguments import require_positive
from condal.runtime.limits import UNLIMITED, TimeLimit

LEVEL_GROWTH = 30.0  # factor on the room above the lowest level, if a level is too low
MAX_LEVELS = 8
MAX_SEARCH_ITERS, MIN_SEARCH_ITERS = 5_000, 200  # of each solve of a search
MAX_SEARCH_FLOPS = 1e12  # of each solve: few iterations, if each factorises large blocks
TRIAL_TOL = 1e-2
NO_SUCH_SUM = (
    "weighted constraints add up to a value that no point of the cone has, whatever its trace: "
    "proved with rounding accounted for"
)
ALONG_A_RAY = (
    "Ax is constant along a direction of the cone, and the objective is unbounded along it: "
    "proved with rounding accounted for"
)
FIRST_ACCURACY = 1e-7  # of a proposal that may be proved to be enough
SMALL_STEP_SECONDS = 1.2e-2  # of the engine, which is then tried before anything else
ACCURATE = 1e-6  # error of a proposed solution that needs no other search
TRACE_ROOM = 10.0  # factor on traces that are proposed and not proved
ANY_BOUND = -np.finfo(np.float64).max
SEARCH_SHARE, SEARCH_ITERS = 0.5, 500  # of a search beside a proposed solution
LEVEL_MARGIN = 0.5  # fraction of the room: a larger objective is not clearly below the level


@dataclass(frozen=True)
class Search:
    """The limits of a search for a bound: seed, time, iterations, and a callback for messages.

    The limit on iterations depends on the program only, so that the answer does not depend on the
    clock.
    """

    seed: int | None = None
    time: TimeLimit = UNLIMITED
    max_iters: int = MAX_SEARCH_ITERS
    say: Callable[[str], None] | None = None

    @classmethod
    def of(
        cls,
        shape: Shape,
        seed: int | None,
        max_seconds: float | None,
        say: Callable[[str], None] | None = None,
    ) -> Search:
        """Return a search that begins now."""
        parts = shape.folded.parts
        flops = sum(part.A.nnz + (part.n**3 if part.kind == "psd" else part.n) for part in parts)
        affordable = int(MAX_SEARCH_FLOPS / max(flops, 1))
        iters = min(max(affordable, MIN_SEARCH_ITERS), MAX_SEARCH_ITERS)
        return cls(seed, TimeLimit(max_seconds), iters, say)

    @property
    def limits(self) -> dict[str, Any]:
        """The options of each solve of the search."""
        limits = {"seed": self.seed, "max_iters": self.max_iters}
        return {**limits, "max_seconds": self.time.max_seconds}

    def tell(self, line: str) -> None:
        """Pass a line to the callback."""
        if self.say is not None:
            self.say(line)


def bound_traces(
    shape: Shape,
    trace_bound: float | None,
    search: Search | None,
    proposal: Proposal | None = None,
) -> TraceBound | Verdict:
    """Return a bound on the traces, or a verdict.

    Without a search, only sums of rows are tried. If neither is found, the bound is unproved for a
    program of moderate size; for others, UnboundedTraceError is raised. `proposal` is the engine's,
    if it is known.
    """
    parts = shape.folded.parts
    if trace_bound is not None:
        require_positive(trace_bound, "trace_bound")
        given = float(trace_bound)
        bounds = np.array([_given(given, shape.folded.program, part) for part in parts])
        return TraceBound(bounds, "given by the user", given=given)
    proofs = by_rows(shape)
    if not isinstance(proofs, list):
        return proofs
    if search is None:
        raise UnboundedTraceError(f"no sum of rows bounds the trace of {shape.folded.program.name}")
    with search.time.on():
        program = shape.folded.program
        proposal = proposal_for(program) if proposal is None else refined(program, proposal)
        answer = None
        if proposal is not None and not search.time.is_over():
            answer = _by_proposal(shape, proofs, proposal)
    answer = answer or by_single_parts(shape, proofs)
    if answer is not None:
        return answer
    if proposal is None:
        return _by_search(shape, proofs, search)
    with search.time.on():
        proves = _proves_a_bound(shape.folded.program, proposal)
    if proves:
        return _unproved(shape, proposal)
    try:
        share, iters = search.time.share(SEARCH_SHARE), min(search.max_iters, SEARCH_ITERS)
        return _by_search(shape, proofs, replace(search, time=share, max_iters=iters))
    except UnboundedTraceError:
        return _unproved(shape, proposal)


def _by_search(shape: Shape, proofs: list[Combination], search: Search) -> TraceBound | Verdict:
    """Return a bound or a verdict that other problems, which are solved here, lead to."""
    count = len(shape.maps)
    search.tell("no sum of rows bounds the trace: looking for one by solving a problem")
    for of_objective in (False, True):
        if search.time.is_over():
            raise _out_of_time(shape)
        y = phase_one_weights(shape, of_objective=of_objective, **search.limits)
        if y is None:
            continue
        proofs.append(combine(shape, y, of_objective=of_objective))
        if proofs[-1].impossible:
            return impossible(proofs[-1], "by phase one")
        bound = traces(proofs, count, 0.0 if of_objective else inf)
        if np.all(np.isfinite(bound)):
            if of_objective:
                return _by_level(shape, proofs, search)
            return roomy_bound(bound, proofs, "constraints, weighted by phase one, bound it")
    if search.time.is_over():
        raise _out_of_time(shape)
    search.tell("nothing bounds the trace: looking for an improving ray")
    program = shape.folded.program
    separator = separator_near(program.form) if verifiable(program) else None
    if separator is not None:
        return Verdict(Status.INFEASIBLE, NO_SUCH_SUM, y=folded_dual(shape, separator))
    found = find_ray(program, **search.limits)
    if found is not None:
        return Verdict(Status.UNBOUNDED, ALONG_A_RAY, ray=found[0], points=found[1])
    raise UnboundedTraceError(
        f"no bound on the trace of {shape.folded.program.name} was found: neither its constraints "
        "nor its objective seem to imply one, and it was not proved to be unbounded either. Give "
        "trace_bound= (--trace-bound at the command line), a number that the trace of a solution "
        "does not exceed"
    )


def first_answer(shape: Shape) -> TraceBound | Verdict | Proposal | None:
    """Return what is likely to be enough: the engine's proposal, or for larger programs what the
    rows prove, if they bound the trace; None if neither is."""
    program = shape.folded.program
    # A contradiction below the tolerance would not stop the engine.
    contradicts = program.b[np.diff(program.A.indptr) == 0].any()
    refuted = refuted_by_empty_row(shape) if contradicts else None
    if refuted is not None:
        return refuted
    if stacked_step_seconds(program.A, program.blocks) > SMALL_STEP_SECONDS:
        summed = by_rows(shape)
        if not isinstance(summed, list):
            return summed
    return proposal_for(program, FIRST_ACCURACY)


def _by_proposal(
    shape: Shape, proofs: list[Combination], proposal: Proposal
) -> TraceBound | Verdict | None:
    """Return what the engine's proposal proves; None if it proves nothing."""
    program = shape.folded.program
    if proposal.outcome == "separator":
        if not verified_infeasible(program, proposal.y, []):
            return None
        return Verdict(Status.INFEASIBLE, NO_SUCH_SUM, y=folded_dual(shape, proposal.y))
    if proposal.outcome == "direction":
        if verified_unbounded(program, proposal.x):
            return Verdict(Status.UNBOUNDED, ALONG_A_RAY, ray=proposal.x)
        other = proposal_for(program, feasibility=True)  # no point may be feasible
        refuted = other is not None and other.outcome == "separator"
        return _by_proposal(shape, proofs, other) if other is not None and refuted else None
    more = [*proofs, *proved_by(shape, proposal)]
    if len(more) == len(proofs):
        return None
    level = level_above(shape, proposal, more[len(proofs) :])
    bounds = traces(more, len(shape.maps), level)
    if not np.all(np.isfinite(bounds)):
        return None
    how = "constraints and objective, weighted by an interior-point method, bound it"
    return replace(roomy_bound(bounds, more, how), level=level, proposal=proposal)


def _proves_a_bound(program: Program, proposal: Proposal) -> bool:
    """Return whether multipliers near those of an accurate solution prove a bound for any trace."""
    if proposal.outcome != "solution" or proposal.error > ACCURATE:
        return False
    return bound_near(program, proving_dual(program, proposal), ANY_BOUND)[0] > -inf


def _unproved(shape: Shape, proposal: Proposal) -> TraceBound:
    """Return traces around those of a proposed solution, or a guess, for methods to work within.

    They are proved for no objective level: only proofs for any trace count.
    """
    how = "not proved: for methods to work within"
    if proposal.outcome != "solution":
        traces_ = np.full(len(shape.maps), SIZE_GUESSES[0] * point_size(shape.folded.program))
        return TraceBound(traces_, how, level=-inf, reached=False)
    proposed = part_traces(shape, proposal)
    room = TRACE_ROOM * np.maximum(proposed, TRACE_OF_ZERO_PARTS * (1.0 + proposed.max()))
    return TraceBound(room, how, level=-inf, reached=False, proposal=proposal)


def _given(trace: float, program: Program, part: Part) -> float:
    """Return the bound for a part if no block has a larger trace: numbers come from many blocks."""
    blocks = np.unique(program.owners(part.index)).size if part.kind == "orthant" else 1
    return trace if blocks <= 1 else float(np.nextafter(blocks * trace, inf))


def _out_of_time(shape: Shape) -> UnboundedTraceError:
    return UnboundedTraceError(
        f"no bound on the trace of {shape.folded.program.name} was found in time: raise "
        "max_seconds=, or give trace_bound=, a number that the trace of a solution does not exceed "
        "(--max-seconds and --trace-bound at the command line)"
    )


def _by_level(shape: Shape, proofs: list[Combination], search: Search) -> TraceBound:
    """Return an objective level that some feasible point is below, and the traces it allows.

    The bound is valid for any level; the trials only make it useful.
    """
    count, last = len(shape.maps), proofs[-1]
    how = "constraints and objective, weighted by phase one, bound it"
    if shape.K.distance(np.zeros(shape.K.size)) == 0.0:
        level = max(0.0, 1e-9 * abs(last.most))  # x = 0 is feasible, so better points are below
        return replace(roomy_bound(traces(proofs, count, level), proofs, how), level=level)
    lowest = -last.most
    norms = np.sqrt(sum(A.row_norms() ** 2 for A in shape.maps))
    distances = abs(shape.K.normal_residual(np.zeros(norms.size))) / np.where(norms > 0, norms, 1.0)
    room = 10.0 * float(distances.max()) * float(last.least.max())
    for _ in range(MAX_LEVELS):
        level = lowest + room
        bound = replace(roomy_bound(traces(proofs, count, level), proofs, how), level=level)
        problem = shape.problem(bound.traces)
        result = solve(problem, tol=TRIAL_TOL, **search.limits)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt  # the interrupt is meant for the whole search
        value = problem.sense * result.objective
        feasible = result.x is not None and result.infeasibility <= 2 * TRIAL_TOL
        if feasible and value <= lowest + LEVEL_MARGIN * room:
            level = value + max(value - lowest, 0.1 * abs(value))
            return replace(roomy_bound(traces(proofs, count, level), proofs, how), level=level)
        search.tell(f"no solution with an objective below {level:.3g}: trying a higher level")
        room *= LEVEL_GROWTH
        if search.time.is_over():  # a level that is too low would exclude all points
            level = lowest + LEVEL_GROWTH * room
            return replace(roomy_bound(traces(proofs, count, level), proofs, how), level=level)
    return replace(bound, reached=False)
