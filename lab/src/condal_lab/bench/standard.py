"""The standard form of the peers: minimise <C, x> subject to <A_i, x> = b_i or <= b_i, x psd.

Its dual is: maximise -b'z with C + sum_i z_i A_i psd, and z_i >= 0 for inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.interior.assembly import bounds
from condal.problem import Problem
from condal.problems.conic.program import Block, Program
from condal.sets import Box, Equal, NonNegative, NonPositive
from condal.smooth import Linear
from condal.types import Spectral

BYTES_PER_NUMBER = 8


@dataclass(frozen=True, eq=False)
class StandardForm:
    """The standard form: `equalities` rows <A_i, x> = b_i, then rows <A_i, x> <= b_i.

    A row is a flattened symmetric matrix. Row i is signs[i] times row owners[i] of the problem's
    A, or times the trace if owners[i] is the size of A.
    """

    n: int
    C: Any = field(repr=False)
    rows: Any = field(repr=False)
    b: Array = field(repr=False)
    equalities: int
    owners: Any = field(repr=False)
    signs: Array = field(repr=False)
    size: int = 0

    @property
    def m(self) -> int:
        """The number of rows."""
        return int(self.b.size)

    def dual(self, z: Array) -> Array:
        """Return y of the problem for z of the standard form."""
        full = np.bincount(self.owners, weights=self.signs * z, minlength=self.size + 1)
        return np.asarray(full[: self.size])

    @property
    def program(self) -> Program:
        """The form as a conic program, whose orthant holds the slacks of the inequalities."""
        cost = sp.csr_array(self.C).reshape((1, self.n**2))
        slack = self.m - self.equalities
        if not slack:
            return Program(cost, self.rows, self.b, (Block("psd", self.n),))
        ones = sp.vstack([sp.csr_array((self.equalities, slack)), sp.eye_array(slack)])
        return Program(
            sp.hstack([sp.csr_array(cost), sp.csr_array((1, slack))]),
            sp.hstack([self.rows, ones]),
            self.b,
            (Block("psd", self.n), Block("orthant", slack)),
        )


def standard_form(problem: Problem) -> StandardForm:
    """Return the standard form of a problem with a linear objective over one spectral domain."""
    X, f = problem.X, problem.f
    if not isinstance(f, Linear) or not isinstance(f.C, Symmetric) or not isinstance(X, Spectral):
        raise ProblemError(
            "peers take a linear objective over one spectral domain; "
            f"got {type(f).__name__} over {type(X).__name__}"
        )
    rows = problem.A.as_matrix()
    if rows is None or f.C.operators:
        raise ProblemError("peers need the entries of C and A; an operator does not have them")
    for _, K in problem.h.pieces:
        if not isinstance(K, Box | Equal | NonNegative | NonPositive):
            raise ProblemError(
                f"peers take K made of points, boxes and orthants; got {type(K).__name__}"
            )
    low, high, _ = bounds(problem.h)
    p = problem.A.size
    if not _implies_trace(rows, low, high, X):
        rows = sp.vstack([rows, _flat_identity(X.n)])
        low = np.append(low, -np.inf if X.at_most else X.trace)
        high = np.append(high, X.trace)
    return _sorted(X.n, _matrix(f.C), sp.csr_array(rows), low, high, p)


def _sorted(n: int, C: Any, rows: Any, low: Array, high: Array, p: int) -> StandardForm:
    """Order the rows: equalities, upper bounds, then lower bounds with their sign changed."""
    equal = np.flatnonzero(low == high)
    above = np.flatnonzero((low != high) & np.isfinite(high))
    below = np.flatnonzero((low != high) & np.isfinite(low))
    owners = np.concatenate([equal, above, below])
    signs = np.ones(owners.size)
    signs[equal.size + above.size :] = -1.0
    b = np.concatenate([high[equal], high[above], -low[below]])
    scaled = sp.csr_array(rows[owners].multiply(signs[:, None]))
    return StandardForm(n, C, scaled, b, equal.size, owners, signs, p)


def _matrix(C: Symmetric) -> Any:
    return sp.csr_array(C.to_sparse()) if C.factorable else C.to_dense()


def _flat_identity(n: int) -> Any:
    places = np.arange(n) * (n + 1)
    return sp.csr_array((np.ones(n), (np.zeros(n, dtype=places.dtype), places)), shape=(1, n * n))


def _implies_trace(rows: Any, low: Array, high: Array, X: Spectral) -> bool:
    """Return whether the equalities imply tr x = trace: a redundant row would hurt the solvers."""
    equal = np.flatnonzero(low == high)
    if equal.size == 0:
        return False
    A = sp.coo_array(rows[equal])
    diagonal = np.arange(X.n) * (X.n + 1)
    used, where = np.unique(np.append(A.col, diagonal), return_inverse=True)
    compact = sp.csr_array((A.data, (where[: A.nnz], A.row)), shape=(used.size, equal.size))
    identity = np.zeros(used.size)
    identity[where[A.nnz :]] = 1.0
    weights = lsqr(compact, identity, atol=1e-14, btol=1e-14)[0]
    residual = float(np.linalg.norm(compact @ weights - identity)) / np.sqrt(X.n)
    return residual < 1e-9 and abs(float(weights @ low[equal]) - X.trace) < 1e-9 * X.trace
