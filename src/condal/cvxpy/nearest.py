"""Nearest psd matrices as CVXPY states them: sum_squares(X - G) with X psd and equations on X.

CVXPY introduces a variable for each entry of X - G. Substituting these gives d/2 |X - C|^2, which
a Newton method on the dual solves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.cvxpy.forms import CvxpyProblem, Pair
from condal.cvxpy.interior import SOLUTION, Proposal
from condal.cvxpy.solving import Options
from condal.cvxpy.svec import smat, svec
from condal.linalg.points import Array, Indices
from condal.methods.nearest import NearestPoint, nearest_psd

MIN_SIDE = 20  # below it, other engines are as fast
UNIFORM = 1e-12  # relative: the weights of all entries are the same
STEP = 2e-9  # seconds of an iteration, per cube of the side
MAX_ERROR = 100.0  # times the accuracy: a larger error is not a solution
DEPTH = 1e-2  # of a z inside its cone, times tol and relative to the largest entry of z


@dataclass(frozen=True, eq=False)
class NearestMatrix:
    """d/2 |X - C|^2 over psd X with equations, as part of a CVXPY problem.

    Attributes
    ----------
    columns : ndarray
        The column of each entry of the lower triangle of X.
    defining : ndarray
        The rows of equations that define variables by one entry of X each.
    defined : ndarray
        The columns of these variables.
    entry : ndarray
        The position in the lower triangle of the entry of each defining row.
    weight : float
        d.
    centre : ndarray
        The lower triangle of C.
    """

    problem: CvxpyProblem
    columns: Indices
    defining: Indices
    defined: Indices
    entry: Indices
    weight: float
    centre: Array

    name = "nearest matrix"

    @classmethod
    def of(cls, problem: CvxpyProblem) -> NearestMatrix | None:
        """Return the structure; None for any other problem."""
        layout, P = problem.layout, problem.P
        if P is None or layout.plain or len(layout.psd) != 1 or layout.psd[0] < MIN_SIDE:
            return None
        curvature = P.diagonal()
        if np.count_nonzero(curvature) != P.nnz or problem.b[layout.zero :].any():
            return None
        A, zero = problem.A, layout.zero
        columns = _identity_columns(A[zero:])
        if columns is None:
            return None
        place = np.full(problem.c.size, -1)
        place[columns] = np.arange(columns.size)
        definition = _definitions(A[:zero], place)
        if definition is None:
            return None
        rows, defined, entry = definition
        E = A[:zero]
        pivots, factors = _entries(E, rows, defined), _entries(E, rows, columns[entry])
        # y = (b - factor x) / pivot, and p y^2 / 2 + c y is added for each defined y.
        slope, start = -factors / pivots, problem.b[rows] / pivots
        p, size = curvature[defined], columns.size
        curved = curvature[columns] + np.bincount(entry, p * slope**2, size)
        linear = problem.c[columns] + np.bincount(
            entry, slope * (p * start + problem.c[defined]), size
        )
        weights = curved / layout.multiplicity[zero:]
        if not (weights > 0).all() or np.ptp(weights) > UNIFORM * weights[0]:
            return None
        centre = -linear / curved
        return cls(problem, columns, rows, defined, entry, float(weights[0]), centre)

    @property
    def step_seconds(self) -> float:
        """About the seconds of an iteration."""
        return STEP * float(self.problem.layout.psd[0]) ** 3

    @cached_property
    def _others(self) -> Indices:
        """The equations that define no variable."""
        return np.setdiff1d(np.arange(self.problem.layout.zero), self.defining)

    @cached_property
    def _rows(self) -> Any:
        """The other equations on all n^2 entries of X."""
        return self.problem.layout.spread(self.problem.A[self._others][:, self.columns])

    def propose(self, options: Options, accuracy: float) -> Proposal:
        """Return the solution that the Newton method proposes."""
        start = time.perf_counter()
        n, b = self.problem.layout.psd[0], self.problem.b[self._others]
        kept = self.problem.structure.kept
        first = kept.get(self.name) if options.warm_start else None
        point, iterations = nearest_psd(smat(self.centre, n), self._rows, b, accuracy, first)
        kept[self.name] = point.y
        if point.error > MAX_ERROR * accuracy:  # the equations may contradict each other
            nothing = Pair(np.zeros(self.problem.c.size), np.zeros(self.problem.b.size))
            return Proposal("", nothing, iterations, time.perf_counter() - start)
        x, Z = self._x(point.X), self.weight * point.complement
        depth = DEPTH * options.tol * float(np.abs(Z).max(initial=1.0))
        deeper = np.eye(n) * depth
        tangent = self._x(point.X + deeper / self.weight)
        inner = Pair(tangent, self._z(point, tangent, Z + deeper))
        pair = Pair(x, self._z(point, x, Z))
        return Proposal(SOLUTION, pair, iterations, time.perf_counter() - start, inner)

    def _x(self, X: Array) -> Array:
        """Return all variables for X."""
        problem = self.problem
        x: Array = np.zeros(problem.c.size)
        x[self.columns] = svec(X)
        E, rows = problem.A, self.defining
        pivots = _entries(E, rows, self.defined)
        factors = _entries(E, rows, self.columns[self.entry])
        x[self.defined] = (problem.b[rows] - factors * x[self.columns[self.entry]]) / pivots
        return x

    def _z(self, point: NearestPoint, x: Array, Z: Array) -> Array:
        """Return the duals of all rows for the duals of the equations and of X."""
        problem, zero = self.problem, self.problem.layout.zero
        z: Array = np.zeros(problem.b.size)
        z[zero:] = problem.layout.multiplicity[zero:] * svec(Z)
        z[self._others] = -self.weight * point.y
        slopes = problem.gradient(x)[self.defined]
        z[self.defining] = -slopes / _entries(problem.A, self.defining, self.defined)
        return z


def _identity_columns(A: Any) -> Indices | None:
    """Return the column of each row of -I up to order; None for other rows."""
    if A.nnz != A.shape[0] or (np.diff(A.indptr) != 1).any() or (A.data != -1.0).any():
        return None
    columns = A.indices
    return columns if np.unique(columns).size == columns.size else None


def _definitions(A: Any, place: Indices) -> tuple[Indices, Indices, Indices] | None:
    """Return the rows that define other variables by one entry, these variables, and the entries.

    None if other variables stand elsewhere.
    """
    other = place[A.indices] < 0
    owner = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    rows, defined = owner[other], A.indices[other]
    once = np.unique(rows).size == rows.size and np.unique(defined).size == defined.size
    if not once or defined.size != np.count_nonzero(place < 0):
        return None
    if (np.diff(A.indptr)[rows] != 2).any():
        return None
    mine = np.isin(owner, rows) & ~other
    return rows, defined, place[A.indices[mine]]


def _entries(A: Any, rows: Indices, columns: Indices) -> Array:
    """Return the entries at these rows and columns."""
    return np.asarray(A[rows, columns], dtype=np.float64).ravel()
