"""Verdicts about a CVXPY problem: what the judge proves of the vectors that a route proposes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan

import numpy as np
from cvxpy import settings

from condal.certificates.history import History
from condal.cvxpy.forms import CvxpyProblem, Pair
from condal.cvxpy.judge import Judge
from condal.cvxpy.judgement import JudgedResult, Judgement
from condal.cvxpy.solving import Options, Solved
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.limits import TimeLimit

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
PROOF_SHARE = 0.1  # of the time that is left, for proofs after a solve
POOR_ERROR = 0.1  # a larger gap or infeasibility is not an answer
NO_ANSWER = "the solve ended without an answer"
MAYBE_INFEASIBLE = "no x seems to be feasible, but this is not proved"
ADVICE = (
    "The problem may have no solution, or none that is attained; otherwise bounds on its variables "
    "or a trace_bound= may help"
)


@dataclass(frozen=True, eq=False)
class CvxpyAnswer:
    """CVXPY's status, the judged result behind it, <c, x>, x and its duals z.

    For an infeasible problem, z proves that there is no x.
    """

    status: str
    result: JudgedResult
    value: float = nan
    x: Array | None = None
    z: Array | None = None

    @property
    def error(self) -> float:
        """The largest of the gap, the infeasibility and its price, as judged; inf for none."""
        error = inf if self.x is None else self.result.judgement.error
        return inf if np.isnan(error) else error


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

    def _with_pair(
        self, pair: Pair, status: str = settings.OPTIMAL, result: Result | None = None
    ) -> CvxpyAnswer:
        """Return the answer with x and z: optimal if that is proved, else inaccurate.

        If a method that can do no more leaves x and z far from a solution, ProblemError is raised.
        """
        judged = self.judge.judge(pair, self.options.tol, self.options.trace_bound)
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
        return answer_of(status, judged, result, pair.x, pair.z)

    def _proved_without_solution(self) -> CvxpyAnswer | None:
        """Return the answer if the problem is proved to be infeasible or unbounded."""
        z = self.judge.refutation()
        if z is not None:
            return self._refuted(z)
        return unbounded() if self.judge.unbounded() else None

    def _refuted(self, z: Array, result: Result | None = None) -> CvxpyAnswer | None:
        """Return the answer if a z near this one proves that no x is feasible."""
        proof = self.judge.refutation(z)
        if proof is None:
            return None
        judged = Judgement(text="proved, without assumptions: no x is feasible")
        return answer_of(settings.INFEASIBLE, judged, result, z=proof)

    def _infeasible_answer(self, z: Array | None, result: Result | None = None) -> CvxpyAnswer:
        """Return the answer to a problem that a solver calls infeasible."""
        proved = None if z is None else self._refuted(z, result)
        proved = proved or self._proved_without_solution()
        if proved is not None:
            return proved
        judged = Judgement(text=MAYBE_INFEASIBLE)
        return answer_of(settings.INFEASIBLE_INACCURATE, judged, result, z=z)

    def _if_feasible(
        self, direction: Array | None = None, result: Result | None = None
    ) -> CvxpyAnswer:
        """Return the answer to a problem that is unbounded if some x is feasible."""
        z = self.judge.refutation()
        refuted = None if z is None else self._refuted(z, result)
        if refuted is not None:
            return refuted
        falls, feasible = self.judge.ray(direction) is not None, self.judge.feasible()
        if feasible and falls:
            return unbounded(result)
        status = settings.UNBOUNDED_INACCURATE if feasible else settings.INFEASIBLE_OR_UNBOUNDED
        text = f"{'an' if falls else 'no'} improving ray is proved, and "
        text += f"{'a' if feasible else 'no'} feasible point"
        return answer_of(status, Judgement(text=text), result)


def unbounded(result: Result | None = None) -> CvxpyAnswer:
    """Return the answer to a problem that is proved to be unbounded."""
    judged = Judgement(text="proved, without assumptions: the objective is unbounded")
    return answer_of(settings.UNBOUNDED, judged, result)


def answer_of(
    status: str,
    judged: Judgement,
    result: Result | None = None,
    x: Array | None = None,
    z: Array | None = None,
) -> CvxpyAnswer:
    """Return an answer with what is judged of it, and the result of the solve behind it."""
    result = result or result_of(status, judged)
    fields = {name: getattr(result, name) for name in Result.__dataclass_fields__}
    if status == settings.OPTIMAL:
        fields |= {"status": Status.SOLVED, "reason": ""}
    elif status not in PROVED:
        fields["reason"] = "; ".join(judged.text.splitlines())
    value = nan if x is None else judged.objective
    return CvxpyAnswer(status, JudgedResult(**fields, judgement=judged), value, x, z)


def result_of(status: str, judged: Judgement) -> Result:
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


def require_answer(result: Result) -> Result:
    """Return a result; raise ProblemError if it proposes nothing."""
    exhausted = result.status in (Status.INACCURATE, Status.STALLED, Status.NUMERICAL_ERROR)
    without_point = result.status in (Status.INFEASIBLE, Status.UNBOUNDED)
    if not without_point and (result.x is None or (exhausted and poor(result))):
        raise ProblemError(
            f"{NO_ANSWER}, at a gap of {result.gap:.1g} and infeasible by "
            f"{result.infeasibility:.1g} ({result.reason or result.status.value}). {ADVICE}"
        )
    return result


def poor(result: Result) -> bool:
    """Return whether a point is too inaccurate to be an answer."""
    return not (result.gap <= POOR_ERROR and result.infeasibility <= POOR_ERROR)
