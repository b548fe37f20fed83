"""The model of a conic program: the problem that is solved for it, and what a result says of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.certificate import Certificate, allowed_gap
from condal.certificates.infeasibility import infeasibility_proof
from condal.driver.solve import resume, solve
from condal.errors import ProblemError
from condal.linalg.points import Array, dense
from condal.problem import Problem
from condal.problems.conic.combinations import combine
from condal.problems.conic.duals import without_bound
from condal.problems.conic.folded import fold
from condal.problems.conic.program import Program
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace import Search, TraceBound, Verdict, bound_traces
from condal.problems.conic.unfolded import blocks_of
from condal.result import History, Result, Status
from condal.types import Method

ROUNDING = 1e-12  # of the objective, in a bound
WITHIN = "of points within the trace that was given"
NEAR = 0.1  # of what tol allows: how far from the dual cone the multipliers may be


@dataclass(frozen=True, eq=False)
class ConicModel:
    """A conic program, over points of bounded trace; or what is proved of it without a solve.

    `trace` is the bound on the traces of the `shape`'s parts, or a `Verdict`: that the program is
    infeasible or unbounded. `seconds` is what it took to find that.
    """

    program: Program
    shape: Shape = field(repr=False)
    trace: TraceBound | Verdict
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """That of the program."""
        return self.program.name

    @property
    def verdict(self) -> Verdict | None:
        """What is proved before any solve, if anything is."""
        return self.trace if isinstance(self.trace, Verdict) else None

    @property
    def _trace(self) -> TraceBound:
        """The bound on the traces, where there is no verdict."""
        assert isinstance(self.trace, TraceBound)
        return self.trace

    @cached_property
    def problem(self) -> Problem:
        """The problem over the parts of bounded trace, without the program's offset; where there
        is a verdict, over traces of at most 1, of which it holds as of all."""
        if isinstance(self.trace, Verdict):
            return self.shape.problem(np.ones(len(self.shape.maps)))
        return self.shape.problem(self.trace.traces, exact=self.trace.exact)

    def solve(self, method: Method | None = None, **options: Any) -> Result:
        """`condal.solve` of the problem, with a bound that holds of the program itself; where
        there is a verdict, that is the result."""
        if self.verdict is not None:
            return self.ended()
        return self.proved(solve(self.problem, method, **options))

    def resume(self, checkpoint: Any, **options: Any) -> Result:
        """`condal.resume` of a solve of the problem, with a bound that holds of the program."""
        return self.proved(resume(checkpoint, self.problem, **options))

    def proved(self, result: Result) -> Result:
        """The result of a solve, with what holds of the program, beyond points of the traces that
        were looked at."""
        found = replace(result, certificate=self.certified(result.certificate, result.y))
        if result.status is Status.INFEASIBLE:
            return self._of_any_trace(found)
        if result.status is Status.SOLVED and not self._within_tol(found):
            if self._trace.given:  # what holds of any trace is a little worse: too little
                return replace(result, certificate=_within_the_trace(result.certificate))
            reason = f"points of an objective beyond {found.bound:.6g} may have larger traces than "
            reason += "were looked at, and be better: give trace_bound= (--trace-bound)"
            return replace(found, status=Status.STALLED, reason=reason)
        return found

    def _within_tol(self, result: Result) -> bool:
        """Whether the gap is still what was asked for, with the bound that holds of the program."""
        allowed = allowed_gap(self.problem, result.objective, result.tol or 0.0)
        return abs(result.bound - result.objective) <= allowed

    def _of_any_trace(self, result: Result) -> Result:
        """A proof that nothing is feasible says so of the program only if no trace was assumed."""
        if not self._trace.given and self._trace.level == inf:
            return result
        if result.separator is not None and combine(self.shape, result.separator).impossible:
            return replace(result, reason="the proof holds whatever the trace")
        if self._trace.given:
            reason = f"it is proved {WITHIN}, and of no others: try a larger one"
            return replace(result, reason=reason)
        sense, level = self.problem.sense, self._trace.level
        reason = f"no feasible point has an objective better than {sense * level:.6g}, and whether "
        reason += "there is one at all is not known"
        certificate = replace(result.certificate, bound=sense * level)
        return replace(result, status=Status.STALLED, reason=reason, certificate=certificate)

    def objective(self, result: Result) -> float:
        """The program's objective at the result, its offset included."""
        return result.objective + self.program.offset

    def bound(self, result: Result) -> float:
        """The proved bound on the program's optimum, its offset included."""
        total = result.bound + self.program.offset
        if not self.program.offset:
            return total
        return float(np.nextafter(total, -self.problem.sense * inf))  # the sum is rounded

    def assumes_trace(self, result: Result) -> bool:
        """Whether the bound is one of points within the trace that was given alone."""
        return WITHIN in result.certificate.how

    def blocks(self, result: Result, *, full: bool = False) -> tuple[Any, ...]:
        """x, block by block: LowRank or an n x n array for a psd block, vectors for the others;
        `full` makes arrays of all."""
        if result.x is None:
            raise ProblemError("the result has no point: the solve ended too early")
        Ax = self.problem.A(result.x)
        found = blocks_of(self.shape.folded, result.x, Ax)
        return tuple(np.asarray(dense(block)) for block in found) if full else found

    def dual(self, result: Result) -> Array:
        """y, a number for each row of the program: the optimum moves by y_i with b_i.

        <b, y> is near the bound, and c - A'y is in the dual cone, or A'y - c where the program is
        to be maximised, but for rounding: what the multiplier of the trace does, rows that bound
        the trace do. Where the trace was given, no row does, and y is as it was found.
        """
        w = result.y
        if isinstance(self.trace, TraceBound):
            error = NEAR * (result.tol or 0.0) * max(1.0, abs(result.objective))
            proved = self.problem.sense * result.bound + self.problem.h.conjugate(w)
            w = without_bound(self.shape, self.trace, w, error=error, proved=proved)
        return self._of_rows(w)

    def separator(self, result: Result) -> Array:
        """y, of an infeasible program: A'y in the dual cone and <b, y> < 0, but for rounding."""
        if result.separator is None:
            raise ProblemError("the result has no proof that the program is infeasible")
        w = result.separator
        if isinstance(self.trace, TraceBound):
            w = without_bound(self.shape, self.trace, w, objective=False)
        return self._of_rows(w) if self.program.maximise else -self._of_rows(w)

    def _of_rows(self, w: Array) -> Array:
        """Multipliers of the program's rows, of those of the folded ones; with the sign of y."""
        folded, y = self.shape.folded, np.zeros(self.program.b.size)
        y[folded.rows] = folded.scale * (w if self.program.maximise else -w)
        return y

    def slack(self, result: Result) -> tuple[Any, ...]:
        """z = c - A'y, or A'y - c where the program is to be maximised, block by block: a sparse
        matrix for a psd block, vectors for the others."""
        program = self.program
        z = program.c - sp.csr_array(self.dual(result)[None]) @ program.A
        z = sp.coo_array(-z if program.maximise else z)
        found: list[Any] = []
        for j, block in enumerate(program.blocks):
            here = program.place(j)
            mine = (z.col >= here.start) & (z.col < here.stop)
            places, values = z.col[mine].astype(np.int64) - here.start, z.data[mine]
            if block.kind == "psd":
                rows, cols = np.divmod(places, block.n)
                found.append(sp.csr_array((values, (rows, cols)), (block.n, block.n)))
            else:
                found.append(np.bincount(places, values, block.n))
        return tuple(found)

    def certified(self, found: Certificate, y: Array) -> Certificate:
        """Without what was only assumed: points above the level, and a trace that was given."""
        sense = self.problem.sense
        if self._trace.given and isfinite(found.bound):
            free = combine(self.shape, y, of_objective=True)
            proved = replace(found, bound=-sense * free.most)
            # Rounding makes it a little worse than that of the points within the trace.
            if np.all(free.least >= 0) and proved.gap <= 2 * found.gap + ROUNDING:
                how = f"{found.how}; the slack is psd, so it holds whatever the trace"
                return replace(proved, how=how)
            return _within_the_trace(found)
        if sense * found.bound > self._trace.level:
            return replace(found, bound=sense * self._trace.level)
        return found

    def ended(self) -> Result:
        """The result that the verdict is, without a solve."""
        verdict = self.trace
        if not isinstance(verdict, Verdict):
            raise ProblemError(f"{self.name} has no verdict: solve it")
        proof = None
        if verdict.y is not None:
            proof = infeasibility_proof(self.problem, verdict.y, slack=0.0, failure=1e-9, seed=0)
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
            method="phase one",
            reason=verdict.how,
            infeasible=proof,
            separator=verdict.y,
        )


def _within_the_trace(found: Certificate) -> Certificate:
    return replace(found, how=f"{found.how}, {WITHIN}")


def conic_model(
    program: Program,
    trace_bound: float | None = None,
    *,
    seed: int = 0,
    max_seconds: float | None = None,
    say: Callable[[str], None] | None = None,
) -> ConicModel:
    """The model of a program; a bound on the trace of its solutions is looked for, and proved.

    Parameters
    ----------
    trace_bound : a bound on the trace of each psd block, the sum of the nonnegative numbers and the
        first entry of each second-order block, where it is known; else one is looked for.
    seed : of what is random in the search.
    max_seconds : for the whole search.
    say : called with a line about what the search does.
    """
    if not isinstance(program, Program):
        raise ProblemError(f"conic_model takes a Program; got {type(program).__name__}")
    began = time.perf_counter()
    shape = Shape.of(fold(program))
    found = bound_traces(shape, trace_bound, Search.of(seed, max_seconds, say))
    return ConicModel(program, shape, found, time.perf_counter() - began)
