"""Answer a CVXPY problem: choose a form, solve its program, and let the judge prove the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import numpy as np
from cvxpy import settings

from condal.cvxpy.engines import EngineAnswers
from condal.cvxpy.forms import CvxpyProblem, Dual, Pair, Primal, cone_rows, with_cone
from condal.cvxpy.judge import Judge
from condal.cvxpy.judgement import BY_ROOT, Judgement, worded
from condal.cvxpy.solving import Options, Solved, refuting_row, solve_program
from condal.cvxpy.verdicts import (
    MAYBE_INFEASIBLE,
    PROVED,
    STATUSES,
    CvxpyAnswer,
    poor,
    require_answer,
    unbounded,
)
from condal.errors import ProblemError
from condal.problems.conic.trace_bound import UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Status
from condal.runtime.limits import TimeLimit

MAX_PRIMAL_CONSTRAINTS = (
    100  # up to which the primal is solved first; the dual's bound is from above
)
DUAL_ADVANTAGE = 4  # solve the dual first if the primal has this many times its constraints
QUICK_STEP = 0.02  # seconds of an interior-point iteration
OUT_OF_TIME = (
    "the time limit was reached before there was an answer: raise max_seconds, or pass "
    "trace_bound=, a number that, at a solution, no trace of a psd matrix, no bound of a norm, and "
    "no sum of the slacks of inequalities exceeds, which saves the search for one"
)

UNBOUNDED_TRACE = (
    "no bound was found on the size of {}: neither the constraints nor the objective "
    "imply one, and a proof needs it. Add a constraint, such as trace(X) <= 100 or x <= 100, or "
    "pass trace_bound=, a number that, at a solution, no trace of a psd matrix, no bound of a "
    "norm, and no sum of the slacks of inequalities exceeds"
)


def answer_problem(
    problem: CvxpyProblem, options: Options, progress: Progress | None = None
) -> CvxpyAnswer:
    """Return the answer to a CVXPY problem; raise ProblemError if nothing bounds the trace."""
    limit = TimeLimit(options.max_seconds)
    with limit.on():  # for the proofs of the judge
        answer = _answer(problem, options, progress, limit)
    return replace(answer, result=replace(answer.result, seconds=limit.seconds))


def _answer(
    problem: CvxpyProblem, options: Options, progress: Progress | None, limit: TimeLimit
) -> CvxpyAnswer:
    if problem.P is None:
        return _Question(problem, options, progress, limit).answer()
    native = None
    if options.method is None and options.trace_bound is None:
        native = EngineAnswers(problem, options, progress, limit).by_engines()
        if native is not None and (native.status in PROVED or limit.is_over()):
            return native
    linear = with_cone(problem)
    try:
        answer = _Question(linear, options, progress, limit).answer()
    except ProblemError:
        if native is None:
            raise
        return native
    stated = replace(
        answer,
        x=None if answer.x is None else answer.x[:-1],
        z=None if answer.z is None else np.delete(answer.z, cone_rows(linear)),
    )
    stated = _confirmed(stated, Judge(problem))
    if native is None or stated.status in PROVED:
        return stated
    return min(stated, native, key=attrgetter("error"))


def _confirmed(answer: CvxpyAnswer, judge: Judge) -> CvxpyAnswer:
    """Return the answer to the statement by a root of P, as far as P itself allows it.

    A root is rounded, and a small eigenvalue may be lost, so a ray of the root is proved again
    with P. That no x is feasible does not depend on P. A bound assumes that the root is exact.
    """
    if answer.status == settings.UNBOUNDED and not judge.unbounded():
        text = "the objective seems to be unbounded, but this is not proved"
        return _unproved(answer, settings.UNBOUNDED_INACCURATE, text)
    if answer.status == settings.INFEASIBLE:
        if answer.z is None or judge.refutation(answer.z) is None:
            return _unproved(answer, settings.INFEASIBLE_INACCURATE, MAYBE_INFEASIBLE)
    elif answer.result.judgement.certified:
        judged = worded(answer.result.judgement, BY_ROOT)
        return replace(answer, result=replace(answer.result, judgement=judged))
    return answer


def _unproved(answer: CvxpyAnswer, status: str, text: str) -> CvxpyAnswer:
    result = replace(answer.result, judgement=Judgement(text=text), reason=text)
    return replace(answer, status=status, result=result)


@dataclass(frozen=True, eq=False)
class _Question(EngineAnswers):
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
        return min(unproved, key=attrgetter("error"))

    def _routes(self) -> list[Callable[[], CvxpyAnswer | None]]:
        """The ways to an answer, cheapest first.

        Interior-point methods need no bound on the trace and come first where an iteration is
        quick. Within a trace that rows bound, the first-order methods are faster on large
        problems. Only a solve may find another bound, so that comes last.
        """
        first, last = self._refuted_by_elimination, self._by_search
        if self.options.method is not None or self.options.trace_bound is not None:
            return [first, last]
        if self.step_seconds > QUICK_STEP:
            return [first, self._within_rows, self.by_engines, last]
        if self.problem.structure.has_consistent_equations(self.problem.b):
            return [self.by_engines, first, self._within_rows, last]
        return [first, self.by_engines, self._within_rows, last]

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

    def _within_rows(self) -> CvxpyAnswer | None:
        """Answer by a solve within a trace that a sum of rows bounds; None if none does."""
        faults: list[ProblemError] = []
        answers = self._attempts(faults, search=False)
        return min(answers, key=attrgetter("error")) if answers else None

    def _by_search(self) -> CvxpyAnswer:
        """Answer by a solve within a trace that is searched for, or by a direction."""
        faults: list[ProblemError] = []
        answers = self._attempts(faults, search=True)
        if answers and (answers[-1].status in PROVED or not poor(answers[-1].result)):
            return answers[-1]
        proved = self._proved_without_solution()
        if proved is not None:
            return proved
        if answers:
            return answers[0]
        if self.limit.is_over():
            raise ProblemError(OUT_OF_TIME)
        unbounded = any(isinstance(fault, UnboundedTraceError) for fault in faults)
        if not unbounded:
            raise faults[0]
        grown = self.problem.moved(self.proposed[-1].x) if self.proposed else ["a solution"]
        raise ProblemError(UNBOUNDED_TRACE.format(", ".join(grown)))

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
            return unbounded()
        return self._with_pair(pair)

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
        result = require_answer(solution.result)
        if result.status is Status.INFEASIBLE:
            return self._infeasible_answer(form.separating(-solution.separator), result)
        if result.status is Status.UNBOUNDED:
            direction = None if solution.ray is None else form.direction(solution.ray)
            return self._if_feasible(direction, result)
        return self._with_pair(pair(solution), STATUSES[result.status], result)

    def _without_rows(self, form: Primal) -> CvxpyAnswer:
        """Answer a program in s without rows: s = 0 is optimal, or the objective is unbounded."""
        program = form.program
        answer = self._with_pair(form.pair(np.zeros(program.c.shape[1]), np.zeros(0)))
        if answer.status == settings.OPTIMAL:
            return answer
        unbounded = self._if_feasible()
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
        result = require_answer(solution.result)
        if result.status is Status.UNBOUNDED:
            z = None if solution.ray is None else form.separating(solution.ray)
            return self._infeasible_answer(z, result)
        if result.status is Status.INFEASIBLE:  # unbounded, if there is a feasible x
            return self._if_feasible(result=result)
        return self._with_pair(pair(solution), STATUSES[result.status], result)
