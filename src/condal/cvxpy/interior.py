"""Clarabel, an interior-point method, as the first proposer of answers to small cone programs.

It needs no bound on the trace, and it ends with a solution or with a ray. CVXPY installs it.
Nothing that it says is believed: the judge proves what it can about each vector.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.forms import DIRECTION, SEPARATOR, SOLUTION, CvxpyProblem, Pair
from condal.cvxpy.options import Options
from condal.cvxpy.structure import Structure
from condal.cvxpy.svec import Layout, triangle
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import stable_norm
from condal.result import Result, Status

CUBE, SQUARE, ENTRY, ROW = 0.02, 40.0, 20.0, 100.0  # ns per iteration: psd rows, entries of A, rows
MAX_ITERATIONS = 200
MAX_RESIDUAL = 1e-9  # of a proposal: a step onto the rows must not leave the cones
# The norm of b that Clarabel sees. Its iterates have slacks s, duals mu/s and residuals of about
# mu: the smaller the slacks, the deeper a z inside its cone over its distance from the rows.
RIGHT_SIDE = 2.0**-6
LINEAR_GAP = 10.0  # times the accuracy; a quadratic objective moves x by the root of its gap
MIN_GAP, MAX_GAP = 1e-11, 1e-8  # in the unit of b
MAX_EXPONENT = 200  # of the power of 2 that scales b
MAX_SLACK = 0.1  # in the unit of the scaled b, where Clarabel starts with slacks of about 1
MATRICES, SUBSTITUTION = "Clarabel's matrices", "substitution"  # keys of what a structure keeps
CLARABEL = "Clarabel"  # the name of the method
OUTCOMES = {
    "Solved": SOLUTION,
    "AlmostSolved": SOLUTION,
    "InsufficientProgress": SOLUTION,
    "PrimalInfeasible": SEPARATOR,
    "AlmostPrimalInfeasible": SEPARATOR,
    "DualInfeasible": DIRECTION,
    "AlmostDualInfeasible": DIRECTION,
}
LIMITS = {"MaxTime": Status.MAX_SECONDS, "MaxIterations": Status.MAX_ITERS}


@dataclass(frozen=True, eq=False)
class Proposal:
    """What the engine ended with: a solution, a separator z, a direction x, or nothing.

    Attributes
    ----------
    outcome : str
        SOLUTION, SEPARATOR, DIRECTION, or "".
    pair : Pair
        x and z; one of them matters for a separator or a direction.
    method : str
        The name of the method.
    iterations : int
        The iterations of the engine.
    seconds : float
        The wall time.
    inner : Pair or None
        A z deep inside its cone and the x of its tangent, if the engine knows them.
    result : Result or None
        The result of `condal.solve`, if a method of it made the proposal.
    limited : Status or None
        The limit that ended the engine before it was done.
    """

    outcome: str
    pair: Pair
    method: str
    iterations: int
    seconds: float
    inner: Pair | None = None
    result: Result | None = None
    limited: Status | None = None


@dataclass(frozen=True, eq=False)
class ClarabelEngine:
    """Clarabel for one problem."""

    problem: CvxpyProblem

    @cached_property
    def step_seconds(self) -> float:
        """About the seconds of an iteration."""
        A, layout = self.problem.A, self.problem.layout
        sides = np.array([triangle(n) for n in layout.psd], dtype=np.float64)
        psd = float((CUBE * sides**3 + SQUARE * sides**2).sum())
        return 1e-9 * (psd + ENTRY * A.nnz + ROW * A.shape[0])

    def propose(self, options: Options, accuracy: float) -> Proposal:
        """Return what Clarabel proposes, for the problem without defined variables."""
        problem, kept = self.problem, self.problem.structure.kept
        if SUBSTITUTION not in kept:
            kept[SUBSTITUTION] = Substitution.of(problem.structure)
        substitution = kept[SUBSTITUTION]
        if substitution is None:
            return _propose(problem, options, accuracy)
        proposal = _propose(substitution.reduced(problem), options, accuracy)
        if proposal.outcome != SOLUTION:
            return _propose(problem, options, accuracy)
        return replace(proposal, pair=substitution.pair(problem, proposal.pair))


def _propose(problem: CvxpyProblem, options: Options, accuracy: float) -> Proposal:
    """Return what Clarabel proposes for min <c, x> + 1/2 <x, Px>, Ax + s = b, s in K.

    The slacks of an unbounded set of solutions end about where they start, which is far away for a
    small b: x is then from b as it is.
    """
    unit = _unit(problem)
    proposal = _solved(problem, unit, options, accuracy)
    if proposal.outcome != SOLUTION or unit == 1.0:
        return proposal
    slacks = problem.b - problem.A @ proposal.pair.x
    if unit * float(np.abs(slacks).max(initial=0.0)) <= MAX_SLACK:
        return proposal
    unscaled = _solved(problem, 1.0, options, accuracy)
    if unscaled.outcome != SOLUTION:
        return proposal
    return replace(
        unscaled,
        pair=Pair(unscaled.pair.x, proposal.pair.z),
        iterations=proposal.iterations + unscaled.iterations,
        seconds=proposal.seconds + unscaled.seconds,
    )


def _solved(problem: CvxpyProblem, unit: float, options: Options, accuracy: float) -> Proposal:
    """Return what Clarabel proposes if b, s and x are measured in a unit."""
    import clarabel

    start = time.perf_counter()
    layout = problem.layout
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = min(options.max_iters or MAX_ITERATIONS, MAX_ITERATIONS)
    gap = unit * accuracy * (1.0 if problem.P is not None else LINEAR_GAP)
    settings.tol_gap_abs = settings.tol_gap_rel = min(max(gap, MIN_GAP), MAX_GAP)
    settings.tol_feas = min(accuracy, MAX_RESIDUAL)
    if options.max_seconds is not None:
        settings.time_limit = options.max_seconds
    (A, P), b = _matrices(problem), unit * problem.b
    P = sp.csc_matrix((P.data / unit, P.indices, P.indptr), P.shape)
    if layout.psd:
        order, scale = _order(layout), np.sqrt(layout.multiplicity)
        b = (scale * b)[order]
    try:
        solver = clarabel.DefaultSolver(P, problem.c, A, b, _cones(layout), settings)
        solution = solver.solve()
    except BaseException as error:  # a failure in compiled code is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        nothing = Pair(np.zeros(0), np.zeros(0))
        return Proposal("", nothing, CLARABEL, 0, time.perf_counter() - start)
    x, z = np.asarray(solution.x) / unit, np.asarray(solution.z)
    if layout.psd:
        z = scale * z[np.argsort(order)]
    finite = bool(np.isfinite(x).all() and np.isfinite(z).all())
    said = str(solution.status)
    limited = LIMITS.get(said) if finite and solution.iterations else None
    if said == "MaxIterations" and settings.max_iter == MAX_ITERATIONS:  # not the user's limit
        limited = None
    outcome = OUTCOMES.get(said, "" if limited is None else SOLUTION) if finite else ""
    pair, seconds = Pair(x, z), time.perf_counter() - start
    return Proposal(outcome, pair, CLARABEL, solution.iterations, seconds, limited=limited)


def _cones(layout: Layout) -> list[Any]:
    import clarabel

    cones: list[Any] = [clarabel.ZeroConeT(layout.zero)] if layout.zero else []
    cones += [clarabel.NonnegativeConeT(layout.nonneg)] if layout.nonneg else []
    cones += [clarabel.SecondOrderConeT(n) for n in layout.soc]
    return cones + [clarabel.PSDTriangleConeT(n) for n in layout.psd]


def _unit(problem: CvxpyProblem) -> float:
    """Return the power of 2 that brings b to the norm `RIGHT_SIDE`, about.

    It is 1 for b = 0, and without an objective, when z = 0 is inside no cone anyway. It is 1 for
    second-order cones: the duals of curved boundaries would lose digits.
    """
    norm, curved = stable_norm(problem.b), any(n > 2 for n in problem.layout.soc)
    if norm == 0.0 or curved or not (problem.c.any() or problem.P is not None):
        return 1.0
    exponent = int(np.frexp(RIGHT_SIDE / norm)[1]) - 1
    return 2.0 ** min(max(exponent, -MAX_EXPONENT), MAX_EXPONENT)


def _matrices(problem: CvxpyProblem) -> tuple[Any, Any]:
    """Return A and P as Clarabel takes them; solves of one structure share them."""
    kept = problem.structure.kept
    if MATRICES not in kept:
        A, n, layout = problem.structure.columns, problem.c.size, problem.layout
        if layout.psd:
            place, scale = np.argsort(_order(layout)), np.sqrt(layout.multiplicity)
            rows = (A.data * scale[A.indices], place[A.indices], A.indptr)
            A = sp.csc_array(rows, A.shape)
            A.sort_indices()
        P = sp.csc_matrix((n, n)) if problem.P is None else sp.triu(problem.P, format="csc")
        kept[MATRICES] = sp.csc_matrix(A), sp.csc_matrix(P)
    return kept[MATRICES]


@lru_cache(maxsize=16)
def _order(layout: Layout) -> Indices:
    """Return the rows in Clarabel's order: upper triangles of psd blocks column by column."""
    begin = layout.zero + layout.plain
    parts = [np.arange(begin)]
    for n in layout.psd:
        rows = np.zeros((n, n), dtype=np.int64)
        rows[np.triu_indices(n)] = begin + np.arange(triangle(n))  # the lower triangle by columns
        parts.append(rows.T[np.tril_indices(n)])
        begin += triangle(n)
    order = np.concatenate(parts)
    order.flags.writeable = False
    return order


