"""The model of a conic program: the problem that is solved, and what its result proves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from inspect import signature
from math import inf
from typing import Any

import numpy as np

from condal.certificates.bound import infeasibility_proof, require_failure
from condal.certificates.certificate import Certificate
from condal.certificates.judge import judged
from condal.driver.memory import Plan
from condal.driver.run_record import Stop
from condal.driver.solve import require_kinds, resume, solve
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problem import JudgesItself
from condal.problems.conic.interpretation import ON_OWN_DATA
from condal.problems.conic.own_data import OwnDataProofs
from condal.problems.conic.proposed import Settled, folded_dual, result_of
from condal.problems.conic.trace_bound import Verdict
from condal.result import Result, Status
from condal.runtime.arguments import seed_of, unpredictable_seed
from condal.runtime.limits import TimeLimit
from condal.types import Method

DEFAULT_TOL = 1e-3  # of `condal.solve`
NO_PROOF_FOR_ANY_TRACE = (
    "a solution was found, but nothing bounds the trace, and no bound on the objective is proved "
    "for any trace: give trace_bound= (--trace-bound), a number that the trace of a solution does "
    "not exceed"
)
UNVERIFIED = "the program's own data prove less than tol: scale the rows, or raise tol"
MAX_ATTEMPTS = 8  # of a solve, each with a smaller tolerance
SMALLEST_CUT = 0.01  # of the tolerance
NEAR = 100  # times tol: a gap that a smaller tolerance may close
IGNORED = {"every_seconds", "warm_start"}  # options that do not ask for more than a result


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

    def solve(
        self,
        method: Method | Plan | str | None = None,
        *,
        excess: Callable[[Result], float] | None = None,
        **options: Any,
    ) -> Result:
        """Solve the problem, with a bound that holds for the program itself.

        Parameters
        ----------
        method : Method, Plan or str, optional
            The method; chosen by default.
        excess : callable, optional
            How many times tol the error of a solution is, for a program that states another one:
            the solve resumes with a smaller tolerance if it is above 1.
        **options
            Options of `condal.solve`.

        Returns
        -------
        Result
            The result; with a verdict, it is returned without a solve.
        """
        signature(solve).bind(None, method, **options)  # refuses names that are no options
        chosen = method is not None and not (isinstance(method, Plan) and not method.by_user)
        chosen |= any(options.get(name) is not None for name in ("warm_start", "storage"))
        limit, best = TimeLimit(options.get("max_seconds")), None
        for attempt in range(MAX_ATTEMPTS):
            result = None if chosen else self._settled_result(**options)
            if result is None and self.verdict is not None:
                return self.ended()
            options["max_seconds"] = limit.max_seconds
            result = result or self.proved(solve(self.problem, method, **options))
            tol = result.tol if best is None else best.tol
            spent = 0.0 if best is None else best.seconds
            result = judged(replace(result, tol=tol, seconds=spent + result.seconds))
            if result.status is Status.INFEASIBLE or not tol:
                return result
            over = result.certificate.error / tol
            over = excess(result) if excess is not None and over <= 1 else over
            if over <= 1:
                return result
            best = result if best is None or result.gap < best.gap else best
            unverified = attempt == 0 and result.reason == UNVERIFIED
            lost = excess is not None and result.status is Status.STALLED and over <= NEAR
            if not (result.status is Status.SOLVED or unverified or lost) or limit.is_over():
                break
            cut = max(0.5 / over, SMALLEST_CUT)
            options |= {"tol": cut * options.get("tol", DEFAULT_TOL), "warm_start": result}
        assert best is not None
        return self._with_settled(best)

    def _settled_result(self, *, tol: float = DEFAULT_TOL, **options: Any) -> Result | None:
        """Return the result that the interior-point engine settles; None if it is not within tol.

        Other options than those of a plain solve ask for more than a result.
        """
        Stop(tol, *(options.pop(name, None) for name in ("max_iters", "max_seconds")))
        require_failure(options.pop("failure", 0.0))
        seed_of(options.pop("seed", None))
        callback, stopper = options.pop("callback", None), options.pop("stopper", None)
        require_kinds(callback=callback, stopper=stopper)
        if stopper is not None and stopper.stopped:
            return None
        verbose = options.pop("verbose", False)
        asked = (value for name, value in options.items() if name not in IGNORED)
        plain = not verbose and all(value is None for value in asked)
        result = None
        if self.settled is not None and plain and not self.has_trace:
            result = self.settled.result(self.shape, tol, self.seconds)
        if result is None and self.verdict is None and self._trace.towards is not None:
            made = self.shape, self.problem, self._trace.traces
            result = self._trace.towards.result_within(*made, tol, self.seconds)
        if verbose and callback is None:
            from condal.report.progress import Progress

            callback = Progress()
        if result is not None and callback is not None:
            with callback if isinstance(callback, AbstractContextManager) else nullcontext():
                callback(result.history.last)
        return result

    def _with_settled(self, result: Result) -> Result:
        """Return the result with the best bound that the interior-point engine led to."""
        sense = self.problem.sense
        known = self.has_trace and self.verdict is None
        towards = self._trace.towards if known else None
        for settled in (self.settled, towards):
            if settled is None or result.x is None or settled.lower <= sense * result.bound:
                continue
            w, bound = folded_dual(self.shape, settled.y), sense * settled.lower
            certificate = replace(result.certificate, bound=bound, how=ON_OWN_DATA, failure=0.0)
            certificate = self._measured(result.x, w, certificate)
            result = judged(replace(result, y=w, certificate=certificate))
        return result

    def resume(self, checkpoint: Any, **options: Any) -> Result:
        """Resume a solve of the problem by `condal.resume`, as `solve` solves it."""
        if self.verdict is not None:
            return self.ended()
        return self.proved(resume(checkpoint, self.problem, **options))

    def proved(self, result: Result) -> Result:
        """Return a result of `problem` with the bound and status that hold for the program.

        They assume nothing about the trace unless the certificate says so.
        """
        proved = self.rechecked(result)
        if result.status is not Status.SOLVED or proved.certificate.within(result.tol or 0.0):
            return proved
        if self._trace.given:  # a bound for any trace would be a little worse than tol
            return replace(result, certificate=self._within_the_trace(result.certificate))
        reason = UNVERIFIED if self._trace.proved else NO_PROOF_FOR_ANY_TRACE
        return replace(proved, status=Status.STALLED, reason=reason)

    def certified_pair(self, x: Any, y: Array, certificate: Certificate) -> Certificate:
        """Return the certificate of a pair of `problem` with the bound that holds for the program.

        It assumes nothing about the trace unless it says so.
        """
        if self.verdict is None:
            return self._bounded(x, y, certificate)[0]
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
        return result_of(
            Certificate(np.nan, -self.problem.sense * inf, inf, verdict.how),
            verdict.status,
            0,
            self.seconds,
            y=np.zeros(self.shape.K.size),
            problem_name=self.name,
            method="interior-point",
            reason=verdict.how,
            infeasible=proof,
            separator=verdict.y,
        )
