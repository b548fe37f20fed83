"""The model of a conic program: the problem that is solved, and what its result proves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.certificate import Certificate
from condal.certificates.infeasibility import infeasibility_proof
from condal.certificates.tolerance import solves
from condal.driver.solve import resume, solve
from condal.errors import ProblemError
from condal.linalg.norms import row_squares, stable_norm
from condal.linalg.points import Array, dense
from condal.problem import Problem
from condal.problems.conic.combinations import combine
from condal.problems.conic.duals import without_bound
from condal.problems.conic.folded import fold
from condal.problems.conic.program import Program
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace import (
    Search,
    TraceBound,
    UnboundedTraceError,
    Verdict,
    bound_traces,
)
from condal.problems.conic.unfolded import blocks_of
from condal.problems.conic.verified import (
    conic_form,
    separator_near,
    verifiable,
    verified_bound,
    verified_infeasible,
    verified_unbounded,
)
from condal.result import History, Result, Status
from condal.runtime.time_limit import TimeLimit
from condal.types import Method

GAP_ROUNDING = 1e-12  # relative to the objective
ANY_TRACE = "the proof holds whatever the trace"
GIVEN_TRACE = "for points within the given trace bound"
UNVERIFIED = "the program's own data prove less than tol: scale the rows, or raise tol"
NEAR_RETRY, RETRY = 0.5, 0.01  # of tol, if the first bound is not proved on the own data
NEAR = 2.0  # times tol: a gap that a slightly smaller tolerance closes
DUAL_ERROR = 0.1  # distance of the multipliers from the dual cone, as a fraction of tol


@dataclass(frozen=True, eq=False)
class ConicModel:
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
    """

    program: Program
    shape: Shape = field(repr=False)
    trace: TraceBound | Verdict
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.program.name

    @property
    def verdict(self) -> Verdict | None:
        """The proof found before any solve; None if there is none."""
        return self.trace if isinstance(self.trace, Verdict) else None

    @property
    def _trace(self) -> TraceBound:
        """The bound on the traces, if there is no verdict."""
        assert isinstance(self.trace, TraceBound)
        return self.trace

    @cached_property
    def problem(self) -> Problem:
        """The problem over parts of bounded trace, without the program's offset.

        With a verdict, the traces are at most 1, for which it holds as for any other bound.
        """
        if isinstance(self.trace, Verdict):
            return self.shape.problem(np.ones(len(self.shape.maps)))
        return self.shape.problem(self.trace.traces, exact=self.trace.exact)

    def solve(self, method: Method | str | None = None, **options: Any) -> Result:
        """Solve the problem, with a bound that holds for the program itself.

        Parameters
        ----------
        method : Method or str, optional
            The method; chosen by default.
        **options
            Options of `condal.solve`.

        Returns
        -------
        Result
            The result; with a verdict, it is returned without a solve.
        """
        if self.verdict is not None:
            return self.ended()
        limit = TimeLimit(options.get("max_seconds"))
        result = solve(self.problem, method, **options)
        proved = self.proved(result)
        if proved.reason != UNVERIFIED or result.tol is None:
            return proved
        if limit.is_over():
            return proved
        near = self._within_tol(replace(proved, tol=NEAR * result.tol))
        retry = NEAR_RETRY if near else RETRY
        more = {**options, "tol": retry * result.tol, "warm_start": result}
        more["max_seconds"] = limit.max_seconds
        again = self.proved(solve(self.problem, method, **more))
        again = replace(again, tol=result.tol, seconds=result.seconds + again.seconds)
        if self._within_tol(again):
            return replace(again, status=Status.SOLVED, reason="")
        return again if again.gap < proved.gap else proved

    def resume(self, checkpoint: Any, **options: Any) -> Result:
        """Resume a solve of the problem, with a bound that holds for the program itself.

        Parameters
        ----------
        checkpoint : str or Path
            The checkpoint.
        **options
            Options of `condal.resume`.

        Returns
        -------
        Result
            The result.
        """
        return self.proved(resume(checkpoint, self.problem, **options))

    def proved(self, result: Result) -> Result:
        """Return the result of a solve with the bound and status that hold for the program.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for `problem`.

        Returns
        -------
        Result
            The result, without assumptions on the trace unless its certificate says so.
        """
        proved = replace(result, certificate=self.certified(result.certificate, result.y))
        if result.status is Status.INFEASIBLE:
            return self._verified_infeasible(self._of_any_trace(proved))
        claimed, proved = proved.bound, self._verified(proved)
        if result.status is Status.SOLVED and not self._within_tol(proved):
            if self._trace.given:  # a bound for any trace would be a little worse than tol
                return replace(result, certificate=self._within_the_trace(result.certificate))
            reason = f"points with an objective beyond {proved.bound:.6g} may have larger traces "
            reason += "than the bound, and be better: give trace_bound= (--trace-bound)"
            if proved.bound != claimed:
                reason = UNVERIFIED
            return replace(proved, status=Status.STALLED, reason=reason)
        return proved

    def rechecked(self, result: Result) -> Result:
        """Return a result with the bound and the status that the program's own data prove.

        Parameters
        ----------
        result : Result
            A result whose certificate is proved for `problem`.

        Returns
        -------
        Result
            The result, as it is if the data prove it.
        """
        if result.status is Status.INFEASIBLE:
            return self._verified_infeasible(result)
        return self._verified(result)

    def _verified(self, result: Result) -> Result:
        """Return the result with its bound, or a weaker one that the program's own data prove.

        A bound within a given trace is left as it is, and so are programs that are too large.
        """
        assumed = self._trace.given and GIVEN_TRACE in result.certificate.how
        if assumed or not isfinite(result.bound):
            return result
        if not verifiable(self.program):
            return result
        sense = self.problem.sense
        y, inner = sense * self.dual(result), self._combinations(of_objective=True)
        bound = verified_bound(self.program, y, self._inward, inner)
        if bound >= sense * result.bound:
            return result
        certificate = replace(result.certificate, bound=sense * bound)
        return replace(result, certificate=certificate)

    def _verified_infeasible(self, result: Result) -> Result:
        """Return the result; without its verdict, if the program's own data do not prove it."""
        if result.status is not Status.INFEASIBLE or self._trace.given:
            return result
        if not verifiable(self.program):
            return result
        if result.separator is not None:
            y = -self.separator(result)
            if verified_infeasible(self.program, y, self._inward):
                return result
        reason = "no point seems to be feasible, but the program's own data do not prove it"
        return replace(result, status=Status.STALLED, reason=reason)

    def inner_multipliers(self) -> tuple[list[Array], list[Array]]:
        """Return multipliers that move others into the dual cone.

        Returns
        -------
        tuple of lists of ndarray
            Directions y with -A'y inside the dual cone, and points y with c - A'y in it, for the
            program as a minimisation.
        """
        return self._inward, self._combinations(of_objective=True)

    def folded_multipliers(self, y: Array) -> Array:
        """Return the multipliers of `problem` for multipliers of the program's rows.

        Parameters
        ----------
        y : ndarray
            One number per row of the program, as `dual` returns them.

        Returns
        -------
        ndarray
            One number per row of `problem`.
        """
        folded = self.shape.folded
        w = y[folded.rows] / folded.scale
        return np.asarray(w if self.program.maximise else -w)

    @property
    def _inward(self) -> list[Array]:
        """Multipliers y of the program's rows with -A'y inside the dual cone."""
        directions = self._combinations(of_objective=False)
        if not directions:
            return []
        total = np.sum(directions, axis=0)
        into_cones = self._into_folded_cones(total)
        return [*directions, total, *into_cones] if len(directions) > 1 else [total, *into_cones]

    def _into_folded_cones(self, total: Array) -> list[Array]:
        """Return multipliers that also move the slacks of folded cones inwards, if there are any.

        The slack of a folded cone is the multipliers of its own rows, which no bound on the trace
        moves. What the first of them adds to the other slacks, `total` outweighs.
        """
        folded = self.shape.folded
        heads = [cone.start for cone in folded.cones]
        if not heads:
            return []
        y = np.zeros(self.program.b.size)
        y[folded.rows[heads]] = folded.scale[heads]
        weight = sum(float(np.sqrt(row_squares(part.A)[heads]).sum()) for part in folded.parts)
        return [y + 2.0**k * (1.0 + weight) * total for k in range(0, 12, 4)]

    def _combinations(self, *, of_objective: bool) -> list[Array]:
        """The proofs of the trace bound as multipliers of the program's rows."""
        folded, multipliers = self.shape.folded, []
        for proof in self._trace.combinations:
            if proof.of_objective is of_objective and proof.least.max() > 0:
                y = np.zeros(self.program.b.size)
                y[folded.rows] = -folded.scale * proof.y
                multipliers.append(y if of_objective else y / proof.least.max())
        return multipliers

    def _within_tol(self, result: Result) -> bool:
        """Return whether the result solves to tol, with the bound that holds for the program."""
        return solves(self.problem, result.certificate, result.tol or 0.0)

    def separated_for(self, d: Array) -> str | None:
        """Return what a separator assumes as a proof that nothing is feasible.

        Parameters
        ----------
        d : ndarray
            A separator of `problem`.

        Returns
        -------
        str or None
            The assumption in words, empty if there is none. None if d proves only that no feasible
            point has a better objective than some level.
        """
        if not self._trace.given and self._trace.level == inf:
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
        if not self._trace.given and self._trace.level == inf:
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
        sense, level = self.problem.sense, self._trace.level
        reason = f"no feasible point has an objective better than {sense * level:.6g}, and it is "
        reason += "not known whether there is a feasible point"
        result = replace(result, status=Status.STALLED, reason=reason)
        certificate, proof = result.certificate, result.infeasible
        if proof is None:
            return result
        # It excludes every feasible point below the level.
        bound = sense * level
        certificate = replace(certificate, bound=bound, how=proof.how, failure=proof.failure)
        if result.separator is None:
            return replace(result, certificate=certificate)
        y = self._excluding(result.separator, proof.value, level)
        return self._verified(replace(result, certificate=certificate, y=y))

    def _separator_near(self, d: Array) -> Array | None:
        """Return a separator near d that the program's own data prove, whatever the trace."""
        if not verifiable(self.program):
            return None
        folded, y = self.shape.folded, np.zeros(self.program.b.size)
        y[folded.rows] = -folded.scale * d
        proved = separator_near(conic_form(self.program), y)
        return None if proved is None else -proved[folded.rows] / folded.scale

    def _excluding(self, separator: Array, distance: float, level: float) -> Array:
        """Return multipliers whose bound over points of bounded trace is at least the level.

        The bound of t times a separator of norm 1 is at least t times the proved distance, less
        what the objective can be.
        """
        wanted = 2.0 * (abs(level) + self.problem.objective_range)
        return np.asarray(wanted / (distance * stable_norm(separator)) * separator)

    def objective(self, result: Result) -> float:
        """Return the program's objective at the result, including its offset."""
        return result.objective + self.program.offset

    def bound(self, result: Result) -> float:
        """Return the proved bound on the program's optimum, including its offset."""
        total = result.bound + self.program.offset
        if not self.program.offset:
            return total
        return float(np.nextafter(total, -self.problem.sense * inf))  # rounding of the sum

    def assumes_trace(self, result: Result) -> bool:
        """Return whether the bound holds only for points within the given trace."""
        return GIVEN_TRACE in result.certificate.how

    def blocks(self, result: Result, *, full: bool = False) -> tuple[Any, ...]:
        """Return x, block by block.

        Parameters
        ----------
        result : Result
            A result of `solve`.
        full : bool, optional
            Whether psd blocks are expanded to arrays.

        Returns
        -------
        tuple
            LowRank or n x n arrays for psd blocks, vectors for the others.

        Raises
        ------
        ProblemError
            If the result has no point.
        """
        if result.x is None:
            raise ProblemError("the result has no point: the solve ended too early")
        Ax = self.problem.A(result.x)
        blocks = blocks_of(self.shape.folded, result.x, Ax)
        return tuple(np.asarray(dense(block)) for block in blocks) if full else blocks

    def dual(self, result: Result) -> Array:
        r"""Return the dual y, one number per row: the derivative of the optimum by b.

        :math:`\langle b, y \rangle` is near the bound, and :math:`c - A^T y` (:math:`A^T y - c` for
        a maximisation) is in the dual cone up to rounding. Rows that bound the trace take the place
        of the multiplier of the trace. If the trace was given, y is returned as it is.

        Parameters
        ----------
        result : Result
            A result of `solve`.

        Returns
        -------
        ndarray
            y.
        """
        w = result.y
        if isinstance(self.trace, TraceBound):
            error = DUAL_ERROR * (result.tol or 0.0) * max(1.0, abs(result.objective))
            proved = self.problem.sense * result.bound + self.problem.h.conjugate(w)
            w = without_bound(self.shape, self.trace, w, error=error, proved=proved)
        return self._of_rows(w)

    def separator(self, result: Result) -> Array:
        r"""Return y that proves that the program is infeasible.

        :math:`A^T y` is in the dual cone and :math:`\langle b, y \rangle < 0`, up to rounding.

        Parameters
        ----------
        result : Result
            A result of `solve` with the status INFEASIBLE.

        Returns
        -------
        ndarray
            y.

        Raises
        ------
        ProblemError
            If the result has no proof of infeasibility.
        """
        if result.separator is None:
            raise ProblemError("the result has no proof that the program is infeasible")
        w = result.separator
        if isinstance(self.trace, TraceBound):
            w = without_bound(self.shape, self.trace, w, objective=False)
        return self._of_rows(w) if self.program.maximise else -self._of_rows(w)

    def _of_rows(self, w: Array) -> Array:
        """Return the multipliers of the program's rows from those of the folded rows."""
        folded, y = self.shape.folded, np.zeros(self.program.b.size)
        y[folded.rows] = folded.scale * (w if self.program.maximise else -w)
        return y

    def slack(self, result: Result) -> tuple[Any, ...]:
        """Return the slack c - A'y (A'y - c for a maximisation), block by block.

        Parameters
        ----------
        result : Result
            A result of `solve`.

        Returns
        -------
        tuple
            Sparse matrices for psd blocks, vectors for the others.
        """
        program = self.program
        z = program.c - sp.csr_array(self.dual(result)[None]) @ program.A
        z = sp.coo_array(-z if program.maximise else z)
        slacks: list[Any] = []
        for j, block in enumerate(program.blocks):
            place = program.place(j)
            inside = (z.col >= place.start) & (z.col < place.stop)
            places, values = z.col[inside].astype(np.int64) - place.start, z.data[inside]
            if block.kind == "psd":
                rows, cols = np.divmod(places, block.n)
                slacks.append(sp.csr_array((values, (rows, cols)), (block.n, block.n)))
            else:
                slacks.append(np.bincount(places, values, block.n))
        return tuple(slacks)

    def certified(self, certificate: Certificate, y: Array) -> Certificate:
        """Return the certificate without assumptions: a level, or a given trace."""
        sense = self.problem.sense
        if self._trace.given and isfinite(certificate.bound):
            combination = combine(self.shape, y, of_objective=True)
            proved = replace(certificate, bound=-sense * combination.most)
            # Rounding makes it a little worse than the bound within the trace.
            if np.all(combination.least >= 0) and proved.gap <= 2 * certificate.gap + GAP_ROUNDING:
                how = f"{certificate.how}; the slack is psd, so it holds whatever the trace"
                return replace(proved, how=how)
            return self._within_the_trace(certificate)
        if sense * certificate.bound > self._trace.level:
            return replace(certificate, bound=sense * self._trace.level)
        return certificate

    def ended(self) -> Result:
        """Return the verdict as a result, without a solve."""
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


