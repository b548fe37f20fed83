"""Answer a CVXPY problem: choose a form, solve its program, and let the judge prove the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan
from typing import Any

import numpy as np
import scipy.sparse as sp
from cvxpy import settings

from condal.certificates.history import Row
from condal.certificates.row_space import RowSpace
from condal.cvxpy.embedded import EmbeddedEngine
from condal.cvxpy.forms import CvxpyProblem, Dual, Pair, Primal
from condal.cvxpy.interior import (
    DIRECTION,
    SEPARATOR,
    SOLUTION,
    ClarabelEngine,
    Proposal,
    accuracies,
)
from condal.cvxpy.judgement import JudgedResult, Judgement
from condal.cvxpy.nearest import NearestMatrix
from condal.cvxpy.options import Options
from condal.cvxpy.quadratic import cone_rows, with_cone
from condal.cvxpy.recession import least_direction
from condal.cvxpy.signs import refuting_row
from condal.cvxpy.solving import Solved, solve_program
from condal.cvxpy.verdicts import (
    POOR_ERROR,
    PROVED,
    CvxpyAnswer,
    Ended,
    Verdicts,
    no_result,
    poor,
)
from condal.errors import ProblemError
from condal.problems.conic.rays import SIZE_GUESSES, point_size
from condal.problems.conic.trace_bound import UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.time_limit import TimeLimit

MAX_PRIMAL_CONSTRAINTS = (
    100  # up to which the primal is solved first; the dual's bound is from above
)
DUAL_ADVANTAGE = 4  # solve the dual first if the primal has this many times its constraints
TINY_STEP, QUICK_STEP, MAX_STEP_SECONDS = 1e-3, 0.02, 2.0  # seconds of an interior-point iteration
GUESS_ITERS = 2_000  # of a solve within a guessed trace
OUT_OF_TIME = (
    "the time limit was reached before there was an answer: raise max_seconds, or pass "
    "trace_bound=, a number that, at a solution, no trace of a psd matrix, no bound of a norm, and "
    "no sum of the slacks of inequalities exceeds, which saves the search for one"
)

Engine = ClarabelEngine | EmbeddedEngine | NearestMatrix


def answer_problem(
    problem: CvxpyProblem, options: Options, progress: Progress | None = None
) -> CvxpyAnswer:
    """Return the answer to a CVXPY problem; raise ProblemError if nothing bounds the trace."""
    limit = TimeLimit(options.max_seconds)
    with limit.on():  # for the proofs of the judge
        answer = _answer(problem, options, progress, limit)
    seconds = limit.seconds
    result = None if answer.result is None else replace(answer.result, seconds=seconds)
    return replace(answer, result=result, seconds=seconds)


def _answer(
    problem: CvxpyProblem, options: Options, progress: Progress | None, limit: TimeLimit
) -> CvxpyAnswer:
    if problem.P is None:
        return _Question(problem, options, progress, limit).answer()
    if options.method is None and options.trace_bound is None:
        question = _Question(problem, options, progress, limit)
        if question.engine.step_seconds <= MAX_STEP_SECONDS:
            answer = question.by_interior_point()
            if answer is not None and answer.status in PROVED:
                return answer
    linear = with_cone(problem)
    answer = _Question(linear, options, progress, limit).answer()
    rows = cone_rows(linear)
    return replace(
        answer,
        x=None if answer.x is None else answer.x[:-1],
        z=None if answer.z is None else np.delete(answer.z, rows),
    )


@dataclass(frozen=True, eq=False)
class _Question(Verdicts):
    """The ways to an answer of a CVXPY problem."""

    answered: dict[Any, CvxpyAnswer] = field(default_factory=dict)

    def answer(self) -> CvxpyAnswer:
        if not self.problem.layout.blocks:
            return self._of_equations()
        unproved: list[CvxpyAnswer] = []
        for route in self._routes():
            try:
                answer = route()
            except ProblemError as error:
                fault = error
                continue
            if answer is not None and answer.status in PROVED:
                return answer
            unproved += [] if answer is None else [answer]
            if unproved and (self.limit.is_over() or unproved[-1].status == settings.USER_LIMIT):
                break  # the limits hold for all routes together
        if not unproved:
            raise fault
        return min(unproved, key=_error)

    def _routes(self) -> list[Callable[[], CvxpyAnswer | None]]:
        """The ways to an answer, cheapest first.

        Within a trace that rows bound, the methods of this library are fastest, except on the
        smallest problems. An interior-point method needs no such bound, which only a solve may
        find.
        """
        later = [self._refuted_by_elimination, self._by_search]
        if self.options.method is not None or self.options.trace_bound is not None:
            return later
        later.insert(1, self._within_rows)
        if self.engine.step_seconds <= QUICK_STEP:
            later.insert(0 if self._has_independent_equations else 1, self.by_interior_point)
            return later
        if self.engine.step_seconds <= MAX_STEP_SECONDS:
            later.insert(2, self.by_interior_point)
        return later

    @property
    def _has_independent_equations(self) -> bool:
        """Whether no equations contradict each other, because each has a variable of its own."""
        zero = self.problem.layout.zero
        return zero == 0 or RowSpace(sp.csr_array(self.problem.A[:zero])).triangular

    @cached_property
    def engine(self) -> Engine:
        """The interior-point method with the cheaper iteration."""
        clarabel = ClarabelEngine(self.problem)
        if self.problem.P is not None:
            return NearestMatrix.of(self.problem) or clarabel
        if clarabel.step_seconds <= TINY_STEP:
            return clarabel
        embedded = EmbeddedEngine(self.problem)
        return embedded if embedded.step_seconds < clarabel.step_seconds else clarabel

    def _refuted_by_elimination(self) -> CvxpyAnswer | None:
        """Return the answer if a contradiction that the elimination finds is proved."""
        form, dual = Primal(self.problem), Dual(self.problem)
        proposals = [form.contradiction()] if form.elimination.contradictions.size else []
        if dual.elimination.ray is not None:
            proposals.append(dual.contradiction())
        refuting = refuting_row(form.program)
        if refuting is not None:
            proposals.append(form.separating(-refuting))
        refuted = (self._refuted(z) for z in proposals)
        return next((answer for answer in refuted if answer is not None), None)

    def by_interior_point(self) -> CvxpyAnswer | None:
        """Answer by an interior-point method; None if it ends with nothing of use."""
        answer = None
        *rough, last = accuracies(self.options.tol)
        for accuracy in (*rough, last):
            if answer is None or not self.limit.is_over():
                proposal = self.engine.propose(self._left, accuracy)
                answer = self._by_proposal(proposal, quick=accuracy > last) or answer
            if answer is not None and answer.status in PROVED:
                break
        return answer

    def _by_proposal(self, proposal: Proposal, *, quick: bool) -> CvxpyAnswer | None:
        """Answer by what an interior-point method proposes; None if that is of no use."""
        x, z = proposal.pair
        if proposal.outcome == SEPARATOR:
            return self._refuted(z)
        if proposal.outcome == DIRECTION:
            return self._unbounded_answer() if self.judge.unbounded(x) else None
        if proposal.outcome != SOLUTION or self.problem.error(proposal.pair) > POOR_ERROR:
            return None
        judged = self.judge.judge(
            proposal.pair, self.options.tol, inner=proposal.inner, quick=quick
        )
        proved = judged.within(self.options.tol)
        status = settings.OPTIMAL if proved else settings.OPTIMAL_INACCURATE
        result = _interior_result(status, judged, proposal, self.engine)
        if self.progress is not None:
            self.progress(result.history.last)
        return self._ended(Ended(status, result), status, judged, x=x, z=z)

    def _within_rows(self) -> CvxpyAnswer | None:
        """Answer by a solve within a trace that a sum of rows bounds; None if none does."""
        faults: list[ProblemError] = []
        answers = self._attempts(faults, search=False)
        return min(answers, key=_error) if answers else None

    def _by_search(self) -> CvxpyAnswer:
        """Answer by a solve within a trace that is searched for, or by a direction."""
        faults: list[ProblemError] = []
        answers = self._attempts(faults, search=True)
        if answers and (answers[-1].status in PROVED or not poor(answers[-1].result)):
            return answers[-1]
        proved = self._proved_without_solution() or (self._by_guess() if answers else None)
        if proved is not None:
            return proved
        if answers:
            return answers[0] if faults else self._answer_by_direction() or answers[0]
        unbounded = any(isinstance(fault, UnboundedTraceError) for fault in faults)
        ended = self._answer_by_direction() if unbounded else None
        if ended is not None:
            return ended
        if self.limit.is_over():
            raise ProblemError(OUT_OF_TIME)
        raise ProblemError(self._unbounded_message()) if unbounded else faults[0]

    def _attempts(self, faults: list[ProblemError], *, search: bool) -> list[CvxpyAnswer]:
        """Return the answers by the programs in s and in z, up to the first good one."""
        attempts = [self._by_primal, self._by_dual]
        in_s, in_z = self.problem.fewest
        if self.options.trace_bound is not None:  # it bounds s
            attempts = attempts[:1]
        elif in_s > max(MAX_PRIMAL_CONSTRAINTS, DUAL_ADVANTAGE * in_z):
            attempts = attempts[::-1]
        answers: list[CvxpyAnswer] = []
        for attempt in attempts:
            try:
                if attempt not in self.answered:
                    self.answered[attempt] = attempt(search=search)
            except ProblemError as fault:
                faults.append(fault)
                continue
            answer = self.answered[attempt]
            answers.append(answer)
            good = answer.status in PROVED or not poor(answer.result)
            if good or answer.status == settings.USER_LIMIT:  # the limit holds for all attempts
                break
        return answers

    def _of_equations(self) -> CvxpyAnswer:
        """Answer a problem without cones, for which the elimination proposes all there is."""
        form = Primal(self.problem)
        z = form.contradiction() if form.elimination.contradictions.size else None
        refuted = None if z is None else self._refuted(z)
        if refuted is not None:
            return refuted
        pair = form.pair(np.zeros(0), np.zeros(0))
        if form.elimination.ray is not None and self.judge.unbounded(form.elimination.ray, pair.x):
            return self._unbounded_answer()
        return self._with_pair(Ended(settings.OPTIMAL), pair)

    def _by_primal(self, *, search: bool) -> CvxpyAnswer:
        """Answer by the program in s."""
        form = Primal(self.problem)
        ray = form.elimination.ray
        if ray is not None and self.judge.ray(ray) is not None:
            return self._if_feasible()
        if form.program.b.size == 0:
            return self._without_rows(form)

        def pair(solution: Solved) -> Pair:
            return form.pair(solution.blocks, solution.dual)

        solution = solve_program(
            form.program, self._left, self.progress, self._excess(pair), search=search
        )
        ended = Ended.of(solution.result)
        if solution.result.status is Status.INFEASIBLE:
            return self._infeasible_answer(ended, form.separating(-solution.separator))
        if solution.result.status is Status.UNBOUNDED:
            direction = None if solution.ray is None else form.direction(solution.ray)
            return self._if_feasible(direction, ended)
        return self._with_pair(ended, pair(solution))

    def _without_rows(self, form: Primal) -> CvxpyAnswer:
        """Answer a program in s without rows: s = 0 is optimal, or the objective is unbounded."""
        program = form.program
        answer = self._with_pair(
            Ended(settings.OPTIMAL), form.pair(np.zeros(program.c.shape[1]), np.zeros(0))
        )
        if answer.status == settings.OPTIMAL:
            return answer
        steepest = solve_program(program, replace(self._left, trace_bound=1.0))
        unbounded = self._if_feasible(form.direction(steepest.blocks))
        return unbounded if unbounded.status == settings.UNBOUNDED else answer

    def _by_dual(self, *, search: bool) -> CvxpyAnswer:
        """Answer by the program in z."""
        form = Dual(self.problem)
        refuted = None if form.elimination.ray is None else self._refuted(form.contradiction())
        if refuted is not None:
            return refuted
        if refuting_row(form.program) is not None and self.judge.ray() is not None:
            return self._if_feasible()

        def pair(solution: Solved) -> Pair:
            return form.pair(solution.blocks, -solution.dual)

        solution = solve_program(
            form.program, self._left, self.progress, self._excess(pair), search=search
        )
        ended = Ended.of(solution.result)
        if solution.result.status is Status.UNBOUNDED:
            z = None if solution.ray is None else form.separating(solution.ray)
            return self._infeasible_answer(ended, z)
        if solution.result.status is Status.INFEASIBLE:  # unbounded, if there is a feasible x
            return self._if_feasible(ended=ended)
        return self._with_pair(ended, pair(solution))

    def _by_guess(self) -> CvxpyAnswer | None:
        """Return the answer within a guessed trace, if the judge proves it whatever the trace."""
        if self.options.trace_bound is not None or self.limit.is_over():
            return None
        form = Primal(self.problem)
        size = point_size(form.program)
        for factor in SIZE_GUESSES:
            iters = min(self.options.max_iters or GUESS_ITERS, GUESS_ITERS)
            options = replace(self._left, trace_bound=factor * size, max_iters=iters)
            try:
                solution = solve_program(form.program, options)
                pair = form.pair(solution.blocks, solution.dual)
            except ProblemError:
                continue
            judged = self.judge.judge(pair, self.options.tol)
            if judged.within(self.options.tol):
                ended = Ended(settings.OPTIMAL, solution.result)
                return self._ended(ended, settings.OPTIMAL, judged, x=pair.x, z=pair.z)
        return None

    def _answer_by_direction(self) -> CvxpyAnswer | None:
        """Return the answer that a direction of the cone suggests: no x, or no best x."""
        if self.limit.is_over():
            return None
        form = Dual(self.problem)
        direction = least_direction(form.program, self._left)
        if direction is not None and direction.falls:
            return self._infeasible_answer(Ended(), form.separating(direction.x))
        if self.limit.is_over():
            return None
        direction = least_direction(Primal(self.problem).program, self._left)
        falls = direction is not None and direction.falls
        text = "the objective seems to be unbounded along a direction, which is not proved"
        judged = Judgement(text=text)
        return self._ended(Ended(), settings.UNBOUNDED_INACCURATE, judged) if falls else None

    def _unbounded_message(self) -> str:
        """Return an error text that names the unbounded variables and the remedies."""
        form, where = Primal(self.problem), ""
        direction = least_direction(form.program, self._left)
        if direction is not None:
            where = f" of {', '.join(self.problem.moved(form.direction(direction.x)))}"
        return (
            f"no bound was found on the size{where}: neither the constraints nor the objective "
            "imply one, and a proof needs it. Add a constraint, such as trace(X) <= 100 or "
            "x <= 100, or pass trace_bound=, a number that, at a solution, no trace of a psd "
            "matrix, no bound of a norm, and no sum of the slacks of inequalities exceeds"
        )


def _error(answer: CvxpyAnswer) -> float:
    """Return the largest of the gap, the infeasibility and its price, as judged; inf for none."""
    if answer.x is None or not isinstance(answer.result, JudgedResult):
        return inf
    error = answer.result.judgement.error
    return inf if np.isnan(error) else error


def _interior_result(
    status: str,
    judged: Judgement,
    proposal: Proposal,
    engine: Engine,
) -> Result:
    """Return the result of a solve by the interior-point method: one row of history, its last."""
    result = replace(
        no_result(status, judged),
        method=engine.name,
        seconds=proposal.seconds,
    )
    row: dict[str, Any] = dict.fromkeys(Row._fields, nan)
    row |= {"k": proposal.iterations, "oracle_calls": 0, "matvecs": 0, "seconds": proposal.seconds}
    row |= {name: getattr(judged, name) for name in ("objective", "bound", "gap", "infeasibility")}
    result.history.append(Row(**row))
    return replace(result, y=proposal.pair.z)
