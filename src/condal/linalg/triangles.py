"""Symmetric matrices stored by halves, and as vectors.

A `lower` is an n x n array of which only the entries in and left of the diagonal blocks of
BLOCK_ROWS rows are read; the others may be anything.

A symmetric x is the vector z = (x_ii, and sqrt(2) x_ij for i > j), so |z| = |x|. The order is that
of the map `Triangle`. Up to n = BLOCK_ROWS it is the lower triangle row by row: x_11, sqrt(2) x_21,
x_22, sqrt(2) x_31, ... For larger n the entries left of the diagonal blocks come first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dsymm, dsymv

from condal.errors import ProblemError
from condal.linalg.blocked import block_slices, onto
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import gamma, stable_norm
from condal.linalg.terms import Term
from condal.runtime.arguments import finite_array

BLOCK_ROWS = 32
SQRT2 = float(np.sqrt(2.0))


def block_rows(n: int) -> list[slice]:
    """Split 0..n into the diagonal blocks of a `lower`."""
    return [slice(begin, min(begin + BLOCK_ROWS, n)) for begin in range(0, n, BLOCK_ROWS)]


def symmetrize_lower(lower: Array) -> Array:
    """Return a copy of a `lower` with both triangles filled in."""
    out = lower.copy()
    for rows in block_rows(len(lower)):
        out[rows, rows.stop :] = lower[rows.stop :, rows].T
    return out


def lower_matmul(lower: Array, v: Array) -> Array:
    """Multiply a symmetric matrix, read on and below its diagonal, by a vector or a block v.

    For BLAS, the lower triangle of a C-ordered array is the upper one of a Fortran-ordered array.
    """
    return np.asarray(dsymv(1.0, lower.T, v) if v.ndim == 1 else dsymm(1.0, lower.T, v))


def lower_sum(a: Array, b: Array) -> Array:
    """Return a + b as a `lower`."""
    total = a.copy()
    for rows in block_rows(len(total)):
        total[rows, : rows.stop] += b[rows, : rows.stop]
    return total


@dataclass(frozen=True, eq=False)
class DenseTerm(Term):
    """A dense matrix."""

    order = 3
    matrix: Array

    @property
    def full(self) -> Array:
        """Both triangles."""
        return self.matrix

    def add_product(self, out: Array | None, v: Array) -> Array:
        # Half of the matrix is enough for one vector, which is bound by memory.
        return onto(out, lower_matmul(self.matrix, v) if v.ndim == 1 else self.matrix @ v)

    def add_dense(self, out: Array | None) -> Array:
        return self.matrix.copy() if out is None else onto(out, self.full)

    def scaled(self, c: float) -> DenseTerm:
        return type(self)(c * self.full)

    def diagonal(self) -> Array:
        return np.diagonal(self.matrix)

    def absolute_product(self, v: Array) -> Array:
        full, out = self.full, np.empty(v.size)
        for rows in block_slices(v.size, v.size):
            out[rows] = np.abs(full[rows]) @ v
        return out

    def arrays(self) -> Iterable[Array]:
        return (self.matrix,)

    def plus(self, other: Term) -> DenseTerm | None:
        if not isinstance(other, DenseTerm):
            return None
        if isinstance(self, LowerTerm) or isinstance(other, LowerTerm):
            return LowerTerm(lower_sum(self.matrix, other.matrix))
        return DenseTerm(self.matrix + other.matrix)


@dataclass(frozen=True, eq=False)
class LowerTerm(DenseTerm):
    """A dense matrix of which only the part on and below the diagonal blocks is read."""

    order = 4

    @property
    def full(self) -> Array:
        return symmetrize_lower(self.matrix)

    def add_product(self, out: Array | None, v: Array) -> Array:
        return onto(out, lower_matmul(self.matrix, v))

    def add_dense(self, out: Array | None) -> Array:
        return onto(out, self.full)

    def arrays(self) -> Iterable[Array]:
        return ()  # what lies above the blocks may be anything


@lru_cache(maxsize=8)
def svec_indices(n: int) -> tuple[Indices, Indices, Array]:
    """Return (i, j) for each number of z, and its factor: 1 or sqrt(2)."""
    far = [np.mgrid[rows, : rows.start].reshape(2, -1) for rows in block_rows(n)]
    i, j = np.concatenate([*far, diagonal_block_indices(n)], axis=1)
    arrays = i, j, np.where(i == j, 1.0, SQRT2)
    for array in arrays:
        array.flags.writeable = False
    return arrays


def diagonal_block_indices(n: int) -> Indices:
    """Return i and j in the lower triangles of the diagonal blocks, as two rows."""
    blocks = [np.add(np.tril_indices(rows.stop - rows.start), rows.start) for rows in block_rows(n)]
    return np.concatenate(blocks, axis=1)


def smat(z: Array, n: int) -> Array:
    """Return the symmetric matrix x of the vector z."""
    i, j, roots = svec_indices(n)
    x = np.empty((n, n))
    x[i, j] = x[j, i] = z / roots
    return x


def svec(x: Array) -> Array:
    """Return the vector z of the symmetric matrix x, which is read on and below its diagonal."""
    i, j, roots = svec_indices(len(x))
    return np.asarray(roots * x[i, j])


def checked_svec(x: object, n: int, name: str) -> Array:
    """Return `svec` of a user's matrix, which must be n x n and symmetric."""
    full = finite_array(x, name, ndim=2)
    if full.shape != (n, n):
        raise ProblemError(f"{name} must be a {n} x {n} matrix; got shape {full.shape}")
    if full.size and float(np.abs(full - full.T).max()) > 1e-12 * float(np.abs(full).max()):
        raise ProblemError(f"{name} must be symmetric: pass ({name} + {name}') / 2 if you mean it")
    return svec(full)


def svec_eigh(z: Array, n: int) -> tuple[Array, Array]:
    """Return the eigenvalues of the matrix of z in ascending order and eigenvectors as columns."""
    values, vectors = np.linalg.eigh(smat(z, n))
    return values, vectors


def svec_from_spectrum(values: Array, vectors: Array) -> Array:
    """Return the vector of U diag(values) U', U = vectors; eigenvalues of 0 cost nothing."""
    used = values != 0
    return svec((vectors[:, used] * values[used]) @ vectors[:, used].T)


def svec_eigenvalue_error(z: Array, n: int) -> float:
    """Return a bound on the error of computed eigenvalues of the matrix of z.

    It covers a backward stable method and the division by sqrt(2).
    """
    return gamma(16 * n + 2) * stable_norm(z)
