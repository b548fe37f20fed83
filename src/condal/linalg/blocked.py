"""Operations on long vectors, block by block: one pass over memory per operation.

NumPy reads and writes all operands at each step of an expression. Images of n^2 numbers do not fit
in the cache, so a step costs what it moves. The expressions of inner loops are computed in blocks
that do fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array

BLOCK_LENGTH = 2**14  # a few vectors of this length stay in the cache between steps
CACHE_LINE = 64  # bytes


def block_slices(size: int, width: int = 1) -> list[slice]:
    """Split 0..size, rows of `width` numbers each, into blocks of about BLOCK_LENGTH numbers."""
    step = max(1, BLOCK_LENGTH // max(1, width))
    return [slice(begin, min(begin + step, size)) for begin in range(0, size, step)]


def aligned_empty(shape: tuple[int, int], dtype: Any) -> Array:
    """Return an array without values that begins with a cache line.

    Rows of whole lines then touch no line of another row. NumPy begins 16 bytes after one.
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + size].view(dtype).reshape(shape)


def split_in_blocks(
    whole: Any, size: int, on: Callable[[slice], Any]
) -> Sequence[tuple[slice, Any]]:
    """Return (block, on(block)) for the blocks of 0..size; the whole itself if one is enough."""
    if size <= BLOCK_LENGTH:
        return [(slice(0, size), whole)]
    return [(block, on(block)) for block in block_slices(size)]


def lerp(a: Array, b: Array, t: float) -> Array:
    """Return a + t (b - a)."""
    out = np.empty_like(a)
    for block in block_slices(a.size):
        change = np.subtract(b[block], a[block], out=out[block])
        change *= t
        change += a[block]
    return out


def axpy(a: Array, d: Array, t: float) -> Array:
    """Return a + t d."""
    if a.size <= BLOCK_LENGTH:  # most vectors: a list of one block takes as long as the sum
        change = d * t
        change += a
        return change
    out = np.empty_like(a)
    for block in block_slices(a.size):
        change = np.multiply(d[block], t, out=out[block])
        change += a[block]
    return out


def subtract_product(out: Array, a: Array, b: Array) -> None:
    """Subtract the product of a and b, of few columns and rows, from out."""
    for rows in block_slices(*out.shape):
        out[rows] -= a[rows] * b if a.shape[1] == 1 else a[rows] @ b  # BLAS is slow for one


def add_scaled_rows(out: Array, d: Array, v: Array) -> None:
    """Add Diag(d) v to out, for a matrix v."""
    for rows in block_slices(*v.shape):
        out[rows] += d[rows, None] * v[rows]


def add_multiple(out: Array, v: Array, t: float) -> None:
    """Add t v to out, for matrices."""
    for rows in block_slices(*v.shape):
        out[rows] += t * v[rows]


def weighted_squares(Z: Array, weights: Array) -> Array:
    """Return sum_j weights_j Z_ij^2 for each i."""
    out = np.empty_like(Z, shape=len(Z))
    for rows in block_slices(*Z.shape):
        out[rows] = (Z[rows] * Z[rows]) @ weights
    return out


def gram_product(a: Any, w: Array, v: Array) -> Array:
    """Return a' Diag(w) a v; a dense a is read once, in blocks that serve both products."""
    if sp.issparse(a):
        image = a @ v
        image *= w if v.ndim == 1 else w[:, None]
        return np.asarray(a.T @ image)
    out = np.zeros(v.shape)
    for rows in block_slices(a.shape[0], a.shape[1] // 4):
        image = a[rows] @ v
        image *= w[rows] if v.ndim == 1 else w[rows, None]
        out += a[rows].T @ image
    return out


def gram(a: Any, w: Array) -> Array:
    """Return a' Diag(w) a, exactly symmetric."""
    if sp.issparse(a):
        total = (a.T @ sp.csr_array(a.multiply(w[:, None]))).toarray()
    else:
        total = a.T @ (w[:, None] * a)
    return np.asarray(0.5 * (total + total.T))
