"""Answer a CVXPY problem: choose a form, solve its program, and read the solution back."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import scipy.sparse as sp
from cvxpy import settings

from condal.cvxpy.forms import CvxpyProblem, Dual, Pair, Primal
from condal.cvxpy.options import Options
from condal.cvxpy.recession import least_direction
from condal.cvxpy.signs import refuting_row
from condal.cvxpy.solving import solve_program
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.conic.trace import UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Result, Status

MAX_PRIMAL_CONSTRAINTS = (
    100  # up to which the primal is solved first; the dual's bound is from above
)
DUAL_ADVANTAGE = 4  # solve the dual first if the primal has this many times its constraints
STATUSES = {
    Status.SOLVED: settings.OPTIMAL,
    Status.INFEASIBLE: settings.INFEASIBLE,
    Status.UNBOUNDED: settings.UNBOUNDED,
    Status.MAX_ITERS: settings.USER_LIMIT,
    Status.MAX_SECONDS: settings.USER_LIMIT,
    Status.INTERRUPTED: settings.USER_LIMIT,
    Status.INACCURATE: settings.OPTIMAL_INACCURATE,
    Status.STALLED: settings.OPTIMAL_INACCURATE,
    Status.NUMERICAL_ERROR: settings.OPTIMAL_INACCURATE,
}
SIZE_GUESSES = 1e2, 1e5  # sizes of a feasible point, relative to b
FEASIBILITY_ITERATIONS = 300
MIN_REFUTATION = 1e-11  # least |<b, z>| that proves infeasibility, relative to its terms
POOR_ERROR = 0.1  # a larger gap or infeasibility is not an answer
NO_ANSWER = "the solve ended without an answer"
ADVICE = (
    "The problem may have no solution, or none that is attained; otherwise bounds on its variables "
    "or a trace_bound= may help"
)


@dataclass(frozen=True, eq=False)
class CvxpyAnswer:
    """CVXPY's status, <c, x>, x, its duals z, the result behind them, and the seconds.

    For an infeasible problem, z proves that there is no x. `setup_seconds` are those before the
    solve.
    """

    status: str
    value: float = nan
    x: Array | None = None
    z: Array | None = None
    result: Result | None = None
    seconds: float = 0.0
    setup_seconds: float = 0.0


def answer_problem(
    problem: CvxpyProblem, options: Options, progress: Progress | None = None
) -> CvxpyAnswer:
    """Return the answer to a CVXPY problem; raise ProblemError if nothing bounds the trace."""
    start = time.perf_counter()
    answer = _Question(problem, options, progress).answer()
    spent = time.perf_counter() - start
    return replace(answer, setup_seconds=max(spent - answer.seconds, 0.0))


@dataclass(frozen=True, eq=False)
class _Question:
    """A CVXPY problem, the options and the progress display."""

    problem: CvxpyProblem
    options: Options
    progress: Progress | None

    def answer(self) -> CvxpyAnswer:
        if not self.problem.layout.blocks:
            return self._of_equations()
        attempts = [self._by_primal, self._by_dual]
        in_s, in_z = self.problem.fewest
        if self.options.trace_bound is not None:  # it bounds s
            attempts = attempts[:1]
        elif in_s > max(MAX_PRIMAL_CONSTRAINTS, DUAL_ADVANTAGE * in_z):
            attempts = attempts[::-1]
        faults: list[ProblemError] = []
        for attempt in attempts:
            try:
                answer = attempt()
            except ProblemError as fault:
                faults.append(fault)
                continue
            if answer.status != settings.USER_LIMIT or not _poor(answer.result):
                return answer
            if not faults:  # there may be no solution
                return self._answer_by_direction() or answer
        if not any(isinstance(fault, UnboundedTraceError) for fault in faults):
            raise faults[0]
        ended = self._answer_by_direction()
        if ended is None:
            raise ProblemError(self._unbounded_message())
        return ended

    def _of_equations(self) -> CvxpyAnswer:
        """Answer a problem without cones, which the elimination solves."""
        form, problem = Primal(self.problem), self.problem
        if form.elimination.contradictions.size:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.contradiction())
        if form.elimination.ray is not None:
            return CvxpyAnswer(settings.UNBOUNDED)
        x, z = form.pair(np.zeros(0), np.zeros(0))
        return CvxpyAnswer(settings.OPTIMAL, float(problem.c @ x), x, z)

    def _by_primal(self) -> CvxpyAnswer:
        """Answer by the program in s."""
        form = Primal(self.problem)
        if form.elimination.contradictions.size:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.contradiction())
        if form.elimination.ray is not None:
            return CvxpyAnswer(self._status_if_unbounded(form))
        refuting = refuting_row(form.program)
        if refuting is not None:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.separating(-refuting))
        solution = solve_program(form.program, self.options, self.progress)
        ended = _answer_without_point(solution.result)
        if solution.result.status is Status.INFEASIBLE:
            z = form.separating(-solution.separator)
            return replace(ended, status=self._refutation_status(z), z=z)
        if solution.result.status is Status.UNBOUNDED:
            return ended
        return self._with_pair(ended, form.pair(solution.blocks, solution.dual))

    def _by_dual(self) -> CvxpyAnswer:
        """Answer by the program in z."""
        form = Dual(self.problem)
        if form.elimination.ray is not None:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.contradiction())
        if refuting_row(form.program) is not None:
            return CvxpyAnswer(self._status_if_unbounded(Primal(self.problem)))
        solution = solve_program(form.program, self.options, self.progress)
        ended = _answer_without_point(solution.result)
        if solution.result.status is Status.UNBOUNDED:
            z = None if solution.ray is None else form.separating(solution.ray)
            return replace(ended, status=settings.INFEASIBLE, z=z)
        if solution.result.status is Status.INFEASIBLE:  # unbounded, if there is a feasible x
            return replace(ended, status=self._status_if_unbounded(Primal(self.problem)))
        return self._with_pair(ended, form.pair(solution.blocks, -solution.dual))

    def _with_pair(self, ended: CvxpyAnswer, pair: Pair) -> CvxpyAnswer:
        """Return the answer with x and z.

        At a limit, they may be near a solution without a proof. If a method that can do no more
        leaves them far from one, ProblemError is raised.
        """
        status, value = ended.status, float(self.problem.c @ pair.x)
        if status == settings.USER_LIMIT and self.problem.error(pair) <= self.options.tol:
            status = settings.OPTIMAL_INACCURATE
        elif status == settings.OPTIMAL_INACCURATE and self.problem.error(pair) > POOR_ERROR:
            error = self.problem.error(pair)
            raise ProblemError(
                f"{NO_ANSWER}: x and its duals have an error of {error:.1g}. {ADVICE}"
            )
        return replace(ended, status=status, value=value, x=pair.x, z=pair.z)

    def _refutation_status(self, z: Array) -> str:
        """Return the status for a z that refutes x: inaccurate if rounding may explain it."""
        b = self.problem.b
        clear = -float(b @ z) > MIN_REFUTATION * float(np.abs(b) @ np.abs(z))
        return str(settings.INFEASIBLE if clear else settings.INFEASIBLE_INACCURATE)

    def _status_if_unbounded(self, form: Primal) -> str:
        """Return the status of an objective that is unbounded if there is a feasible point."""
        program = form.program
        feasibility = replace(program, c=sp.csr_array(program.c.shape), offset=0.0)
        size = 1.0 + float(np.abs(program.b).max(initial=0.0))
        for bound in (self.options.trace_bound, *(factor * size for factor in SIZE_GUESSES)):
            options = replace(self.options, trace_bound=bound, max_iters=FEASIBILITY_ITERATIONS)
            try:
                status = solve_program(feasibility, options).result.status
            except ProblemError:
                continue
            if status is Status.SOLVED:
                return str(settings.UNBOUNDED)
            if status is Status.INFEASIBLE and bound is None:
                return str(settings.INFEASIBLE)
        return str(settings.INFEASIBLE_OR_UNBOUNDED)

    def _answer_by_direction(self) -> CvxpyAnswer | None:
        """Return the answer that a direction of the cone gives: no x, or no best x."""
        form = Dual(self.problem)
        direction = least_direction(form.program, self.options)
        if direction is not None and direction.falls:
            return CvxpyAnswer(settings.INFEASIBLE_INACCURATE, z=form.separating(direction.x))
        direction = least_direction(Primal(self.problem).program, self.options)
        falls = direction is not None and direction.falls
        return CvxpyAnswer(settings.UNBOUNDED_INACCURATE) if falls else None

    def _unbounded_message(self) -> str:
        """Return an error text that names the unbounded variables and the remedies."""
        form, where = Primal(self.problem), ""
        direction = least_direction(form.program, self.options)
        if direction is not None:
            where = f" of {', '.join(self.problem.moved(form.direction(direction.x)))}"
        return (
            f"no bound was found on the size{where}: neither the constraints nor the objective "
            "imply one, and a proof needs it. Add a constraint, such as trace(X) <= 100 or "
            "x <= 100, or pass trace_bound=, a number that, at a solution, no trace of a psd "
            "matrix, no bound of a norm, and no sum of the slacks of inequalities exceeds"
        )


def _poor(result: Result | None) -> bool:
    """Return whether a point is too inaccurate to be an answer."""
    return result is None or max(result.gap, result.infeasibility) > POOR_ERROR


def _answer_without_point(result: Result) -> CvxpyAnswer:
    """Return the answer of a result without x and z; raise ProblemError if there is none."""
    if result.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        return CvxpyAnswer(STATUSES[result.status], result=result, seconds=result.seconds)
    exhausted = result.status in (Status.INACCURATE, Status.STALLED, Status.NUMERICAL_ERROR)
    if result.x is None or (exhausted and _poor(result)):
        raise ProblemError(
            f"{NO_ANSWER}, at a gap of {result.gap:.1g} and infeasible by "
            f"{result.infeasibility:.1g} ({result.reason or result.status.value}). {ADVICE}"
        )
    return CvxpyAnswer(STATUSES[result.status], result=result, seconds=result.seconds)
