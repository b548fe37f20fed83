"""Symmetric matrices as vectors: z = (x_ii, and sqrt(2) x_ij for i > j), so that |z| = |x|.

The order is that of the map `Triangle`: for n up to BLOCK the lower triangle row by row, (x_11,
x_21, x_22, x_31, ...) but for the roots; beyond that what lies left of the diagonal blocks first.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.roundoff import gamma
from condal.linalg.triangles import block_rows
from condal.runtime.arguments import finite_array

SQRT2 = float(np.sqrt(2.0))


@lru_cache(maxsize=8)
def svec_indices(n: int) -> tuple[Indices, Indices, Array]:
    """The (i, j) of each number of z, and its factor: 1 or sqrt(2)."""
    blocks = block_rows(n)
    far = [np.mgrid[rows, : rows.start].reshape(2, -1) for rows in blocks]
    near = [np.add(np.tril_indices(rows.stop - rows.start), rows.start) for rows in blocks]
    i, j = np.concatenate([*far, *near], axis=1)
    found = i, j, np.where(i == j, 1.0, SQRT2)
    for array in found:
        array.flags.writeable = False
    return found


def smat(z: Array, n: int) -> Array:
    """The symmetric matrix x of the vector z."""
    i, j, roots = svec_indices(n)
    x = np.empty((n, n))
    x[i, j] = x[j, i] = z / roots
    return x


def svec(x: Array) -> Array:
    """The vector z of the symmetric matrix x, read below its diagonal."""
    i, j, roots = svec_indices(len(x))
    return np.asarray(roots * x[i, j])


def checked_svec(x: object, n: int, name: str) -> Array:
    """`vector_of` a matrix of the caller's: n x n and symmetric."""
    full = finite_array(x, name, ndim=2)
    if full.shape != (n, n):
        raise ProblemError(f"{name} must be a {n} x {n} matrix; got shape {full.shape}")
    if full.size and float(np.abs(full - full.T).max()) > 1e-12 * float(np.abs(full).max()):
        raise ProblemError(f"{name} must be symmetric: pass ({name} + {name}') / 2 if you mean it")
    return svec(full)


def svec_eigh(z: Array, n: int) -> tuple[Array, Array]:
    """The eigenvalues of the matrix of z, in rising order, and eigenvectors, a column each."""
    values, vectors = np.linalg.eigh(smat(z, n))
    return values, vectors


def svec_from_spectrum(values: Array, vectors: Array) -> Array:
    """The vector of vectors diag(values) vectors'; the values that are 0 cost nothing."""
    here = values != 0
    return svec((vectors[:, here] * values[here]) @ vectors[:, here].T)


def svec_eigenvalue_error(z: Array, n: int) -> float:
    """How far computed eigenvalues of the matrix of z may be off: that of a backward stable method,
    and of the division by sqrt(2)."""
    return gamma(16 * n + 2) * float(np.linalg.norm(z))
