"""Dense symmetric matrices stored by halves.

A `lower` is an n x n array of which only the entries in and left of the diagonal blocks of
BLOCK_ROWS rows are read; the others may be anything.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsymm, dsymv

from condal.linalg.points import Array

BLOCK_ROWS = 32


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
