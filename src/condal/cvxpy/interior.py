"""Clarabel, an interior-point method, as the first proposer of answers to small cone programs.

It needs no bound on the trace, and it ends with a solution or with a ray. CVXPY installs it.
Nothing that it says is believed: the judge proves what it can about each vector.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.forms import CvxpyProblem, Pair
from condal.cvxpy.options import Options
from condal.cvxpy.svec import Layout, triangle
from condal.linalg.points import Indices

CUBE, SQUARE, ENTRY, ROW = 0.02, 40.0, 20.0, 100.0  # ns per iteration: psd rows, entries of A, rows
MAX_ITERATIONS = 200
MAX_RESIDUAL = 1e-7  # of a proposal: a step onto the rows must not leave the cones
SOLUTION, SEPARATOR, DIRECTION = "solution", "separator", "direction"
OUTCOMES = {
    "Solved": SOLUTION,
    "AlmostSolved": SOLUTION,
    "InsufficientProgress": SOLUTION,
    "PrimalInfeasible": SEPARATOR,
    "AlmostPrimalInfeasible": SEPARATOR,
    "DualInfeasible": DIRECTION,
    "AlmostDualInfeasible": DIRECTION,
}


@dataclass(frozen=True, eq=False)
class Proposal:
    """What the engine ended with: a solution, a separator z, a direction x, or nothing.

    Attributes
    ----------
    outcome : str
        SOLUTION, SEPARATOR, DIRECTION, or "".
    pair : Pair
        x and z; one of them matters for a separator or a direction.
    iterations : int
        The iterations of the engine.
    seconds : float
        The wall time.
    inner : Pair or None
        A z deep inside its cone and the x of its tangent, if the engine knows them.
    """

    outcome: str
    pair: Pair
    iterations: int
    seconds: float
    inner: Pair | None = None


@dataclass(frozen=True, eq=False)
class ClarabelEngine:
    """Clarabel for one problem."""

    problem: CvxpyProblem

    @property
    def name(self) -> str:
        """The name of the method."""
        return "Clarabel"

    @cached_property
    def step_seconds(self) -> float:
        """About the seconds of an iteration."""
        A, layout = self.problem.A, self.problem.layout
        sides = np.array([triangle(n) for n in layout.psd], dtype=np.float64)
        psd = float((CUBE * sides**3 + SQUARE * sides**2).sum())
        return 1e-9 * (psd + ENTRY * A.nnz + ROW * A.shape[0])

    def propose(self, options: Options, accuracy: float) -> Proposal:
        """Return what Clarabel proposes."""
        return _propose(self.problem, options, accuracy)


def _propose(problem: CvxpyProblem, options: Options, accuracy: float) -> Proposal:
    """Return what Clarabel proposes for min <c, x> + 1/2 <x, Px>, Ax + s = b, s in K."""
    import clarabel

    start = time.perf_counter()
    layout = problem.layout
    cones: list[Any] = [clarabel.ZeroConeT(layout.zero)] if layout.zero else []
    cones += [clarabel.NonnegativeConeT(layout.nonneg)] if layout.nonneg else []
    cones += [clarabel.SecondOrderConeT(n) for n in layout.soc]
    cones += [clarabel.PSDTriangleConeT(n) for n in layout.psd]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = min(options.max_iters or MAX_ITERATIONS, MAX_ITERATIONS)
    settings.tol_gap_abs = settings.tol_gap_rel = accuracy
    settings.tol_feas = min(accuracy, MAX_RESIDUAL)
    if options.max_seconds is not None:
        settings.time_limit = options.max_seconds
    (A, P), b = _matrices(problem), problem.b
    if layout.psd:
        order, scale = _order(layout), np.sqrt(layout.multiplicity)
        b = (scale * b)[order]
    try:
        solver = clarabel.DefaultSolver(P, problem.c, A, b, cones, settings)
        solution = solver.solve()
    except BaseException as error:  # a failure in compiled code is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return Proposal("", Pair(np.zeros(0), np.zeros(0)), 0, time.perf_counter() - start)
    x, z = np.asarray(solution.x), np.asarray(solution.z)
    if layout.psd:
        z = scale * z[np.argsort(order)]
    finite = bool(np.isfinite(x).all() and np.isfinite(z).all())
    outcome = OUTCOMES.get(str(solution.status), "") if finite else ""
    return Proposal(outcome, Pair(x, z), solution.iterations, time.perf_counter() - start)


def _matrices(problem: CvxpyProblem) -> tuple[Any, Any]:
    """Return A and P as Clarabel takes them; solves of one structure share them."""
    kept = problem.structure.kept
    if "Clarabel" not in kept:
        A, n, layout = sp.csc_matrix(problem.A), problem.c.size, problem.layout
        if layout.psd:
            place, scale = np.argsort(_order(layout)), np.sqrt(layout.multiplicity)
            rows = (A.data * scale[A.indices], place[A.indices], A.indptr)
            A = sp.csc_matrix(rows, A.shape)
            A.sort_indices()
        P = sp.csc_matrix((n, n)) if problem.P is None else sp.triu(problem.P, format="csc")
        kept["Clarabel"] = A, sp.csc_matrix(P)
    return kept["Clarabel"]


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
