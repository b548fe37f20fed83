"""Dense symmetric matrices of which half is kept.

A `lower` is an n x n array that is right on and below its diagonal blocks of BLOCK rows; above them
anything may stand, and is not read.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsymm, dsymv

from condal.linalg.points import Array

BLOCK_ROWS = 32  # rows of the blocks of a `lower`


def block_rows(n: int) -> list[slice]:
    """0..n in the blocks of a `lower`."""
    return [slice(begin, min(begin + BLOCK_ROWS, n)) for begin in range(0, n, BLOCK_ROWS)]


def symmetrize_lower(lower: Array) -> Array:
    """Both triangles of a `lower`."""
    out = lower.copy()
    for here in block_rows(len(lower)):
        out[here, here.stop :] = lower[here.stop :, here].T
    return out


def lower_matmul(lower: Array, v: Array) -> Array:
    """A symmetric matrix times v, read on and below its diagonal: half the memory.

    To BLAS a lower triangle in rows is an upper one in columns.
    """
    return np.asarray(dsymv(1.0, lower.T, v) if v.ndim == 1 else dsymm(1.0, lower.T, v))


def lower_sum(*parts: Array | None) -> Array:
    """The sum of dense parts, half of it."""
    first, *rest = [part for part in parts if part is not None]
    if not rest:
        return first
    total = first.copy()
    for here in block_rows(len(total)):
        for part in rest:
            total[here, : here.stop] += part[here, : here.stop]
    return total
