"""Verdicts about a CVXPY problem: what the judge proves of the vectors that a route proposes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan

import numpy as np
import scipy.sparse as sp
from cvxpy import settings

from condal.certificates.history import History
from condal.cvxpy.forms import CvxpyProblem, Pair, Primal
from condal.cvxpy.judge import Judge
from condal.cvxpy.judgement import JudgedResult, Judgement
from condal.cvxpy.solving import Options, Solved, solve_program
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.conic.directions import SIZE_GUESSES, point_size
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.time_limit import TimeLimit

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
PROVED = settings.OPTIMAL, settings.INFEASIBLE, settings.UNBOUNDED
FEASIBILITY_ITERATIONS = 300
PROOF_SHARE = 0.1  # of the time that is left, for proofs after a solve
POOR_ERROR = 0.1  # a larger gap or infeasibility is not an answer
NO_ANSWER = "the solve ended without an answer"
ADVICE = (
    "The problem may have no solution, or none that is attained; otherwise bounds on its variables "
    "or a trace_bound= may help"
)


@dataclass(frozen=True, eq=False)
class CvxpyAnswer:
    """CVXPY's status, <c, x>, x, its duals z, the result behind them, and the seconds in all.

    For an infeasible problem, z proves that there is no x.
    """

    status: str
    value: float = nan
    x: Array | None = None
    z: Array | None = None
    result: Result | None = None
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Verdicts:
    """A CVXPY problem, the options, the progress display, and the time for all attempts."""

    problem: CvxpyProblem
    options: Options
    progress: Progress | None
    limit: TimeLimit

    @cached_property
    def judge(self) -> Judge:
        return Judge(self.problem)

    @property
    def _left(self) -> Options:
        """The options, with the time that is left for a solve."""
        left = self.limit.share(1 - PROOF_SHARE)
        return replace(self.options, max_seconds=left.max_seconds)

    def _excess(self, pair: Callable[[Solved], Pair]) -> Callable[[Solved], float]:
        """Return how many times tol the judged gap of a solution is."""

        def excess(solution: Solved) -> float:
            judged = self.judge.judge(pair(solution), self.options.tol, self.options.trace_bound)
            return judged.error / self.options.tol

        return excess

    def _with_pair(self, ended: Ended, pair: Pair) -> CvxpyAnswer:
        """Return the answer with x and z: optimal if that is proved, else inaccurate.

        If a method that can do no more leaves x and z far from a solution, ProblemError is raised.
        """
        judged = self.judge.judge(pair, self.options.tol, self.options.trace_bound)
        status = ended.status
        if judged.within(self.options.tol):
            status = settings.OPTIMAL
        elif status in (settings.OPTIMAL, settings.OPTIMAL_INACCURATE):
            proved = self._proved_without_solution()
            if proved is not None:
                return proved
            status = settings.OPTIMAL_INACCURATE
            error = self.problem.error(pair)
            if error > POOR_ERROR:
                raise ProblemError(
                    f"{NO_ANSWER}: x and its duals have an error of {error:.1g}. {ADVICE}"
                )
        elif self.problem.error(pair) <= self.options.tol:
            status = settings.OPTIMAL_INACCURATE
        return self._ended(ended, status, judged, x=pair.x, z=pair.z)

    def _proved_without_solution(self) -> CvxpyAnswer | None:
        """Return the answer if the problem is proved to be infeasible or unbounded."""
        z = self.judge.refutation()
        if z is not None:
            return self._refuted(z)
        return self._unbounded_answer() if self.judge.unbounded() else None

    def _refuted(self, z: Array, ended: Ended | None = None) -> CvxpyAnswer | None:
        """Return the answer if a z near this one proves that no x is feasible."""
        proof = self.judge.refutation(z)
        if proof is None:
            return None
        judged = Judgement(text="proved, without assumptions: no x is feasible")
        return self._ended(ended or Ended(), settings.INFEASIBLE, judged, z=proof)

    def _infeasible_answer(self, ended: Ended, z: Array | None) -> CvxpyAnswer:
        """Return the answer to a problem that a solver calls infeasible."""
        proved = None if z is None else self._refuted(z, ended)
        proved = proved or self._proved_without_solution()
        if proved is not None:
            return proved
        judged = Judgement(text="no x seems to be feasible, but this is not proved")
        return self._ended(ended, settings.INFEASIBLE_INACCURATE, judged, z=z)

    def _unbounded_answer(self, ended: Ended | None = None) -> CvxpyAnswer:
        judged = Judgement(text="proved, without assumptions: the objective is unbounded")
        return self._ended(ended or Ended(), settings.UNBOUNDED, judged)

    def _if_feasible(
        self, direction: Array | None = None, ended: Ended | None = None
    ) -> CvxpyAnswer:
        """Return the answer to a problem that is unbounded if some x is feasible."""
        z = self.judge.refutation()
        refuted = None if z is None else self._refuted(z, ended)
        if refuted is not None:
            return refuted
        falls = self.judge.ray(direction) is not None
        x = None if self.judge.feasible() else self._feasible_x()
        feasible = self.judge.feasible(x)
        if feasible and falls:
            return self._unbounded_answer(ended)
        off = 0.0 if feasible else inf if x is None else self.judge.violations.infeasibility(x)
        near = off <= self.options.tol
        status = settings.UNBOUNDED_INACCURATE if near else settings.INFEASIBLE_OR_UNBOUNDED
        text = f"{'an' if falls else 'no'} improving ray is proved; "
        text += (
            "a feasible point is proved" if feasible else f"the best x is infeasible by {off:.3g}"
        )
        return self._ended(ended or Ended(), status, Judgement(infeasibility=off, text=text))

    def _feasible_x(self) -> Array | None:
        """Return a point that a solve without the objective proposes; None if it finds none."""
        form = Primal(self.problem)
        program = form.program
        feasibility = replace(program, c=sp.csr_array(program.c.shape), offset=0.0)
        size = point_size(program)
        for bound in (self.options.trace_bound, *(factor * size for factor in SIZE_GUESSES)):
            options = replace(self._left, trace_bound=bound, max_iters=FEASIBILITY_ITERATIONS)
            try:
                solution = solve_program(feasibility, options)
            except ProblemError:
                continue
            if solution.result.status is Status.SOLVED:
                return form.pair(solution.blocks, solution.dual).x
        return None

    def _ended(
        self,
        ended: Ended,
        status: str,
        judged: Judgement,
        x: Array | None = None,
        z: Array | None = None,
    ) -> CvxpyAnswer:
        value = nan if x is None else judged.objective
        result = ended.result or no_result(status, judged)
        reason = result.reason if status in PROVED else "; ".join(judged.text.splitlines())
        fields = {name: getattr(result, name) for name in Result.__dataclass_fields__}
        fields["reason"] = reason
        if status == settings.OPTIMAL:
            fields |= {"status": Status.SOLVED, "reason": ""}
        judged_result = JudgedResult(**fields, judgement=judged)
        return CvxpyAnswer(status, value, x, z, judged_result)


@dataclass(frozen=True, eq=False)
class Ended:
    """The status that a solve proposes, and its result."""

    status: str = ""
    result: Result | None = None

    @classmethod
    def of(cls, result: Result) -> Ended:
        """Return the proposal of a result; raise ProblemError if there is none."""
        exhausted = result.status in (Status.INACCURATE, Status.STALLED, Status.NUMERICAL_ERROR)
        without_point = result.status in (Status.INFEASIBLE, Status.UNBOUNDED)
        if not without_point and (result.x is None or (exhausted and poor(result))):
            raise ProblemError(
                f"{NO_ANSWER}, at a gap of {result.gap:.1g} and infeasible by "
                f"{result.infeasibility:.1g} ({result.reason or result.status.value}). {ADVICE}"
            )
        return cls(STATUSES[result.status], result)


def poor(result: Result | None) -> bool:
    """Return whether a point is too inaccurate to be an answer."""
    if result is None:
        return True
    return not (result.gap <= POOR_ERROR and result.infeasibility <= POOR_ERROR)


def no_result(status: str, judged: Judgement) -> Result:
    """Return the result of an answer without a solve."""
    ends = {
        settings.OPTIMAL: Status.SOLVED,
        settings.INFEASIBLE: Status.INFEASIBLE,
        settings.UNBOUNDED: Status.UNBOUNDED,
    }
    return Result(
        x=None,
        y=np.zeros(0),
        status=ends.get(status, Status.INACCURATE),
        certificate=replace(judged, how=judged.text.partition("\n")[0]),
        history=History(),
        seconds=0.0,
        oracle_calls=0,
        matvecs=0,
        problem_name="CVXPY problem",
        method="elimination",
    )
