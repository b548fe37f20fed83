"""Symmetric matrices as vectors: z = (x_ii, and sqrt(2) x_ij for i > j), so |z| = |x|.

The order is that of the map `Triangle`. Up to n = BLOCK_ROWS it is the lower triangle row by row:
x_11, sqrt(2) x_21, x_22, sqrt(2) x_31, ... For larger n the entries left of the diagonal blocks
come first.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from condal.errors import ProblemError
from condal.linalg.norms import gamma, stable_norm
from condal.linalg.points import Array, Indices
from condal.linalg.triangles import block_rows
from condal.runtime.arguments import finite_array

SQRT2 = float(np.sqrt(2.0))


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