@dataclass(frozen=True, eq=False)
class Substitution:
    """t = p - E x, p = b / pivots, for the columns `defined` by the equations `rows`.

    t are variables that CVXPY introduces for residuals, such as t = Rx - d of sum_squares(Rx - d):
    free variables of the quadratic objective that stand in one equation alone. Substituting them is
    worth it if the matrix of the objective stays smaller than their equations.
    """

    rows: Indices = field(repr=False)
    defined: Indices = field(repr=False)
    pivots: Array = field(repr=False)
    rest: Indices = field(repr=False)
    kept: Indices = field(repr=False)
    E: Any = field(repr=False)
    structure: Structure

    @classmethod
    def of(cls, structure: Structure, *, always: bool = False) -> Substitution | None:
        """Return the substitution of all defined variables; None if it is not worth it.

        `always` takes it wherever a variable is defined.
        """
        A, P, C = structure.A, structure.P, structure.columns
        if P is None:
            return None
        single = np.flatnonzero((np.diff(C.indptr) == 1) & (np.diff(P.indptr) > 0))
        single = single[C.data[C.indptr[single]] != 0]
        rows, first = np.unique(C.indices[C.indptr[single]], return_index=True)
        rows, defined = (v[rows < structure.layout.zero] for v in (rows, single[first]))
        lengths = np.diff(A.indptr)[rows].astype(np.float64)
        rest = np.setdiff1d(np.arange(A.shape[0]), rows)
        kept = np.setdiff1d(np.arange(A.shape[1]), defined)
        entries = min(float(lengths @ lengths), float(kept.size) ** 2)
        if not rows.size or not rest.size or (entries > lengths.sum() and not always):
            return None
        pivots = C.data[C.indptr[defined]]
        inverse = sp.dia_array((1.0 / pivots[None], [0]), (rows.size, rows.size))
        E = sp.csr_array(inverse @ A[rows][:, kept])
        mixed, square = P[kept][:, defined], P[defined][:, defined]
        crossed = mixed @ E
        reduced = P[kept][:, kept] - crossed - crossed.T + E.T @ square @ E
        layout = replace(structure.layout, zero=structure.layout.zero - rows.size)
        remaining = Structure(sp.csr_array(A[rest][:, kept]), layout, sp.csr_array(reduced))
        return cls(rows, defined, pivots, rest, kept, E, remaining)

    def reduced(self, problem: CvxpyProblem) -> CvxpyProblem:
        """Return the problem in the other variables, without the constant of its objective."""
        x: Array = np.zeros(problem.c.size)
        x[self.defined] = problem.b[self.rows] / self.pivots
        slope = problem.gradient(x)
        c = slope[self.kept] - self.E.T @ slope[self.defined]
        structure = self.structure
        return CvxpyProblem(
            structure.A, problem.b[self.rest], c, structure.layout, P=structure.P, known=structure
        )

    def pair(self, problem: CvxpyProblem, reduced: Pair) -> Pair:
        """Return all variables and duals for those of the reduced problem."""
        x, z = np.zeros(problem.c.size), np.zeros(problem.b.size)
        x[self.kept], z[self.rest] = reduced
        x[self.defined] = problem.b[self.rows] / self.pivots - self.E @ reduced.x
        z[self.rows] = -problem.gradient(x)[self.defined] / self.pivots
        return Pair(x, z)
