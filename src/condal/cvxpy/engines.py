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
from condal.cvxpy.forms import CvxpyProblem, Dual, Pair, Primal
from condal.cvxpy.interior import DIRECTION, SEPARATOR, SOLUTION, ClarabelEngine, Proposal
from condal.cvxpy.nearest import NearestMatrix
from condal.cvxpy.options import Options
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.methods.interior.cost import stacked_step_seconds
from condal.methods.interior.engine import Proposal as Ending
from condal.methods.interior.engine import propose as embedding
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
    def form(self) -> Primal | Dual:
        """The form with fewer rows."""
        in_s, in_z = self.problem.fewest
        return Primal(self.problem) if in_s <= in_z else Dual(self.problem)

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
        seconds = time.perf_counter() - start
        if ended.outcome != "solution":
            return self._ray(ended, seconds)
        pair = form.pair(ended.x, ended.y)
        deep = ended.deep if isinstance(form, Primal) else None
        inner = None if deep is None else form.pair(ended.x, deep)
        return Proposal(
            SOLUTION, pair, INTERIOR, ended.iterations, time.perf_counter() - start, inner
        )

    def _ray(self, ended: Ending, seconds: float) -> Proposal:
        """Return a separator or a direction, from a ray of the program."""
        form, problem = self.form, self.problem
        x: Array = np.zeros(problem.c.size)
        z: Array = np.zeros(problem.b.size)
        outcome = ""
        if isinstance(form, Primal) and ended.outcome == "separator":
            outcome, z = SEPARATOR, form.separating(ended.y)
        elif isinstance(form, Primal):
            outcome, x = DIRECTION, form.direction(ended.x)
        elif ended.outcome == "direction":
            outcome, z = SEPARATOR, form.separating(ended.x)
        return Proposal(outcome, Pair(x, z), INTERIOR, ended.iterations, seconds)


Engine = ClarabelEngine | EmbeddedEngine | NearestMatrix


def eliminated(problem: CvxpyProblem) -> Iterator[Proposal]:
    """Yield what the elimination of variables shows: contradictions, a ray, a problem without rows.

    A contradiction is a row that states 0 = g, or that of two equations.
    """
    form, dual = Primal(problem), Dual(problem)
    x, z = np.zeros(problem.c.size), np.zeros(problem.b.size)

    def proposal(outcome: str, pair: Pair) -> Proposal:
        return Proposal(outcome, pair, "elimination", 0, 0.0)

    if form.elimination.contradictions.size:
        yield proposal(SEPARATOR, Pair(x, form.contradiction()))
    if dual.elimination.ray is not None:
        yield proposal(SEPARATOR, Pair(x, dual.contradiction()))
    if form.elimination.ray is not None:
        yield proposal(DIRECTION, Pair(form.elimination.ray, z))
    if not problem.layout.blocks:
        yield proposal(SOLUTION, form.pair(np.zeros(0), np.zeros(0)))
    elif form.program.b.size == 0:
        yield proposal(SOLUTION, form.pair(np.zeros(form.program.c.shape[1]), np.zeros(0)))


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """The methods of `condal.solve` for the program in s or in z.

    `excess` returns how many times tol the error of a solution is, as the judge sees it: the solve
    resumes with a smaller tolerance if it is above 1. Without `search`, only sums of rows may bound
    the trace.
    """

    form: Primal | Dual
    excess: Callable[[Proposal], float]
    progress: Progress | None
    search: bool

    def propose(self, options: Options) -> Proposal:
        """Return what the method proposes; raise ProblemError if nothing bounds the trace."""
        form, limit = self.form, TimeLimit(options.max_seconds)
        if form.program.b.size == 0 and isinstance(form, Primal):
            raise UnboundedTraceError("no row bounds anything")
        model = conic_model(
            form.program,
            options.trace_bound,
            max_seconds=limit.share(SEARCH_SHARE).max_seconds,
            search=self.search,
        )
        trace = model.trace
        if isinstance(trace, TraceBound) and not trace.proved and trace.proposal is None:
            raise UnboundedTraceError(f"nothing bounds the trace of {form.program.name}")

        def excess(result: Result) -> float:
            # The gap is that of the objective with its offset.
            value = max(1.0, abs(model.objective(result)))
            over = abs(result.bound - result.objective) / value / options.tol
            return self.excess(self._proposal(model, result)) if over <= 1 else over

        try:
            result = model.solve(
                options.method,
                excess=excess,
                tol=options.tol,
                max_iters=options.max_iters,
                max_seconds=limit.max_seconds,
                seed=options.seed,
                failure=options.failure,
                callback=self.progress,
            )
        except np.linalg.LinAlgError as error:  # rounding broke a method down
            raise ProblemError(f"the solve broke down: {error}") from error
        return self._proposal(model, result)

    def _proposal(self, model: ConicModel, result: Result) -> Proposal:
        """Return what a result of the program says of x and z."""
        form, ray = self.form, None if model.verdict is None else model.verdict.ray
        x: Array = np.zeros(form.problem.c.size)
        z: Array = np.zeros(form.problem.b.size)
        if result.status is Status.INFEASIBLE:
            y, outcome = model.separator(result), SEPARATOR
            if isinstance(form, Primal):
                z = form.separating(-y)
            else:
                x, outcome = form.direction(-y), DIRECTION
        elif result.status is Status.UNBOUNDED:
            assert ray is not None
            outcome = DIRECTION if isinstance(form, Primal) else SEPARATOR
            if isinstance(form, Primal):
                x = form.direction(ray)
            else:
                z = form.separating(ray)
        else:
            sign = 1.0 if isinstance(form, Primal) else -1.0
            outcome, blocks = SOLUTION, model.blocks(result, full=True)
            flat = np.concatenate([np.asarray(block).ravel() for block in blocks])
            x, z = form.pair(flat, sign * model.dual(result))
        return Proposal(
            outcome, Pair(x, z), result.method, result.iterations, result.seconds, None, result
        )