def conic_model(
    program: Program,
    trace_bound: float | None = None,
    *,
    seed: int = 0,
    max_seconds: float | None = None,
    search: bool = True,
    say: Callable[[str], None] | None = None,
) -> ConicModel:
    """Return the model of a program, with a proved bound on the trace of its solutions.

    Parameters
    ----------
    program : Program
        The program.
    trace_bound : float, optional
        A known bound on the trace of each block: of a psd block, the sum of an orthant, the first
        entry of a second-order block. By default a bound is searched for and proved.
    seed : int, optional
        The seed of the search.
    max_seconds : float, optional
        A time limit for the search.
    search : bool, optional
        Whether problems are solved in search of a bound; otherwise only sums of rows are tried.
    say : callable, optional
        Called with a line of text about each step of the search.

    Returns
    -------
    ConicModel
        The model; its `solve` returns a `Result`.

    Raises
    ------
    UnboundedTraceError
        If no bound is found and the program is not proved infeasible or unbounded.

    Examples
    --------
    >>> import numpy
    >>> from condal.conic import Block, Program, conic_model
    >>> program = Program([1.0, 2.0], [[1.0, 1.0]], [1.0], [Block("orthant", 2)])
    >>> model = conic_model(program)
    >>> model.trace.how
    'constraints add up to the trace'
    >>> f"{model.solve(tol=1e-6).objective:.3f}"
    '1.000'
    """
    if not isinstance(program, Program):
        raise ProblemError(f"conic_model takes a Program; got {type(program).__name__}")
    began = time.perf_counter()
    shape = Shape.of(fold(program))
    limits = Search.of(shape, seed, max_seconds, say) if search else None
    trace = bound_traces(shape, trace_bound, limits)
    if isinstance(trace, Verdict) and not _proved_on(program, shape, trace):
        raise UnboundedTraceError(
            f"{program.name} seems to be {trace.status.name.lower()}, but its own data do not "
            "prove it, and no bound on its trace was found: scale its rows, or give trace_bound= "
            "(--trace-bound at the command line), a number that the trace of a solution does not "
            "exceed"
        )
    return ConicModel(program, shape, trace, time.perf_counter() - began)


def _proved_on(program: Program, shape: Shape, verdict: Verdict) -> bool:
    """Return whether the program's own data prove the verdict; True if they are too large."""
    if not verifiable(program):
        return True
    if verdict.y is not None:
        y = np.zeros(program.b.size)
        y[shape.folded.rows] = -shape.folded.scale * verdict.y
        return verified_infeasible(program, y, [])
    return verdict.ray is not None and verified_unbounded(
        program, verdict.ray.x, verdict.ray.points
    )
