"""What a result of a conic program's problem says about the program: blocks, duals, slacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.gradients import add
from condal.linalg.points import Array, dense
from condal.linalg.rounding import stable_norm
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.conic.folded import Deferred, Part
from condal.problems.conic.program import Program
from condal.problems.conic.structure import Shape, blocks_of
from condal.problems.conic.trace_bound import TraceBound, Verdict
from condal.result import Result

GIVEN_TRACE = "for points within the given trace bound"
ON_OWN_DATA = "the slack is in the dual cone, so it holds whatever the trace: proved on own data"
DUAL_ERROR = 0.1  # distance of the multipliers from the dual cone, as a fraction of tol
EIGENVALUE_ACCURACY = 1e-9  # relative to the slack's size
MAX_DENSE_SIDE = 300  # up to which all eigenvalues are computed


@dataclass(frozen=True, eq=False)
class Interpretation:
    """A program, its parts and the bound on their traces, and the problem over such parts.

    `trace` may be a function, which is called on first use.
    """

    program: Program
    shape: Shape = field(repr=False)
    trace: Deferred[TraceBound | Verdict] = field(default=Deferred(), repr=False)
    seconds: float = 0.0

    @property
    def has_trace(self) -> bool:
        """Whether `trace` is known already."""
        return not callable(self.__dict__["trace"])

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
        blocks = blocks_of(self.shape.folded, result.x)
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
        bound = self.problem.sense * result.bound
        return self._dual(result.y, result.tol or 0.0, result.objective, bound)

    def _dual(self, w: Array, tol: float, objective: float, bound: float) -> Array:
        """Return the dual for multipliers w that prove a bound on the minimised objective."""
        if isinstance(self.trace, TraceBound):
            error = DUAL_ERROR * tol * max(1.0, abs(objective))
            proved = bound + self.problem.h.conjugate(w)
            w = without_bound(self.shape, self.trace, w, error=error, proved=proved)
        return self.multipliers(w)

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
        return self._separator(result.separator)

    def _separator(self, w: Array) -> Array:
        """Return the separator of the program for one of `problem`."""
        if isinstance(self.trace, TraceBound):
            w = without_bound(self.shape, self.trace, w, objective=False)
        return self.multipliers(w) if self.program.maximise else -self.multipliers(w)

    def multipliers(self, w: Array) -> Array:
        """Return the multipliers of the program's rows from those of the folded rows."""
        return self.shape.folded.multipliers(w if self.program.maximise else -w)

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
        z = sp.csr_array(-z if program.maximise else z).sorted_indices()
        begins = np.searchsorted(z.indices, program.offsets)
        slacks: list[Any] = []
        for j, block in enumerate(program.blocks):
            inside = slice(begins[j], begins[j + 1])
            places, values = z.indices[inside] - program.offsets[j], z.data[inside]
            if block.kind == "psd":
                rows, cols = np.divmod(places, block.n)
                slacks.append(sp.csr_array((values, (rows, cols)), (block.n, block.n)))
            else:
                slacks.append(np.bincount(places, values, block.n))
        return tuple(slacks)


def without_bound(
    shape: Shape,
    trace: TraceBound,
    y: Array,
    *,
    objective: bool = True,
    error: float = 0.0,
    proved: float = -inf,
) -> Array:
    """Return y plus combinations of rows, so that each c_j + A_j'y is in the dual cone.

    The multipliers y of a problem over parts of bounded trace leave slacks that may be indefinite
    where the trace bound is active, because its multiplier mu_j is not part of y. The bound is
    proved by combinations w of the rows with A_j'w >= l_j. Adding enough of them to y makes the
    slacks psd, at the cost of mu where the bound is active.

    Without the `objective`, each A_j'y is. y is returned unchanged if the trace bound was given.
    The bound of y may lose up to `error` more than necessary. If min <c + A'y, x> over x of these
    traces is proved to be at least `proved`, a single part is not examined again.
    """
    proofs = trace.combinations
    if not proofs:
        return y
    if len(shape.maps) == 1 and isfinite(proved):
        least = np.array([proved / trace.traces[0]])
    else:
        least = np.array(
            [
                smallest(part, add(A.adjoint(y), c) if objective else A.adjoint(y), error / bound)
                for part, A, c, bound in zip(
                    shape.folded.parts, shape.maps, shape.costs, trace.traces, strict=True
                )
            ]
        )
    if trace.exact:  # the trace is fixed, so its multiplier may have either sign
        return np.asarray(y - least[0] / proofs[0].least[0] * proofs[0].y)
    deficits = np.maximum(-least, 0.0)
    if not deficits.any():
        return y
    from scipy.optimize import linprog

    bounds = np.array([np.where(np.isfinite(proof.least), proof.least, -1e30) for proof in proofs])
    cost = [proof.most for proof in proofs]
    program = linprog(cost, A_ub=-bounds.T, b_ub=-deficits, bounds=(0, None), method="highs")
    if program.status != 0:
        return y
    total = sum(mu * proof.y for mu, proof in zip(program.x, proofs, strict=True))
    return np.asarray(y + total)


def smallest(part: Part, v: Any, tol: float) -> float:
    """Return the largest l with <v, x> >= l tr x on the part's cone, up to tol or rounding."""
    if isinstance(v, Symmetric):
        if part.n <= MAX_DENSE_SIDE:
            return float(eigvalsh(v.to_dense(), subset_by_index=[0, 0])[0])
        sums = v.absolute_row_sums()
        size = 1.0 if sums is None else float(sums.max(initial=0.0))
        return float(Spectrahedron(part.n).lowest(v, 1, max(tol, EIGENVALUE_ACCURACY * size))[0][0])
    v = np.asarray(v)
    return float(v.min()) if part.kind == "orthant" else float(v[0]) - stable_norm(v[1:])
