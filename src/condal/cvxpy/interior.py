"""Clarabel, an interior-point method, as the first proposer of answers to small cone programs.

It needs no bound on the trace, and it ends with a solution or with a ray. CVXPY installs it.
Nothing that it says is believed: the judge proves what it can about each vector.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.forms import CvxpyProblem, Pair
from condal.cvxpy.options import Options
from condal.cvxpy.svec import triangle
from condal.linalg.points import Indices

MAX_FACTOR_FLOPS = 1e10  # of the psd blocks, for each iteration; first-order methods win above
MAX_ENTRIES = 2_000_000  # of A
TINY_FLOPS, TINY_ENTRIES = 1e6, 5_000  # of problems that are solved in milliseconds
MAX_ITERATIONS = 200
ACCURACY = 1e-9  # of a proposal: proofs lose some of it
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
    """

    outcome: str
    pair: Pair
    iterations: int
    seconds: float


def affordable(problem: CvxpyProblem) -> bool:
    """Return whether an interior-point method is the right engine for a problem of this size."""
    return _flops(problem) <= MAX_FACTOR_FLOPS and problem.A.nnz <= MAX_ENTRIES


def tiny(problem: CvxpyProblem) -> bool:
    """Return whether an interior-point method takes milliseconds."""
    return _flops(problem) <= TINY_FLOPS and problem.A.nnz <= TINY_ENTRIES


def _flops(problem: CvxpyProblem) -> float:
    """Return about the flops of the psd blocks in one factorisation."""
    return sum(float(triangle(n)) ** 3 for n in problem.layout.psd)


def propose(problem: CvxpyProblem, options: Options) -> Proposal:
    """Return what Clarabel proposes for min <c, x>, Ax + s = b, s in K."""
    import clarabel

    start = time.perf_counter()
    layout, order = problem.layout, _order(problem)
    scale = np.sqrt(layout.multiplicity)[order]  # Clarabel's triangles preserve inner products
    cones: list[Any] = [clarabel.ZeroConeT(layout.zero)] if layout.zero else []
    cones += [clarabel.NonnegativeConeT(layout.nonneg)] if layout.nonneg else []
    cones += [clarabel.SecondOrderConeT(n) for n in layout.soc]
    cones += [clarabel.PSDTriangleConeT(n) for n in layout.psd]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = min(options.max_iters or MAX_ITERATIONS, MAX_ITERATIONS)
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    if options.max_seconds is not None:
        settings.time_limit = options.max_seconds
    A = sp.csc_matrix(problem.A[order] * scale[:, None])
    P = sp.csc_matrix((A.shape[1], A.shape[1]))
    try:
        solution = clarabel.DefaultSolver(
            P, problem.c, A, scale * problem.b[order], cones, settings
        ).solve()
    except BaseException as error:  # a failure in compiled code is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return Proposal("", Pair(np.zeros(0), np.zeros(0)), 0, time.perf_counter() - start)
    x, z = np.asarray(solution.x), np.empty(order.size)
    z[order] = scale * np.asarray(solution.z)
    finite = bool(np.isfinite(x).all() and np.isfinite(z).all())
    outcome = OUTCOMES.get(str(solution.status), "") if finite else ""
    return Proposal(outcome, Pair(x, z), solution.iterations, time.perf_counter() - start)


def _order(problem: CvxpyProblem) -> Indices:
    """Return the rows in Clarabel's order: upper triangles of psd blocks column by column."""
    layout = problem.layout
    begin = layout.zero + layout.plain
    parts = [np.arange(begin)]
    for n in layout.psd:
        rows = np.zeros((n, n), dtype=np.int64)
        rows[np.triu_indices(n)] = begin + np.arange(triangle(n))  # the lower triangle by columns
        parts.append(rows.T[np.tril_indices(n)])
        begin += triangle(n)
    return np.concatenate(parts)
