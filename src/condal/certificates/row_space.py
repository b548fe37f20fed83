r"""The rows of a system: residuals and their rounding, and how short a solution of Au = r is.

If s is the least singular value of the rows, some u has :math:`|u| \le |r| / s`. It depends on A
alone, so it is proved once for all right-hand sides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf

from condal.certificates.exact import rounded_residual
from condal.linalg.factorisations import dense_cholesky
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import UNDERFLOW, UNIT_ROUNDOFF, norm_above, row_norms
from condal.linalg.symmetric import Symmetric

MAX_ROWS = 1_500  # of a dense factorisation
MAX_LEVELS = 100
ROUND_UP = 1 + 4e-15
RIDGE = 1e-14  # of the unit diagonal
INVERSE_ITERATIONS = 3
EIGENVALUE_SHARES = (0.3, 0.01)  # of the estimate, tried as the least eigenvalue
# Residuals are computed in the widest format of the machine and rounded once.
WIDE = np.longdouble
WIDE_UNIT = float(np.finfo(WIDE).eps)
DENSE = 0.1  # share of nonzeros above which products are dense
MAX_SMALL_TERMS = 20_000  # of a system whose residual is rounded only once throughout
MAX_EXACT_TERMS = 200_000  # products that are added up without rounding


@dataclass(frozen=True, eq=False)
class _Level:
    """Rows with a column of their own among the rows of this and all later levels."""

    rows: Indices
    columns: Indices
    pivots: Array
    matrix: Any

    @cached_property
    def sizes(self) -> tuple[Any, Array]:
        """The absolute values of the matrix, and the norms of its rows."""
        return abs(self.matrix), row_norms(self.matrix)


@dataclass(frozen=True, eq=False)
class RowSpace:
    """The rows of a matrix in canonical CSR.

    Rows are peeled off level by level: a row with a column that no other remaining row has is
    solved by that column, after the remaining ones. The rows that are left are the core.
    """

    A: Any = field(repr=False)

    @cached_property
    def columns(self) -> Any:
        """A in CSC."""
        return sp.csc_array(self.A)

    @cached_property
    def adjoint(self) -> Any:
        """A'."""
        return self.A.T

    @cached_property
    def _peeled(self) -> tuple[tuple[_Level, ...], Indices]:
        """The levels, and the rows of the core."""
        A = self.A
        lengths = np.diff(A.indptr)
        owner = np.repeat(np.arange(A.shape[0]), lengths)
        remaining, levels = (A.data != 0), []
        left = np.bincount(owner[remaining], minlength=A.shape[0]) > 0
        for _ in range(MAX_LEVELS):
            counts = np.bincount(A.indices[remaining], minlength=A.shape[1])
            single = remaining & (counts[A.indices] == 1)
            if not single.any():
                break
            own = np.full(A.shape[0], -1)
            places = np.flatnonzero(single)
            places = places[np.argsort(np.abs(A.data[places]), kind="stable")]
            own[owner[places]] = places  # the last one written is the largest
            rows = np.flatnonzero(own >= 0)
            places = own[rows]
            levels.append(_Level(rows, A.indices[places], A.data[places], sp.csr_array(A[rows])))
            left[rows] = False
            remaining &= left[owner]
        return tuple(levels), np.flatnonzero(left)

    @cached_property
    def _zero_rows(self) -> Indices:
        """The rows that are neither in a level nor in the core: all their entries are 0."""
        levels, core = self._peeled
        used = np.concatenate([core, *(level.rows for level in levels)])
        return np.setdiff1d(np.arange(self.A.shape[0]), used)

    def residual(self, t: Array, v: Array) -> tuple[Array, Array]:
        """Return t - Av, computed in the widest format, and a bound on its error.

        Signs of entries near 0 are not exact.
        """
        data, filled, starts, lengths = self._wide
        products = data * v[self.A.indices]
        sums, terms = np.zeros(t.size, dtype=WIDE), np.abs(t)
        if filled.size:
            sums[filled] = np.add.reduceat(products, starts)
            terms[filled] += np.add.reduceat(np.abs(products).astype(np.float64), starts)
        r = (t - sums).astype(np.float64)
        error = (lengths + 2) * (1.01 * WIDE_UNIT * terms + UNDERFLOW) + np.spacing(np.abs(r))
        return r, np.where(lengths == 0, 0.0, error)

    @cached_property
    def _wide(self) -> tuple[Any, Indices, Indices, Indices]:
        """The entries in the widest format, the rows with entries, their starts, and lengths."""
        lengths = np.diff(self.A.indptr)
        filled = np.flatnonzero(lengths)
        return self.A.data.astype(WIDE), filled, self.A.indptr[filled], lengths

    @property
    def core(self) -> Indices:
        """The rows that no column of their own solves."""
        return self._peeled[1]

    @property
    def triangular(self) -> bool:
        """Whether there is no core."""
        return not self._peeled[1].size

    @property
    def tractable(self) -> bool:
        """Whether the core is small enough to be factorised."""
        return self._peeled[1].size <= MAX_ROWS

    def step(self, r: Array) -> Array:
        """Return some u with Au = r, about, if there is no core."""
        u: Array = np.zeros(self.A.shape[1])
        for level in reversed(self._peeled[0]):
            u[level.columns] = (r[level.rows] - level.matrix @ u) / level.pivots
        return u

    def reach(self, size: Array) -> float:
        """Return a proved bound on \\|u\\| for some u with Au = r, if \\|r\\| <= size by rows.

        It is inf if none is proved.
        """
        if not size.any():
            return 0.0
        levels, core = self._peeled
        if size[self._zero_rows].any():
            return inf
        first = 0.0
        if core.size:
            least, scale = self._least
            first = float(norm_above(scale * size[core]) / least * ROUND_UP) if least > 0 else inf
        if first == inf:
            return inf
        u: Array = np.zeros(self.A.shape[1])
        for level in reversed(levels):
            matrix, norms = level.sizes
            right = size[level.rows] + matrix @ u + first * norms
            # Each sum is rounded by at most its length times the unit.
            u[level.columns] = right / np.abs(level.pivots) * (1 + 1e-9)
        return (first + norm_above(u)) * ROUND_UP

    @cached_property
    def _least(self) -> tuple[float, Array]:
        """A lower bound on the least singular value of the core times a scale, and the scale."""
        core = self._peeled[1]
        whole = core.size == self.A.shape[0]
        unit, scale = _unit(self.A if whole else sp.csr_array(self.A[core]))
        if core.size > min(MAX_ROWS, self.A.shape[1]):
            return 0.0, scale
        # Each entry of M M' is rounded by at most (k + 1) u |M||M|', and |M|_F^2 bounds the norm.
        longest = int(np.diff(unit.indptr).max(initial=0))
        rounding = 2 * (longest + 2) * UNIT_ROUNDOFF * norm_above(unit.data) ** 2 * ROUND_UP
        least = _least_eigenvalue(_gram(unit), rounding)
        return float(np.sqrt(least) * (1 - 1e-15)), scale


