"""From what CVXPY asks to an answer: a form is chosen, its program solved, and read back."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import scipy.sparse as sp
from cvxpy import settings

from condal.cvxpy.forms import Asked, Dual, Pair, Primal
from condal.cvxpy.options import Options
from condal.cvxpy.recession import least_direction
from condal.cvxpy.signs import refuting_row
from condal.cvxpy.solving import solved
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.conic.trace import UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Result, Status

FEW = 100  # constraints: so many are no reason to solve for the dual, whose bound is from above
MUCH = 4  # times as many as the dual has: they are one
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
GUESSES = 1e2, 1e5  # times b: how large a feasible point may be, where it is only to be seen
LOOK = 300  # iterations of that
CLEARLY = 1e-11  # of its terms: how negative <b, z> is, where that proves that there is no x
POOR = 0.1  # a gap, or an infeasibility, that makes no answer
UNANSWERED = "the solve ended without an answer"
ADVICE = (
    "The problem may have no solution, or none that is attained; else bounds on its variables, or "
    "a trace_bound=, may help"
)


@dataclass(frozen=True, eq=False)
class CvxpyAnswer:
    """CVXPY's status, <c, x>, x where there is one, its duals z or those that prove that there is
    none, the result behind them, and the seconds that it took, those before the solve apart."""

    status: str
    value: float = nan
    x: Array | None = None
    z: Array | None = None
    result: Result | None = None
    seconds: float = 0.0
    setup_seconds: float = 0.0


def answered(asked: Asked, options: Options, progress: Progress | None = None) -> CvxpyAnswer:
    """The answer to what CVXPY asks; ProblemError where nothing bounds the trace."""
    began = time.perf_counter()
    found = _Question(asked, options, progress).answer()
    spent = time.perf_counter() - began
    return replace(found, setup_seconds=max(spent - found.seconds, 0.0))


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked, and how."""

    asked: Asked
    options: Options
    progress: Progress | None

    def answer(self) -> CvxpyAnswer:
        if not self.asked.layout.blocks:
            return self._of_equations()
        ways = [self._by_primal, self._by_dual]
        in_s, in_z = self.asked.fewest
        if self.options.trace_bound is not None:  # it is one on s
            ways = ways[:1]
        elif in_s > max(FEW, MUCH * in_z):
            ways = ways[::-1]
        faults: list[ProblemError] = []
        for way in ways:
            try:
                found = way()
            except ProblemError as fault:
                faults.append(fault)
                continue
            if found.status != settings.USER_LIMIT or not _poor(found.result):
                return found
            if not faults:  # the limit may be there for want of a solution
                return self._endless() or found
        if not any(isinstance(fault, UnboundedTraceError) for fault in faults):
            raise faults[0]
        answer = self._endless()
        if answer is None:
            raise ProblemError(self._unbounded())
        return answer

    def _of_equations(self) -> CvxpyAnswer:
        """Without a cone, all is said by the elimination."""
        form, asked = Primal(self.asked), self.asked
        if form.elimination.contradictions.size:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.contradiction())
        if form.elimination.ray is not None:
            return CvxpyAnswer(settings.UNBOUNDED)
        x, z = form.pair(np.zeros(0), np.zeros(0))
        return CvxpyAnswer(settings.OPTIMAL, float(asked.c @ x), x, z)

    def _by_primal(self) -> CvxpyAnswer:
        """By the program in s."""
        form = Primal(self.asked)
        if form.elimination.contradictions.size:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.contradiction())
        if form.elimination.ray is not None:
            return CvxpyAnswer(self._unseen(form))
        refuting = refuting_row(form.program)
        if refuting is not None:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.separating(-refuting))
        found = solved(form.program, self.options, self.progress)
        ended = _ended(found.result)
        if found.result.status is Status.INFEASIBLE:
            z = form.separating(-found.separator)
            return replace(ended, status=self._refuted(z), z=z)
        if found.result.status is Status.UNBOUNDED:
            return ended
        return self._with_pair(ended, form.pair(found.blocks, found.dual))

    def _by_dual(self) -> CvxpyAnswer:
        """By the program in z."""
        form = Dual(self.asked)
        if form.elimination.ray is not None:
            return CvxpyAnswer(settings.INFEASIBLE, z=form.contradiction())
        if refuting_row(form.program) is not None:
            return CvxpyAnswer(self._unseen(Primal(self.asked)))
        found = solved(form.program, self.options, self.progress)
        ended = _ended(found.result)
        if found.result.status is Status.UNBOUNDED:
            z = None if found.ray is None else form.separating(found.ray)
            return replace(ended, status=settings.INFEASIBLE, z=z)
        if found.result.status is Status.INFEASIBLE:  # x can go down for ever, if there is one
            return replace(ended, status=self._unseen(Primal(self.asked)))
        return self._with_pair(ended, form.pair(found.blocks, -found.dual))

    def _with_pair(self, ended: CvxpyAnswer, pair: Pair) -> CvxpyAnswer:
        """With x and z; at a limit, these may be near to a solution, though it is not proved.
        ProblemError if a method that can do no more has left them far from one."""
        status, value = ended.status, float(self.asked.c @ pair.x)
        if status == settings.USER_LIMIT and self.asked.error(pair) <= self.options.tol:
            status = settings.OPTIMAL_INACCURATE
        elif status == settings.OPTIMAL_INACCURATE and self.asked.error(pair) > POOR:
            error = self.asked.error(pair)
            raise ProblemError(f"{UNANSWERED}: x and its duals fit to {error:.1g} only. {ADVICE}")
        return replace(ended, status=status, value=value, x=pair.x, z=pair.z)

    def _refuted(self, z: Array) -> str:
        """The status where z proves that there is no x: inaccurate if the rounding of the
        elimination may be behind it."""
        b = self.asked.b
        clear = -float(b @ z) > CLEARLY * float(np.abs(b) @ np.abs(z))
        return str(settings.INFEASIBLE if clear else settings.INFEASIBLE_INACCURATE)

    def _unseen(self, form: Primal) -> str:
        """The status where the objective falls for ever from any feasible point: is there one?"""
        program = form.program
        anything = replace(program, c=sp.csr_array(program.c.shape), offset=0.0)
        size = 1.0 + float(np.abs(program.b).max(initial=0.0))
        for bound in (self.options.trace_bound, *(factor * size for factor in GUESSES)):
            look = replace(self.options, trace_bound=bound, max_iters=LOOK)
            try:
                status = solved(anything, look).result.status
            except ProblemError:
                continue
            if status is Status.SOLVED:
                return str(settings.UNBOUNDED)
            if status is Status.INFEASIBLE and bound is None:
                return str(settings.INFEASIBLE)
        return str(settings.INFEASIBLE_OR_UNBOUNDED)

    def _endless(self) -> CvxpyAnswer | None:
        """The answer that a direction of the cone gives: there is no x, or no best one."""
        form = Dual(self.asked)
        found = least_direction(form.program, self.options)
        if found is not None and found.falls:
            return CvxpyAnswer(settings.INFEASIBLE_INACCURATE, z=form.separating(found.x))
        found = least_direction(Primal(self.asked).program, self.options)
        falls = found is not None and found.falls
        return CvxpyAnswer(settings.UNBOUNDED_INACCURATE) if falls else None

    def _unbounded(self) -> str:
        """What can grow for ever, and what to do, in words."""
        form, where = Primal(self.asked), ""
        found = least_direction(form.program, self.options)
        if found is not None:
            where = f" of {', '.join(self.asked.moved(form.direction(found.x)))}"
        return (
            f"nothing was found that bounds the size{where}: neither the constraints nor the "
            "objective do, and a proof needs a bound. Add a constraint, such as trace(X) <= 100 "
            "or x <= 100, or pass trace_bound=, a number that, at a solution, no trace of a psd "
            "matrix, no bound of a norm, and no sum of what is left of inequalities exceeds"
        )


def _poor(result: Result | None) -> bool:
    """Whether a point is too bad to be an answer."""
    return result is None or max(result.gap, result.infeasibility) > POOR


def _ended(result: Result) -> CvxpyAnswer:
    """What a result says, without x and z; ProblemError if it says nothing."""
    if result.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        return CvxpyAnswer(STATUSES[result.status], result=result, seconds=result.seconds)
    rests = result.status in (Status.INACCURATE, Status.STALLED, Status.NUMERICAL_ERROR)
    if result.x is None or (rests and _poor(result)):
        raise ProblemError(
            f"{UNANSWERED}, at a gap of {result.gap:.1g} and infeasible by "
            f"{result.infeasibility:.1g} ({result.reason or result.status.value}). {ADVICE}"
        )
    return CvxpyAnswer(STATUSES[result.status], result=result, seconds=result.seconds)
