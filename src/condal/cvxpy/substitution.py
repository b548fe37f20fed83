"""Variables that CVXPY introduces for residuals, such as t = Rx - d of sum_squares(Rx - d).

A free variable of the quadratic objective that stands in one equation alone is defined by it.
Substituting these is worth it if the matrix of the objective stays smaller than their equations.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.forms import CvxpyProblem, Pair
from condal.cvxpy.structure import Structure
from condal.linalg.points import Array, Indices


@dataclass(frozen=True, eq=False)
class Substitution:
    """t = p - E x, p = b / pivots, for the columns `defined` by the equations `rows`."""

    rows: Indices = field(repr=False)
    defined: Indices = field(repr=False)
    pivots: Array = field(repr=False)
    rest: Indices = field(repr=False)
    kept: Indices = field(repr=False)
    E: Any = field(repr=False)
    structure: Structure

    @classmethod
    def of(cls, structure: Structure) -> Substitution | None:
        """Return the substitution of all defined variables; None if it is not worth it."""
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
        if not rows.size or not rest.size or entries > lengths.sum():
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