def _unit(M: Any) -> tuple[Any, Array]:
    """Return the rows with norms of about 1, and the powers of two that make them so."""
    owner = np.repeat(np.arange(M.shape[0]), np.diff(M.indptr))
    norms = row_norms(M)
    scale = np.where(norms > 0, np.ldexp(1.0, -np.frexp(np.where(norms > 0, norms, 1.0))[1]), 1.0)
    return sp.csr_array((M.data * scale[owner], M.indices, M.indptr), M.shape), scale


def _gram(M: Any) -> Array:
    if M.nnz > DENSE * M.shape[0] * M.shape[1]:
        dense = M.toarray()
        return np.asarray(dense @ dense.T)
    return np.asarray((M @ M.T).toarray())


def _least_eigenvalue(gram: Array, rounding: float) -> float:
    """Return a proved lower bound on the least eigenvalue of a matrix known within `rounding`.

    It is 0 if none is proved.
    """
    factor = _cholesky(gram)
    if factor is None:
        return 0.0
    u = np.cos(np.arange(len(gram)) + 1.0)  # the estimate decides only what is tried
    for _ in range(INVERSE_ITERATIONS):
        u = cho_solve((factor, True), u / np.linalg.norm(u), check_finite=False)
    estimate = 1.0 / float(np.linalg.norm(u))
    symmetric = Symmetric(len(gram), dense=0.5 * (gram + gram.T))
    for share in EIGENVALUE_SHARES:
        proof = dense_cholesky(symmetric, share * estimate)
        if proof is not None and proof.value > rounding:
            return float((proof.value - rounding) * (1 - 1e-15))
    return 0.0


