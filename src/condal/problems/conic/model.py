"""The model of a conic program: the problem that is solved, and what its result proves."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Any

import numpy as np

from condal.certificates.bound import infeasibility_proof
from condal.certificates.certificate import Certificate
from condal.certificates.evaluation import EvaluatedPoint, dimacs_errors
from condal.certificates.history import History
from condal.certificates.judge import judged
from condal.driver.memory import Plan
from condal.driver.run_record import Stop
from condal.driver.solve import require_kinds, resume, solve
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.linalg.rounding import Proof
from condal.methods.proposed import Proposed
from condal.problem import JudgesItself
from condal.problems.conic.interpretation import GIVEN_TRACE, ON_OWN_DATA
from condal.problems.conic.own_data import OwnDataProofs
from condal.problems.conic.proposed import Settled, folded_dual, inside_of, point_of
from condal.problems.conic.trace_bound import Verdict, combine
from condal.problems.conic.verified import bound_towards
from condal.result import Result, Status
from condal.runtime.arguments import seed_of, unpredictable_seed
from condal.runtime.limits import TimeLimit
from condal.types import Method, from_user

DEFAULT_TOL = 1e-3  # of `condal.solve`
GAP_ROUNDING = 1e-12  # relative to the objective
ANY_TRACE = "the proof holds whatever the trace"
NO_PROOF_FOR_ANY_TRACE = (
    "a solution was found, but nothing bounds the trace, and no bound on the objective is proved "
    "for any trace: give trace_bound= (--trace-bound), a number that the trace of a solution does "
    "not exceed"
)
NO_POINT = "no feasible point was found, and it is not proved that there is none"
UNVERIFIED = "the program's own data prove less than tol: scale the rows, or raise tol"
NEAR_RETRY, RETRY = 0.5, 0.01  # of tol, if the first bound is not proved on the own data
NEAR = 2.0  # times tol: a gap that a slightly smaller tolerance closes


@dataclass(frozen=True, eq=False)
class ConicModel(OwnDataProofs, JudgesItself):
    """A conic program over points of bounded trace, or a proof that none is needed.

    `conic_model` builds the model.

    Attributes
    ----------
    program : Program
        The program.
    shape : Shape
        Its parts, maps and costs.
    trace : TraceBound or Verdict
        The bound on the traces of the parts, or a proof that the program is infeasible or
        unbounded.
    seconds : float
        The time of the search for the bound.
    settled : Settled or None
        What the interior-point engine proved at once, if it did: `trace` is then searched for on
        first use.
    """

    settled: Settled | None = field(default=None, repr=False)

    def solve(self, method: Method | Plan | str | None = None, **options: Any) -> Result:
        """Solve the problem, with a bound that holds for the program itself.

        Parameters
        ----------
        method : Method, Plan or str, optional
            The method; chosen by default.
        **options
            Options of `condal.solve`.

        Returns
        -------
        Result
            The result; with a verdict, it is returned without a solve.
        """
        chosen = method is not None and not (isinstance(method, Plan) and not method.by_user)
        if self.settled is not None and not chosen and not self.has_trace:
            result = self._settled_result(self.settled, **options)
            if result is not None:
                return result
        if self.verdict is not None:
            return self.ended()
        limit = TimeLimit(options.get("max_seconds"))
        if not chosen and options.get("warm_start") is None and options.get("storage") is None:
            result = self._proposed(**options)
            if result is not None and result.status is Status.SOLVED:
                return result
            options["max_seconds"] = limit.max_seconds
        result = solve(self.problem, method, **options)
        proved = self.proved(result)
        if proved.reason != UNVERIFIED or result.tol is None or limit.is_over():
            return proved
        near = self._within_tol(replace(proved, tol=NEAR * result.tol))
        retry = NEAR_RETRY if near else RETRY
        more = {**options, "tol": retry * result.tol, "warm_start": result}
        more["max_seconds"] = limit.max_seconds
        again = self.proved(solve(self.problem, method, **more))
        again = replace(again, tol=result.tol, seconds=result.seconds + again.seconds)
        if self._within_tol(again):
            return judged(again)
        return again if again.gap < proved.gap else proved

    def _settled_result(
        self, settled: Settled, *, tol: float = DEFAULT_TOL, **options: Any
    ) -> Result | None:
        """Return the result that is proved already; None if it is not within tol, or not asked for.

        Other options than those of a plain solve ask for more than a result.
        """
        Stop(tol, options.pop("max_iters", None), options.pop("max_seconds", None))
        seed_of(options.pop("seed", None))
        callback, stopper = options.pop("callback", None), options.pop("stopper", None)
        require_kinds(callback=callback, stopper=stopper)
        options.pop("every_seconds", None)
        if options.pop("verbose", False) or any(value is not None for value in options.values()):
            return None
        if stopper is not None and stopper.stopped:
            return None
        result = settled.result(self.shape, tol, self.seconds)
        if result is not None and callback is not None:
            with callback if isinstance(callback, AbstractContextManager) else nullcontext():
                callback(result.history.last)
        return result

    def _proposed(self, **options: Any) -> Result | None:
        """Return the pair of the interior-point engine with what it proves; None without one."""
        proposal = self._trace.proposal
        if proposal is None:
            return None
        form = self.program.form
        start = _proposal(
            point_of(self.shape, proposal, self._trace.traces),
            folded_dual(self.shape, bound_towards(form, proposal.y, inside_of(proposal))[1]),
            Certificate(np.nan, -self.problem.sense * inf, inf, ""),
        )
        options = {**options, "warm_start": start, "checkpoint": None}  # a resume has no proposal
        return judged(self.proved(solve(self.problem, Proposed(), **options)))

    def resume(self, checkpoint: Any, **options: Any) -> Result:
        """Resume a solve of the problem by `condal.resume`, as `solve` solves it."""
        if self.verdict is not None:
            return self.ended()
        return self.proved(resume(checkpoint, self.problem, **options))

    def proved(self, result: Result) -> Result:
        """Return a result of `problem` with the bound and status that hold for the program.

        They assume nothing about the trace unless the certificate says so.
        """
        if not self._trace.proved and result.status is not Status.INFEASIBLE:
            proved = self._for_any_trace(result)
        else:
            proved = replace(result, certificate=self.certified(result.certificate, result.y))
        if result.status is Status.INFEASIBLE:
            return self._verified_infeasible(self._of_any_trace(proved))
        proved = self._measured(result, self._verified(proved))
        if result.status is Status.SOLVED and not self._within_tol(proved):
            if self._trace.given:  # a bound for any trace would be a little worse than tol
                return replace(result, certificate=self._within_the_trace(result.certificate))
            reason = UNVERIFIED if self._trace.proved else NO_PROOF_FOR_ANY_TRACE
            return replace(proved, status=Status.STALLED, reason=reason)
        return proved

    def _measured(self, before: Result, result: Result) -> Result:
        """Return the result with the DIMACS errors of its bound, if that is another one."""
        certificate, problem = result.certificate, self.problem
        if result.bound == before.bound or result.x is None or not certificate.dimacs:
            return result
        seen = EvaluatedPoint.of(problem, from_user(problem.X, result.x))
        lower = problem.sense * result.bound
        proof = Proof(lower + problem.h.conjugate(result.y), certificate.how)
        errors = dimacs_errors(problem, seen, result.y, lower, proof)
        return replace(result, certificate=replace(certificate, dimacs=errors))

    def _within_tol(self, result: Result) -> bool:
        """Return whether the result solves to tol, with the bound that holds for the program."""
        return result.certificate.within(result.tol or 0.0)

    def separated_for(self, d: Array) -> str | None:
        """Return what a separator of `problem` assumes as a proof that nothing is feasible.

        None if it proves this only for the traces that methods work within.
        """
        if not self._trace.given and self._trace.proved:
            return ""
        if combine(self.shape, d).impossible or self._separator_near(d) is not None:
            return ""
        return self._given_trace if self._trace.given else None

    @property
    def _given_trace(self) -> str:
        return f"{GIVEN_TRACE} {self._trace.largest:g}"

    def _within_the_trace(self, certificate: Certificate) -> Certificate:
        return replace(certificate, how=f"{certificate.how}, {self._given_trace}")

    def _of_any_trace(self, result: Result) -> Result:
        """Keep a proof of infeasibility only if it does not assume a trace."""
        if not self._trace.given and self._trace.proved:
            return result
        if result.separator is not None:
            if combine(self.shape, result.separator).impossible:
                return replace(result, reason=ANY_TRACE)
            separator = self._separator_near(result.separator)
            if separator is not None:
                return replace(result, reason=ANY_TRACE, separator=separator)
        if self._trace.given:
            reason = f"it is proved {GIVEN_TRACE} only: try a larger one"
            return replace(result, reason=reason)
        return self._undecided(result, NO_POINT)

    def certified(self, certificate: Certificate, y: Array) -> Certificate:
        """Return the certificate with what it assumes: nothing, or a given trace."""
        sense = self.problem.sense
        own = self.own_bound(y, sense * certificate.objective)
        if own > sense * certificate.bound or not self._trace.proved:
            return replace(certificate, bound=sense * own, how=ON_OWN_DATA, failure=0.0)
        if self._trace.given and isfinite(certificate.bound):
            combination = combine(self.shape, y, of_objective=True)
            proved = replace(certificate, bound=-sense * combination.most)
            # Rounding makes it a little worse than the bound within the trace.
            if np.all(combination.least >= 0) and proved.gap <= 2 * certificate.gap + GAP_ROUNDING:
                how = f"{certificate.how}; the slack is psd, so it holds whatever the trace"
                return replace(proved, how=how)
            return self._within_the_trace(certificate)
        return certificate

    def certified_pair(self, x: Any, y: Array, certificate: Certificate) -> Certificate:
        """Return the certificate of a pair of `problem` with the bound that holds for the program.

        It assumes nothing about the trace unless it says so.
        """
        if self.verdict is None:
            return self.proved(_proposal(x, y, certificate)).certificate
        unbounded, how = -self.problem.sense * inf, self.verdict.how
        return replace(certificate, bound=unbounded, how=how, failure=0.0, dimacs={})

    def ended(self) -> Result:
        """Return the verdict as a result, without a solve."""
        verdict = self.trace
        if not isinstance(verdict, Verdict):
            raise ProblemError(f"{self.name} has no verdict: solve it")
        proof = None
        if verdict.y is not None:
            proof = infeasibility_proof(
                self.problem, verdict.y, slack=0.0, failure=1e-9, seed=unpredictable_seed()
            )
        return Result(
            x=None,
            y=np.zeros(self.shape.K.size),
            status=verdict.status,
            certificate=Certificate(np.nan, -self.problem.sense * inf, inf, verdict.how),
            history=History(),
            seconds=self.seconds,
            oracle_calls=0,
            matvecs=0,
            problem_name=self.name,
            method="interior-point",
            reason=verdict.how,
            infeasible=proof,
            separator=verdict.y,
        )


def _proposal(x: Any, y: Array, certificate: Certificate) -> Result:
    """Return a pair as the result of a solve that claims nothing more."""
    return Result(
        x=x,
        y=y,
        status=Status.STALLED,
        certificate=certificate,
        history=History(),
        seconds=0.0,
        oracle_calls=0,
        matvecs=0,
    )
