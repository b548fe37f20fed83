"""Answer a CVXPY problem: engines propose, and the judge proves what it can of each proposal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf, nan

import numpy as np
from cvxpy import settings

from condal.certificates.certificate import Certificate
from condal.certificates.judge import Ending, of_point
from condal.cvxpy.engines import EmbeddedEngine, Engine, by_program, eliminated, seem_consistent
from condal.cvxpy.forms import (
    DIRECTION,
    SEPARATOR,
    CvxpyProblem,
    Form,
    Pair,
    with_cone,
    without_cone,
)
from condal.cvxpy.interior import ClarabelEngine, Proposal
from condal.cvxpy.judge import BY_ROOT, Judge
from condal.cvxpy.nearest import NearestMatrix
from condal.cvxpy.options import Options
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.methods.interior.standard import MAX_ENGINE_SECONDS
from condal.problems.conic.proposed import result_of
from condal.problems.conic.trace_bound import UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.limits import TimeLimit

MAX_PRIMAL_CONSTRAINTS = 100  # up to which the primal is solved first
DUAL_ADVANTAGE = 4  # solve the dual first if the primal has this many times its constraints
QUICK_STEP = 0.02  # seconds of an interior-point iteration
TINY_STEP = 1e-3  # the same: Clarabel is then the faster one
PROOF_SHARE = 0.1  # of the time that is left, for proofs after a solve
POOR_ERROR = 0.1  # a larger gap or infeasibility is not an answer
# Of a proposal, in tol: the last steps of an interior-point method cost little and gain digits.
ACCURACY, MIN_ACCURACY = 1e-4, 1e-9
STATUSES = {
    Status.SOLVED: settings.OPTIMAL,
    Status.INFEASIBLE: settings.INFEASIBLE,
    Status.UNBOUNDED: settings.UNBOUNDED,
    Status.MAX_ITERS: settings.USER_LIMIT,
    Status.MAX_SECONDS: settings.USER_LIMIT,
    Status.INTERRUPTED: settings.USER_LIMIT,
}
PROVED = settings.OPTIMAL, settings.INFEASIBLE, settings.UNBOUNDED
NO_ANSWER = "the solve ended without an answer"
ADVICE = (
    "The problem may have no solution, or none that is attained; otherwise bounds on its variables "
    "or a trace_bound= may help"
)
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
ENDINGS = {
    Status.INFEASIBLE: "a vector near the proposed one, without assumptions: no x is feasible",
    Status.UNBOUNDED: "a ray and a feasible point, without assumptions: the objective has no bound",
}


Route = Callable[[], Iterator[Proposal]]


@dataclass(frozen=True, eq=False)
class CvxpyAnswer:
    """CVXPY's status, the result with what is proved, <c, x>, x and its duals z.

    For an infeasible problem, z proves that there is no x.
    """

    status: str
    result: Result
    x: Array | None = None
    z: Array | None = None

    @property
    def value(self) -> float:
        """The objective at x."""
        return nan if self.x is None else self.result.objective

    @property
    def error(self) -> float:
        """The largest of the gap, the infeasibility and its price, as judged; inf for none."""
        return inf if self.x is None else self.result.certificate.error


def answer_problem(
    problem: CvxpyProblem, options: Options, progress: Progress | None = None
) -> CvxpyAnswer:
    """Return the answer to a CVXPY problem; raise ProblemError if nothing bounds the trace."""
    limit = TimeLimit(options.max_seconds)
    with limit.on():  # for the proofs of the judge
        answer = _Question(problem, options, progress, limit).answer()
    return replace(answer, result=replace(answer.result, seconds=limit.seconds))


@dataclass(frozen=True, eq=False)
class _Question:
    """A CVXPY problem, the options, the progress display, and the time for all attempts."""

    problem: CvxpyProblem
    options: Options
    progress: Progress | None
    limit: TimeLimit
    unproved: list[CvxpyAnswer] = field(default_factory=list)
    faults: list[ProblemError] = field(default_factory=list)
    proposed: list[Pair] = field(default_factory=list)

    @cached_property
    def own(self) -> Judge:
        """The judge of the problem itself, for rays and separators."""
        return Judge(self.problem)

    @cached_property
    def linear(self) -> Judge:
        """The judge of the statement with a linear objective, which first-order methods take."""
        return Judge(with_cone(self.problem), BY_ROOT) if self.problem.P is not None else self.own

    def answer(self) -> CvxpyAnswer:
        """Propose, judge, and stop at a proof or a limit."""
        for judge, route in self._routes():
            try:
                for proposal in route():
                    answer = self._judged(judge, proposal)
                    if answer is not None and answer.status in PROVED:
                        return answer
                    self.unproved.extend([] if answer is None else [answer])
            except ProblemError as fault:
                self.faults.append(fault)
            # The limits hold for all routes together.
            if self.unproved and self.unproved[-1].status == settings.USER_LIMIT:
                return self._best
            if self.unproved and self.limit.is_over():
                break
        return self._refuted or self._ended(self.own.unbounded()) or self._best

    # ---- propose -----------------------------------------------------------------------------

    def _routes(self) -> Iterator[tuple[Judge, Route]]:
        """Yield the ways to an answer, cheapest first, with the judge of what they propose.

        Interior-point methods need no bound on the trace and come first where an iteration is
        quick. On large problems the first-order methods are faster, within a trace that rows bound.
        """
        chosen = self.options.method is not None or self.options.trace_bound is not None
        if self.problem.P is not None and not chosen:
            yield self.own, partial(self._by_engines, engines_for(self.problem))
        problem = self.linear.problem
        routes: list[Route] = [partial(eliminated, problem)]
        if problem.layout.blocks:
            routes.append(self._by_first_order)
        if problem.layout.blocks and not chosen:
            engines = engines_for(problem)
            quick = engines[0].step_seconds <= QUICK_STEP
            routes.insert(1 if quick else 2, partial(self._by_engines, engines))
            if quick and seem_consistent(problem):
                routes[:2] = routes[1::-1]
        yield from ((self.linear, route) for route in routes)

    def _by_engines(self, engines: list[Engine]) -> Iterator[Proposal]:
        accuracy = max(ACCURACY * self.options.tol, MIN_ACCURACY)
        for k, engine in enumerate(engines):
            if engine.step_seconds <= MAX_ENGINE_SECONDS and not (k and self.limit.is_over()):
                yield engine.propose(self._left, accuracy)

    def _by_first_order(self) -> Iterator[Proposal]:
        """Propose by the programs in s and in z, up to the first answer."""
        problem = self.linear.problem
        in_s, in_z = problem.fewest
        forms = [Form(problem), Form(problem, in_z=True)]
        if self.options.trace_bound is not None:  # it bounds s
            forms = forms[:1]
        elif in_s > max(MAX_PRIMAL_CONSTRAINTS, DUAL_ADVANTAGE * in_z):
            forms = forms[::-1]
        for form in forms:
            before = len(self.unproved)
            try:
                yield by_program(form, self._left, self._excess, self.progress)
            except ProblemError as fault:
                self.faults.append(fault)
            if len(self.unproved) > before:
                return

    @property
    def _left(self) -> Options:
        """The options, with the time that is left for a solve."""
        left = self.limit.share(1 - PROOF_SHARE)
        return replace(self.options, max_seconds=left.max_seconds)

    # ---- judge -------------------------------------------------------------------------------

    def _certificate(self, judge: Judge, proposal: Proposal) -> Certificate:
        tol, trace_bound = self.options.tol, self.options.trace_bound
        return judge.judge(proposal.pair, tol, trace_bound, proposal.inner)

    def _excess(self, proposal: Proposal) -> float:
        """Return how many times tol the judged error of a solution is."""
        return self._certificate(self.linear, proposal).error / self.options.tol

    def _judged(self, judge: Judge, proposal: Proposal) -> CvxpyAnswer | None:
        """Return the answer that a proposal is, proved or not; None if it is of no use."""
        pair, result = proposal.pair, proposal.result
        if not proposal.outcome:
            return None
        own = pair if judge is self.own else without_cone(judge.problem, pair)
        self.proposed.append(own)
        if proposal.outcome == SEPARATOR:
            return self._ended(self.own.refutation(own.z), proposal) or self._evidence(
                settings.INFEASIBLE_INACCURATE, "no x seems to be feasible", proposal, own.z
            )
        if proposal.outcome == DIRECTION:
            proved = self._ended(self.own.unbounded(own.x), proposal) or self._refuted
            return proved or self._evidence(
                settings.UNBOUNDED_INACCURATE, "the objective seems to be unbounded", proposal
            )
        certificate = self._certificate(judge, proposal)
        status = of_point(certificate, self.options.tol)
        if status is None:
            error = judge.problem.error(pair)
            ended = proposal.limited or (Status.INACCURATE if result is None else result.status)
            limited = STATUSES.get(ended) == settings.USER_LIMIT and error > self.options.tol
            if error > POOR_ERROR and not limited:
                fault = f"{NO_ANSWER}: x and its duals have an error of {error:.1g}. {ADVICE}"
                self.faults.append(ProblemError(fault))
                return None
            status = ended if limited else Status.INACCURATE
        return self._answer(status, certificate, proposal, own.x, own.z)

    def _ended(self, ending: Ending | None, proposal: Proposal | None = None) -> CvxpyAnswer | None:
        """Return the answer to a problem that is proved to have no optimum."""
        if ending is None:
            return None
        z = ending.vector if ending.status is Status.INFEASIBLE else None
        certificate = Certificate(nan, -inf, nan, ENDINGS[ending.status])
        return self._answer(ending.status, certificate, proposal, z=z)

    @cached_property
    def _refuted(self) -> CvxpyAnswer | None:
        """The answer if a search proves that no x is feasible."""
        return self._ended(self.own.refutation())

    def _evidence(
        self, status: str, text: str, proposal: Proposal, z: Array | None = None
    ) -> CvxpyAnswer | None:
        """Return the answer that a solve ended with, not proved; None for other proposals."""
        if proposal.result is None:
            return None
        certificate = Certificate(nan, -inf, nan, f"{text}, which is not proved")
        return replace(self._answer(Status.INACCURATE, certificate, proposal, z=z), status=status)

    def _answer(
        self,
        status: Status,
        certificate: Certificate,
        proposal: Proposal | None,
        x: Array | None = None,
        z: Array | None = None,
    ) -> CvxpyAnswer:
        """Return an answer with what is proved of it, and the result of the solve behind it."""
        made = proposal or Proposal("", Pair(np.zeros(0), np.zeros(0)), "elimination", 0, 0.0)
        result = made.result
        if result is None:
            name, work = "CVXPY problem", (made.iterations, made.seconds)
            result = result_of(certificate, status, *work, problem_name=name, method=made.method)
            if x is not None and len(result.history) and self.progress is not None:
                self.progress(result.history.last)
        tol, reason = self.options.tol, ""
        if status is Status.INACCURATE:
            reason = certificate.how if x is None else certificate.excess(tol)
        y = result.y if z is None else z
        proved = replace(result, status=status, certificate=certificate, reason=reason)
        said = STATUSES.get(status, settings.OPTIMAL_INACCURATE)
        return CvxpyAnswer(said, replace(proved, y=y, tol=tol), x, z)

    @property
    def _best(self) -> CvxpyAnswer:
        """The best of the answers that are not proved; ProblemError without any."""
        if self.unproved:
            return min(self.unproved, key=lambda answer: answer.error)
        if self.limit.is_over():
            raise ProblemError(OUT_OF_TIME)
        if not any(isinstance(fault, UnboundedTraceError) for fault in self.faults):
            raise self.faults[0] if self.faults else ProblemError(f"{NO_ANSWER}. {ADVICE}")
        grown = self.problem.moved(self.proposed[-1].x) if self.proposed else ["a solution"]
        raise ProblemError(UNBOUNDED_TRACE.format(", ".join(grown)))


def engines_for(problem: CvxpyProblem) -> list[Engine]:
    """Return the interior-point methods to try, one after the other."""
    clarabel = ClarabelEngine(problem)
    if problem.P is not None:
        nearest = NearestMatrix.of(problem)
        return [clarabel] if nearest is None else [nearest, clarabel]
    if clarabel.step_seconds > TINY_STEP:
        embedded = EmbeddedEngine(problem)
        if embedded.step_seconds < clarabel.step_seconds:
            return [embedded]
    return [clarabel]
