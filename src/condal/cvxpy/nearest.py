"""Nearest psd matrices as CVXPY states them: sum_squares(X - G) with X psd and equations on X.

CVXPY introduces a variable for each entry of X - G. Substituting these gives d/2 |X - C|^2, which
a Newton method on the dual solves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.cvxpy.forms import SOLUTION, CvxpyProblem, Pair
from condal.cvxpy.interior import Proposal, Substitution
from condal.cvxpy.options import Options
from condal.cvxpy.svec import packed
from condal.linalg.points import Array, Indices
from condal.methods.nearest import NearestPoint, nearest_psd

MIN_SIDE = 20  # below it, other engines are as fast
UNIFORM = 1e-12  # relative: the weights of all entries are the same
STEP = 2e-9  # seconds of an iteration, per cube of the side
MAX_ERROR = 100.0  # times the accuracy: a larger error is not a solution
RESIDUALS = "residuals"  # key of what a structure keeps
DEPTH = 1e-2  # of a z inside its cone, times tol and relative to the largest entry of z


@dataclass(frozen=True, eq=False)
class NearestMatrix:
    """d/2 |X - C|^2 over psd X with equations, as part of a CVXPY problem.

    Attributes
    ----------
    residuals : Substitution
        What defines the entries of X - C.
    reduced : CvxpyProblem
        The problem in the entries of X alone.
    columns : ndarray
        The column of each entry of the lower triangle of X.
    weight : float
        d.
    """

    problem: CvxpyProblem
    residuals: Substitution
    reduced: CvxpyProblem
    columns: Indices
    weight: float

    name = "nearest matrix"

    @classmethod
    def of(cls, problem: CvxpyProblem) -> NearestMatrix | None:
        """Return the structure; None for any other problem."""
        layout, P = problem.layout, problem.P
        if P is None or layout.plain or len(layout.psd) != 1 or layout.psd[0] < MIN_SIDE:
            return None
        if not _is_diagonal(P) or problem.b[layout.zero :].any():
            return None
        kept = problem.structure.kept
        if RESIDUALS not in kept:
            kept[RESIDUALS] = Substitution.of(problem.structure, always=True)
        residuals = kept[RESIDUALS]
        if residuals is None:
            return None
        reduced = residuals.reduced(problem)
        zero = reduced.layout.zero
        columns = _identity_columns(reduced.A[zero:])
        if columns is None or columns.size < reduced.c.size or not _is_diagonal(reduced.P):
            return None
        weights = reduced.P.diagonal()[columns] / reduced.layout.multiplicity[zero:]
        if not (weights > 0).all() or np.ptp(weights) > UNIFORM * weights[0]:
            return None
        return cls(problem, residuals, reduced, columns, float(weights[0]))

    @property
    def step_seconds(self) -> float:
        """About the seconds of an iteration."""
        return STEP * float(self.problem.layout.psd[0]) ** 3

    def propose(self, options: Options, accuracy: float) -> Proposal:
        """Return the solution that the Newton method proposes."""
        start = time.perf_counter()
        reduced, columns, layout = self.reduced, self.columns, self.reduced.layout
        n, zero = layout.psd[0], layout.zero
        centre = packed(n).matrix(-(reduced.c / reduced.P.diagonal())[columns])
        rows = layout.spread(reduced.A[:zero][:, columns])
        kept = self.problem.structure.kept
        first = kept.get(self.name) if options.warm_start else None
        point, iterations = nearest_psd(centre, rows, reduced.b[:zero], accuracy, first)
        kept[self.name] = point.y
        if point.error > MAX_ERROR * accuracy:  # the equations may contradict each other
            nothing = Pair(np.zeros(self.problem.c.size), np.zeros(self.problem.b.size))
            return Proposal("", nothing, self.name, iterations, time.perf_counter() - start)
        Z = self.weight * point.complement
        deeper = np.eye(n) * DEPTH * options.tol * float(np.abs(Z).max(initial=1.0))
        inner = self._pair(point, point.X + deeper / self.weight, Z + deeper)
        pair = self._pair(point, point.X, Z)
        seconds = time.perf_counter() - start
        return Proposal(SOLUTION, pair, self.name, iterations, seconds, inner)

    def _pair(self, point: NearestPoint, X: Array, Z: Array) -> Pair:
        """Return all variables and duals for X and its dual."""
        reduced, zero = self.reduced, self.reduced.layout.zero
        x, z = np.zeros(reduced.c.size), np.zeros(reduced.b.size)
        cone = packed(len(X))
        x[self.columns] = cone.vector(X)
        z[:zero] = -self.weight * point.y
        z[zero:] = cone.dual.vector(Z)
        return self.residuals.pair(self.problem, Pair(x, z))


def _is_diagonal(P: Any) -> bool:
    return bool(np.count_nonzero(P.diagonal()) == P.nnz)


def _identity_columns(A: Any) -> Indices | None:
    """Return the column of each row of -I up to order; None for other rows."""
    if A.nnz != A.shape[0] or (np.diff(A.indptr) != 1).any() or (A.data != -1.0).any():
        return None
    columns = A.indices
    return columns if np.unique(columns).size == columns.size else None
