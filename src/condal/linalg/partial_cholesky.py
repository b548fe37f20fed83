"""A Cholesky factorisation that eliminates sparse rows first, and the rest as a dense matrix.

Rows that are not coupled to each other are eliminated together: a round is one sparse product. The
rows that remain fill up, and LAPACK factorises them far faster than a sparse factorisation does.
This needs no ordering in advance, and the trace alone bounds its rounding, so no factor is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf

from condal.linalg.factorisations import budget, dense_factor_bytes
from condal.linalg.lanczos import Recurrence
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import UNDERFLOW, UNIT_ROUNDOFF, Proof
from condal.linalg.sparse import diagonal_matrix
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import DENSE_SPEED, spend

MAX_DEGREE_RATIO = 2.0  # to the least degree: rows of a higher one are not eliminated in a round
DEGREE_ROOM = 2  # more than that
ROUND_FLOPS = 150.0  # of a round, for each entry that there is
MAX_ROUNDS_WORK = 0.1  # of what the factorisation may take: more entries than this are hopeless
RITZ_STEPS = 24  # that improve a direction of negative curvature
MAX_RITZ_VECTORS = 4


class Round(NamedTuple):
    """The rows that a round eliminates and keeps, of those that remain, and their part of L."""

    out: Indices
    kept: Indices
    below: Any  # L in the rows that are kept and the columns that are eliminated
    roots: Array  # the diagonal of L in these columns


@dataclass(frozen=True, eq=False)
class PartialCholesky:
    """The factorisation of V - tau I, as far as it goes.

    `failed` is None if it is complete. Otherwise it is a vector u on the rows that remain after the
    rounds, at which their Schur complement C has u'Cu <= 0.
    """

    V: Symmetric
    tau: float
    rounds: list[Round]
    off: float
    failed: Array | None

    @classmethod
    def of(cls, V: Symmetric, tau: float, max_flops: float | None = None) -> PartialCholesky | None:
        """Factorise; None if V is not symmetric to the last bit, or the dense rest is too large."""
        max_flops = budget().flops if max_flops is None else max_flops
        matrix = sp.csr_array(V.to_sparse() - diagonal_matrix(np.full(V.n, tau)))
        matrix.sort_indices()
        if not _is_symmetric(matrix):
            return None
        diagonal = matrix.diagonal()
        shift_error = 2 * UNIT_ROUNDOFF * (float(np.abs(diagonal).max()) + abs(tau))
        rounds: list[Round] = []
        terms, labels = np.zeros(V.n), np.arange(V.n)
        ties, spent = np.random.default_rng(V.n), 0.0
        while side := matrix.shape[0]:
            pivots = matrix.diagonal()
            if not np.all(pivots > 0):  # nan is not
                return cls(V, tau, rounds, np.inf, _unit(side, int(np.argmin(pivots))))
            out = _independent_rows(matrix, ties)
            if side**2 * out.size / DENSE_SPEED <= ROUND_FLOPS * matrix.nnz:
                break  # LAPACK eliminates these rows in less time
            done, matrix = _eliminated(matrix, pivots, out)
            rounds.append(done)
            labels = labels[done.kept]
            terms[labels] += np.diff(done.below.indptr)
            spend(ROUND_FLOPS * matrix.nnz)
            spent += ROUND_FLOPS * matrix.nnz
            if spent > MAX_ROUNDS_WORK * max_flops:
                return None
        flops = side**3 / 3 / DENSE_SPEED
        if flops > max_flops or dense_factor_bytes(side) > budget().bytes:
            return None
        spend(flops)
        failed = _dense_failure(matrix.toarray()) if side else None
        terms[labels] += np.arange(side)
        off = _rounding(terms, diagonal) + shift_error + V.assembly_error()
        return cls(V, tau, rounds, off, failed)

    def proof(self) -> Proof | None:
        """Prove tau less rounding, if the factorisation is complete."""
        if self.failed is not None:
            return None
        return Proof(float(self.tau - self.off), "partly dense Cholesky factorisation")

    def below(self) -> tuple[Array, Array] | None:
        """Return Ritz values of V below tau, ascending, and their orthonormal vectors.

        The direction of the failed pivot is extended to the eliminated rows so that its quadratic
        form in V - tau I is u'Cu. Lanczos steps from there only lower that. None if rounding has
        spoilt it.
        """
        u = self.failed
        if u is None or not np.isfinite(u).all():
            return None
        for done in reversed(self.rounds):
            whole = np.empty(done.out.size + done.kept.size)
            whole[done.kept] = u
            whole[done.out] = -(done.below.T @ u) / done.roots
            u = whole
        size = np.linalg.norm(u)
        if not 0 < size < np.inf:
            return None
        # Squares of large or small numbers leave the range of LAPACK; powers of 2 round nothing.
        unit = 2.0 ** -frexp(float(self.V.absolute_diag().max()) + abs(self.tau))[1]
        V = self.V.merged().scaled(unit)
        run = Recurrence(V, u / size, keep=RITZ_STEPS)
        run.grow_to(RITZ_STEPS)
        basis = np.linalg.qr(run.kept_vectors(MAX_RITZ_VECTORS))[0]
        values, turned = np.linalg.eigh(basis.T @ (V @ basis))
        low = values < unit * self.tau
        return (values[low] / unit, basis @ turned[:, low]) if low.any() else None


def partial_cholesky(V: Symmetric, tau: float) -> Proof | None:
    """Prove tau less rounding, if the factorisation of V - tau I is affordable and completes."""
    factors = PartialCholesky.of(V, tau)
    return None if factors is None else factors.proof()


def _is_symmetric(matrix: Any) -> bool:
    """Return whether a sorted CSR matrix equals its transpose to the last bit."""
    other = sp.csr_array(matrix.T)
    same = np.array_equal(matrix.indptr, other.indptr)
    return same and all(
        np.array_equal(a, b)
        for a, b in ((matrix.indices, other.indices), (matrix.data, other.data))
    )


def _independent_rows(matrix: Any, ties: np.random.Generator) -> Indices:
    """Return rows of nearly the least degree, no two of which are coupled.

    A row is taken if its degree is less than those of all its neighbours; ties go by chance.
    """
    side, degrees = matrix.shape[0], np.diff(matrix.indptr).astype(np.int64)
    keys = degrees * side + ties.permutation(side)
    least = np.minimum.reduceat(keys[matrix.indices], matrix.indptr[:-1])  # of each row and itself
    alone = least == keys
    limit = MAX_DEGREE_RATIO * degrees[alone].min() + DEGREE_ROOM
    return np.flatnonzero(alone & (degrees <= limit))


def _eliminated(matrix: Any, pivots: Array, out: Indices) -> tuple[Round, Any]:
    """Eliminate the rows `out`; return the round and the Schur complement of the rest.

    Both triangles are computed, and equal: each entry adds up the same products in the order of the
    eliminated rows.
    """
    kept = np.delete(np.arange(len(pivots)), out)
    rest = matrix[kept]
    below, roots = rest[:, out], np.sqrt(pivots[out])
    below.sort_indices()
    below.data /= roots[below.indices]
    product = below @ sp.csr_array(below.T)
    product.sort_indices()  # a difference of sorted matrices is sorted, and takes less time
    left = sp.csr_array(rest[:, kept] - product)
    left.sort_indices()
    return Round(out, kept, below, roots), left


def _dense_failure(C: Array) -> Array | None:
    """Return None if C has a Cholesky factorisation; else u with u'Cu <= 0, up to rounding."""
    # The transpose of a symmetric C-ordered array is Fortran-ordered: LAPACK makes no copy.
    factor, info = dpotrf(C.T, lower=0, clean=0, overwrite_a=1)
    pivots = np.diagonal(factor)
    if info == 0 and np.all((pivots > 0) & (pivots < np.inf)):
        return None
    last = info - 1 if info > 0 else int(np.argmin(pivots))
    u = _unit(len(C), last)
    # Column `last` of the factor holds R'^-1 c above a failed pivot.
    if last > 0:  # SciPy 1.10 refuses an empty system
        u[:last] = -solve_triangular(factor[:last, :last], factor[:last, last], check_finite=False)
    return u


def _unit(size: int, i: int) -> Array:
    u = np.zeros(size)
    u[i] = 1.0
    return u


def _rounding(terms: Array, diagonal: Array) -> float:
    """Bound the spectral norm of S - L L', for the number of terms of each row and diag S.

    |S - L L'|_ij <= g_i (|L||L'|)_ij with g_i = gamma_{t+2} for t products in row i of L, in any
    order of summation (Higham 2002, theorem 10.3), and likewise for j. By Cauchy and Schwarz, and
    as |L_i|^2 <= S_ii / (1 - g_i), the norm is at most sum g_i / (1 - g_i) S_ii (Rump 2006).
    """
    roundings = (terms + 2) * UNIT_ROUNDOFF
    gammas = roundings / (1 - roundings)
    error = float((gammas / (1 - gammas)) @ diagonal)
    return 1.01 * error + UNDERFLOW * float(terms.sum() + terms.size) * terms.size
