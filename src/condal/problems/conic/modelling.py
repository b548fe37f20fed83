"""The model of a program: its parts, the traces to work within, and what is settled at once."""

from __future__ import annotations

import time

from condal.errors import ProblemError
from condal.methods.interior.engine import Proposal
from condal.problems.conic.folded import fold
from condal.problems.conic.model import ConicModel
from condal.problems.conic.program import Program
from condal.problems.conic.proposed import Settled
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace import bound_traces, first_answer, given_traces
from condal.problems.conic.trace_bound import TraceBound, UnboundedTraceError, Verdict
from condal.problems.conic.verified import separator_near, verifiable
from condal.runtime.limits import TimeLimit


def conic_model(
    program: Program,
    trace_bound: float | None = None,
    *,
    max_seconds: float | None = None,
) -> ConicModel:
    """Return the model of a program, with traces to work within, proved if its rows bound them.

    Parameters
    ----------
    program : Program
        The program.
    trace_bound : float, optional
        A known bound on the trace of each block: of a psd block, the sum of an orthant, the first
        entry of a second-order block. By default sums of rows prove a bound, or methods work near
        the point that an interior-point method proposes.
    max_seconds : float, optional
        A time limit for the interior-point method.

    Returns
    -------
    ConicModel
        The model; its `solve` returns a `Result`.

    Raises
    ------
    UnboundedTraceError
        If no bound is found and the program is too large for a proof without one.

    Examples
    --------
    >>> import numpy
    >>> from condal.conic import Block, Program, conic_model
    >>> program = Program([1.0, 2.0], [[1.0, 1.0]], [1.0], [Block("orthant", 2)])
    >>> model = conic_model(program)
    >>> model.trace.how
    'constraints add up to the trace'
    >>> f"{model.solve(tol=1e-6).objective:.3f}"
    '1.000'
    """
    if not isinstance(program, Program):
        raise ProblemError(f"conic_model takes a Program; got {type(program).__name__}")
    began, limit = time.perf_counter(), TimeLimit(max_seconds)
    shape = Shape.of(fold(program))
    first: TraceBound | Verdict | Proposal | None = None
    if trace_bound is not None:
        first = given_traces(shape, trace_bound)
    else:
        with limit.on():
            first = first_answer(shape)
    proposal = first if isinstance(first, Proposal) else None
    settled = None if proposal is None else Settled.of(program, proposal)

    def trace() -> TraceBound | Verdict:
        if isinstance(first, TraceBound | Verdict):
            return _checked(program, shape, first)
        with limit.on():
            return _checked(program, shape, bound_traces(shape, proposal))

    bounded = trace() if settled is None else trace
    return ConicModel(program, shape, bounded, time.perf_counter() - began, settled)


def _checked(program: Program, shape: Shape, trace: TraceBound | Verdict) -> TraceBound | Verdict:
    """Return the bound or the verdict; raise an error if a sum of rows refutes the folded program,
    and the program's own data do not prove it.

    A program that is too large rests on that sum of rows.
    """
    if not isinstance(trace, Verdict) or trace.y is None or not verifiable(program):
        return trace
    if separator_near(program.form, shape.folded.multipliers(-trace.y)) is None:
        raise UnboundedTraceError(
            f"{program.name} seems to be infeasible, but its own data do not prove it, and no "
            "bound on its trace was found: scale its rows, or give trace_bound= (--trace-bound at "
            "the command line), a number that the trace of a solution does not exceed"
        )
    return trace
