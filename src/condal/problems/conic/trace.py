"""The traces that methods work within, or the verdict that none is needed.

In turn: sums of rows; the interior-point engine's proposal, and what it proves. Traces around those
of a proposed solution are not proved: only proofs for any trace count.
"""

from __future__ import annotations

import numpy as np

from condal.certificates.judge import Ending
from condal.linalg.rounding import row_squares
from condal.methods.interior.engine import Proposal
from condal.methods.interior.standard import stacked_step_seconds
from condal.problems.conic.folded import Part
from condal.problems.conic.program import Program
from condal.problems.conic.proposed import (
    Settled,
    folded_dual,
    part_traces,
    proposal_for,
    refined,
)
from condal.problems.conic.structure import Shape
from condal.problems.conic.summed_rows import (
    TRACE_OF_ZERO_PARTS,
    by_rows,
    by_single_parts,
    refuted_by_empty_row,
)
from condal.problems.conic.trace_bound import TraceBound, UnboundedTraceError, Verdict
from condal.problems.conic.verified import (
    separator_near,
    verifiable,
    verified_unbounded,
)
from condal.result import Status
from condal.runtime.arguments import require_positive

NO_SUCH_SUM = (
    "weighted constraints add up to a value that no point of the cone has, whatever its trace: "
    "proved with rounding accounted for"
)
ALONG_A_RAY = (
    "Ax is constant along a direction of the cone, and the objective is unbounded along it: "
    "proved with rounding accounted for"
)
NOT_PROVED = "not proved: for methods to work within"
FIRST_ACCURACY = 1e-7  # of a proposal that may be proved to be enough
SMALL_STEP_SECONDS = 1.2e-2  # of the engine, which is then tried before anything else
ACCURATE = 1e-6  # error of a proposed solution that needs no other search
MAX_ERROR = 1e-2  # of a proposed solution whose traces are of any use
TRACE_ROOM = 10.0  # factor on traces that are proposed and not proved
SIZE_GUESS = 1e2  # size of a feasible point, relative to b


def given_traces(shape: Shape, trace_bound: float) -> TraceBound:
    """Return the bound that holds if no block of a solution has a larger trace."""
    require_positive(trace_bound, "trace_bound")
    given, parts = float(trace_bound), shape.folded.parts
    bounds = np.array([_given(given, shape.folded.program, part) for part in parts])
    return TraceBound(bounds, "given by the user", given=given)


def bound_traces(shape: Shape, proposal: Proposal | None) -> TraceBound | Verdict:
    """Return a bound on the traces, or a verdict.

    The bound is unproved for a program of moderate size whose rows prove none; for others,
    UnboundedTraceError is raised. `proposal` is the engine's, if it is known.
    """
    program = shape.folded.program
    proofs = by_rows(shape)
    if not isinstance(proofs, list):
        return proofs
    proposal = proposal_for(program) if proposal is None else refined(program, proposal)
    verdict = None if proposal is None else _by_proposal(shape, proposal)
    answer = verdict or by_single_parts(shape, proofs)
    if answer is not None:
        return answer
    if not verifiable(program):
        raise UnboundedTraceError(
            f"no bound on the trace of {program.name} was found: no sum of its constraints proves "
            "one, and it is too large for a proof without one. Give trace_bound= (--trace-bound "
            "at the command line), a number that the trace of a solution does not exceed"
        )
    near = proposal is not None and proposal.outcome == "solution" and proposal.error <= MAX_ERROR
    towards = Settled.towards(program, proposal) if proposal is not None and near else None
    if proposal is None or towards is None or proposal.error > ACCURATE:
        ending = separator_near(program.form) or verified_unbounded(program)
        if ending is not None:
            return _verdict(shape, ending)
    return _unproved(shape, proposal if near else None, towards)


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


def _by_proposal(shape: Shape, proposal: Proposal) -> Verdict | None:
    """Return the verdict that the engine's proposal proves; None if it proves none."""
    program = shape.folded.program
    if proposal.outcome == "separator":
        ending = separator_near(program.form, proposal.y)
        return None if ending is None else _verdict(shape, ending)
    if proposal.outcome == "direction":
        ending = verified_unbounded(program, proposal.x)
        if ending is not None:
            return _verdict(shape, ending)
        other = proposal_for(program, feasibility=True)  # no point may be feasible
        if other is not None and other.outcome == "separator":
            return _by_proposal(shape, other)
    return None


def _verdict(shape: Shape, ending: Ending) -> Verdict:
    """Return the verdict of a proof that there is no optimum."""
    status, vector = ending
    if status is Status.UNBOUNDED:
        return Verdict(status, ALONG_A_RAY, ray=vector)
    return Verdict(status, NO_SUCH_SUM, y=folded_dual(shape, vector))


def _unproved(shape: Shape, proposal: Proposal | None, towards: Settled | None) -> TraceBound:
    """Return traces around those of a proposed solution, or a guess."""
    if proposal is None:
        traces = np.full(len(shape.maps), SIZE_GUESS * point_size(shape.folded.program))
        return TraceBound(traces, NOT_PROVED, proved=False)
    proposed = part_traces(shape, proposal)
    room = TRACE_ROOM * np.maximum(proposed, TRACE_OF_ZERO_PARTS * (1.0 + proposed.max()))
    return TraceBound(room, NOT_PROVED, proved=False, proposal=proposal, towards=towards)


def point_size(program: Program) -> float:
    """Return the size of a point that satisfies some row, and at least 1."""
    norms = np.sqrt(row_squares(program.A))
    distances = np.abs(program.b) / np.where(norms > 0, norms, 1.0)
    return 1.0 + float(distances.max(initial=0.0))


def _given(trace: float, program: Program, part: Part) -> float:
    """Return the bound for a part if no block has a larger trace: numbers come from many blocks."""
    blocks = np.unique(program.owners(part.index)).size if part.kind == "orthant" else 1
    return trace if blocks <= 1 else float(np.nextafter(blocks * trace, np.inf))