def _cholesky(gram: Array) -> Array | None:
    """Return the factor of a matrix with a ridge; None if it has none."""
    if not np.isfinite(gram).all():
        return None
    ridged = gram.copy()
    ridged[np.diag_indices(len(gram))] += RIDGE
    factor, failed = dpotrf(ridged.T, lower=1, clean=0)
    return None if failed else np.asarray(factor)


def residual(t: Array, M: Any, v: Array) -> tuple[Array, Array]:
    """Return t - M v rounded to doubles, and a bound on its error, entry by entry.

    The entries of a small system, and the entries of a larger one that may be 0, are rounded once:
    their signs are exact, and an entry that is a double has no error.
    """
    M = sp.csr_array(M)
    wide = sp.csr_array((M.data.astype(WIDE), M.indices, M.indptr), M.shape)
    residual = t.astype(WIDE) - wide @ v.astype(WIDE)
    lengths = np.diff(M.indptr) + 1
    with np.errstate(over="ignore"):  # an infinite error proves nothing
        r = residual.astype(np.float64)
        terms = np.abs(t) + abs(M) @ np.abs(v)
    error = 1.01 * (lengths + 1) * WIDE_UNIT * terms + UNDERFLOW
    unclear = np.abs(residual) <= 4 * error
    error += np.spacing(np.abs(r))
    if lengths.sum() <= MAX_SMALL_TERMS:
        unclear[:] = True
    products = np.bincount(
        np.repeat(np.arange(r.size), lengths - 1), (M.data != 0) & (v[M.indices] != 0), r.size
    )
    r, error = np.where(products == 0, t, r), np.where(products == 0, 0.0, error)
    unclear = np.flatnonzero(unclear & (products > 0))
    if lengths[unclear].sum() <= MAX_EXACT_TERMS:
        r[unclear], error[unclear] = rounded_residual((M, v), t, unclear)
    return r, error


def dot(a: Array, v: Array) -> tuple[float, float]:
    """Return <a, v> and a bound on its error."""
    value = float(a.astype(WIDE) @ v.astype(WIDE))
    terms = float(np.abs(a) @ np.abs(v))
    rounding = 1.01 * (a.size + 2) * WIDE_UNIT * terms
    return value, rounding + float(np.spacing(abs(value))) + UNDERFLOW


def column_norms(A: Any) -> Array:
    """Return the norm of each column, rounded up; no square under- or overflows."""
    if not A.shape[0]:
        return np.zeros(A.shape[1])
    # The inverse of a normal number is finite.
    largest = np.maximum(powers_of_two(abs(A).max(axis=0).toarray().ravel()), UNDERFLOW)
    scaled = sp.csr_array(A * (1.0 / largest)[None, :])
    squares = np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel()
    return np.asarray(np.sqrt(squares) * largest * (1 + 1e-12))


def powers_of_two(v: Array) -> Array:
    """Return the largest power of 2 not above each number, 1 for 0."""
    return np.where(v > 0, 2.0 ** np.floor(np.log2(np.where(v > 0, v, 1.0))), 1.0)
