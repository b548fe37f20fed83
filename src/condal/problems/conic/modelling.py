"""The model of a program: its parts, what bounds their traces, and what is settled at once."""

from __future__ import annotations

import time
from collections.abc import Callable

from condal.errors import ProblemError
from condal.methods.interior.engine import Proposal
from condal.problems.conic.folded import fold
from condal.problems.conic.model import ConicModel
from condal.problems.conic.program import Program
from condal.problems.conic.proposed import Settled
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace import Search, bound_traces, first_answer
from condal.problems.conic.trace_bound import TraceBound, UnboundedTraceError, Verdict
from condal.problems.conic.verified import verifiable, verified_infeasible, verified_unbounded
from condal.runtime.limits import TimeLimit


def conic_model(
    program: Program,
    trace_bound: float | None = None,
    *,
    seed: int | None = None,
    max_seconds: float | None = None,
    search: bool = True,
    say: Callable[[str], None] | None = None,
) -> ConicModel:
    """Return the model of a program, with a proved bound on the trace of its solutions.

    Parameters
    ----------
    program : Program
        The program.
    trace_bound : float, optional
        A known bound on the trace of each block: of a psd block, the sum of an orthant, the first
        entry of a second-order block. By default a bound is searched for and proved.
    seed : int, optional
        The seed of the search; by default it is drawn from the system's entropy.
    max_seconds : float, optional
        A time limit for the search.
    search : bool, optional
        Whether problems are solved in search of a bound; otherwise only sums of rows are tried.
    say : callable, optional
        Called with a line of text about each step of the search.

    Returns
    -------
    ConicModel
        The model; its `solve` returns a `Result`.

    Raises
    ------
    UnboundedTraceError
        If no bound is found and the program is not proved infeasible or unbounded.

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
    began = time.perf_counter()
    shape = Shape.of(fold(program))
    first = None
    if trace_bound is None and search:
        with TimeLimit(max_seconds).on():
            first = first_answer(shape)
    proposal = first if isinstance(first, Proposal) else None
    settled = None if proposal is None else Settled.of(program, proposal)

    def trace() -> TraceBound | Verdict:
        if isinstance(first, TraceBound | Verdict):
            return _checked(program, shape, first)
        limits = Search.of(shape, seed, max_seconds, say) if search else None
        return _checked(program, shape, bound_traces(shape, trace_bound, limits, proposal))

    bounded = trace() if settled is None else trace
    return ConicModel(program, shape, bounded, time.perf_counter() - began, settled)


def _checked(program: Program, shape: Shape, trace: TraceBound | Verdict) -> TraceBound | Verdict:
    """Return the bound or the verdict, if the program's own data prove it."""
    if isinstance(trace, Verdict) and not _proved_on(program, shape, trace):
        raise UnboundedTraceError(
            f"{program.name} seems to be {trace.status.name.lower()}, but its own data do not "
            "prove it, and no bound on its trace was found: scale its rows, or give trace_bound= "
            "(--trace-bound at the command line), a number that the trace of a solution does not "
            "exceed"
        )
    return trace


def _proved_on(program: Program, shape: Shape, verdict: Verdict) -> bool:
    """Return whether the program's own data prove the verdict.

    A program that is too large rests on the sum of rows that refutes it.
    """
    if verdict.ray is not None:
        return verified_unbounded(program, verdict.ray, verdict.points)
    if not verifiable(program):
        return True
    return verdict.y is not None and verified_infeasible(
        program, shape.folded.multipliers(-verdict.y), []
    )
