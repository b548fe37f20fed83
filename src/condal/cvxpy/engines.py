"""Engines that propose answers: by interior-point methods, elimination, and first-order methods.

The interior-point engine of this library solves the program in s or in z, whichever has fewer rows.
For the program in s it also proposes a z deep inside its cone, near which the judge proves a bound.
The first-order methods work on the same programs, within a bound on the trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from condal.certificates.cones import Cone
from condal.cvxpy.forms import SEPARATOR, SOLUTION, CvxpyProblem, Form
from condal.cvxpy.interior import ClarabelEngine, Proposal
from condal.cvxpy.nearest import NearestMatrix
from condal.cvxpy.options import Options
from condal.errors import ProblemError
from condal.methods.interior.engine import propose as embedding
from condal.methods.interior.standard import stacked_step_seconds
from condal.problems.conic.model import ConicModel
from condal.problems.conic.modelling import conic_model
from condal.problems.conic.trace_bound import TraceBound, UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.limits import TimeLimit

INTERIOR = "interior-point"  # the name of the method
SEARCH_SHARE = 0.6  # of the time, at most, for the search for a bound on the trace


@dataclass(frozen=True, eq=False)
class EmbeddedEngine:
    """The engine for one problem."""

    problem: CvxpyProblem

    @cached_property
    def form(self) -> Form:
        """The form with fewer rows."""
        in_s, in_z = self.problem.fewest
        return Form(self.problem, in_z=in_z < in_s)

    @cached_property
    def step_seconds(self) -> float:
        """About the seconds of an iteration."""
        program = self.form.program
        return stacked_step_seconds(program.A, program.blocks)

    def propose(self, options: Options, accuracy: float) -> Proposal:
        """Return what the engine proposes."""
        start = time.perf_counter()
        form, program = self.form, self.form.program
        c = program.c.toarray().ravel()
        c = -c if program.maximise else c
        cones = [Cone(block.kind, block.n) for block in program.blocks]
        ended = embedding(c, program.A, program.b, cones, accuracy=accuracy)
        outcome, inner = SOLUTION, None
        if ended.outcome == "solution":
            pair = form.pair(ended.x, ended.y)
            if not form.in_z and ended.deep is not None:
                inner = form.pair(ended.x, ended.deep)
        elif ended.outcome == "direction":
            outcome, pair = form.ray(ended.x)
        else:
            outcome, pair = form.separator(ended.y)
        seconds = time.perf_counter() - start
        return Proposal(outcome, pair, INTERIOR, ended.iterations, seconds, inner)


Engine = ClarabelEngine | EmbeddedEngine | NearestMatrix


def seem_consistent(problem: CvxpyProblem) -> bool:
    """Return whether no combination of the equations is seen to state that 0 is another number."""
    try:
        return Form(problem, in_z=True).elimination.ray is None
    except ProblemError:  # they are too many to tell
        return False


def eliminated(problem: CvxpyProblem) -> Iterator[Proposal]:
    """Yield what the elimination of variables shows: contradictions, a ray, a problem without rows.

    A contradiction is a row that states 0 = g, or that of two equations.
    """
    form = Form(problem)
    shown = [*form.shown(), *Form(problem, in_z=True).shown()]
    if not problem.layout.blocks or form.program.b.size == 0:
        length = sum(block.length for block in problem.layout.blocks)
        shown.append((SOLUTION, form.pair(np.zeros(length), np.zeros(0))))
    for outcome, pair in sorted(shown, key=lambda each: each[0] != SEPARATOR):
        yield Proposal(outcome, pair, "elimination", 0, 0.0)


def by_program(
    form: Form, options: Options, excess: Callable[[Proposal], float], progress: Progress | None
) -> Proposal:
    """Return what the methods of `condal.solve` propose for the program in s or in z.

    `excess` returns how many times tol the error of a solution is, as the judge sees it: the solve
    resumes with a smaller tolerance if it is above 1. ProblemError if nothing bounds the trace.
    """
    limit = TimeLimit(options.max_seconds)
    if form.program.b.size == 0 and not form.in_z:
        raise UnboundedTraceError("no row bounds anything")
    model = conic_model(
        form.program,
        options.trace_bound,
        max_seconds=limit.share(SEARCH_SHARE).max_seconds,
    )
    trace = model.trace if model.settled is None else None
    if isinstance(trace, TraceBound) and not trace.proved and trace.proposal is None:
        raise UnboundedTraceError(f"nothing bounds the trace of {form.program.name}")

    def over(result: Result) -> float:
        # The gap is that of the objective with its offset.
        value = max(1.0, abs(model.objective(result)))
        beyond = abs(result.bound - result.objective) / value / options.tol
        return excess(_proposal(form, model, result)) if beyond <= 1 else beyond

    try:
        result = model.solve(
            options.method,
            excess=over,
            tol=options.tol,
            max_iters=options.max_iters,
            max_seconds=limit.max_seconds,
            seed=options.seed,
            failure=options.failure,
            callback=progress,
        )
    except np.linalg.LinAlgError as error:  # rounding broke a method down
        raise ProblemError(f"the solve broke down: {error}") from error
    return _proposal(form, model, result)


def _proposal(form: Form, model: ConicModel, result: Result) -> Proposal:
    """Return what a result of the program says of x and z."""
    sign = -1.0 if form.in_z else 1.0
    verdict = model.verdict if result.status is Status.UNBOUNDED else None
    if result.status is Status.INFEASIBLE:
        outcome, pair = form.separator(-model.separator(result))
    elif verdict is not None and verdict.ray is not None:
        outcome, pair = form.ray(verdict.ray)
    else:
        blocks = model.blocks(result, full=True)
        flat = np.concatenate([np.asarray(block).ravel() for block in blocks])
        # What the engine settles rests on no trace, which is then not searched for.
        y = model.dual(result) if model.has_trace else model.multipliers(result.y)
        outcome, pair = SOLUTION, form.pair(flat, sign * y)
    return Proposal(outcome, pair, result.method, result.iterations, result.seconds, None, result)
