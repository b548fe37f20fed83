"""Long vectors, one pass over memory an operation.

NumPy reads and writes all of its operands at each step of an expression. Images of n^2 numbers do
not fit the cache, so that a step costs what it moves: the expressions of the inner loop are worked
out a piece at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array

BLOCK_LENGTH = 2**14  # numbers: a few vectors of this length stay in the cache from step to step


def block_slices(size: int, width: int = 1) -> list[slice]:
    """0..size in pieces: of PIECE numbers, where each of 0..size stands for a row of `width`."""
    step = max(1, BLOCK_LENGTH // max(1, width))
    return [slice(begin, min(begin + step, size)) for begin in range(0, size, step)]


def split_in_blocks(
    whole: Any, size: int, on: Callable[[slice], Any]
) -> Sequence[tuple[slice, Any]]:
    """(piece, what `on` makes of it) over 0..size; the whole itself where one piece holds it."""
    if size <= BLOCK_LENGTH:
        return [(slice(0, size), whole)]
    return [(here, on(here)) for here in block_slices(size)]


def lerp(a: Array, b: Array, t: float) -> Array:
    """a + t (b - a)."""
    out = np.empty_like(a)
    for here in block_slices(a.size):
        part = np.subtract(b[here], a[here], out=out[here])
        part *= t
        part += a[here]
    return out


def axpy(a: Array, d: Array, t: float) -> Array:
    """a + t d."""
    out = np.empty_like(a)
    for here in block_slices(a.size):
        part = np.multiply(d[here], t, out=out[here])
        part += a[here]
    return out


def add_scaled_rows(out: Array, d: Array, v: Array) -> None:
    """out += Diag(d) v, for a block v of vectors."""
    for here in block_slices(*v.shape):
        out[here] += d[here, None] * v[here]


def weighted_squares(Z: Array, weights: Array) -> Array:
    """sum_j weights_j Z_ij^2 for each i."""
    out = np.empty_like(Z, shape=len(Z))
    for here in block_slices(*Z.shape):
        out[here] = (Z[here] * Z[here]) @ weights
    return out


def gram_product(a: Any, w: Array, v: Array) -> Array:
    """a' Diag(w) a v: a dense matrix is read once, in pieces that stay in the cache for both."""
    if sp.issparse(a):
        image = a @ v
        image *= w if v.ndim == 1 else w[:, None]
        return np.asarray(a.T @ image)
    out = np.zeros(v.shape)
    for here in block_slices(a.shape[0], a.shape[1] // 4):
        image = a[here] @ v
        image *= w[here] if v.ndim == 1 else w[here, None]
        out += a[here].T @ image
    return out


def gram(a: Any, w: Array) -> Array:
    """a' Diag(w) a, both triangles alike."""
    if sp.issparse(a):
        total = (a.T @ sp.csr_array(a.multiply(w[:, None]))).toarray()
    else:
        total = a.T @ (w[:, None] * a)
    return np.asarray(0.5 * (total + total.T))
