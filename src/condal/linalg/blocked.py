"""Operations on long arrays, block by block: one pass over memory per operation, or threads.

NumPy reads and writes all operands at each step of an expression. Images of n^2 numbers do not fit
in the cache, so a step costs what it moves. The expressions of inner loops are computed in blocks
that do fit.

Products with long sparse matrices and sweeps over many rows may use threads. Rows are split into
parts that do not depend on the number of threads, and each part is computed by one thread as it
would be alone. So results are bit-identical for any number of threads. SciPy's sparse products and
NumPy's operations on long arrays release the interpreter lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from condal.linalg.points import Array

BLOCK_LENGTH = 2**14  # a few vectors of this length stay in the cache between steps
CACHE_LINE = 64  # bytes
MIN_THREADED_ROWS = 100_000  # with fewer, handing over the parts takes as long as it saves
VARIABLE = "CONDAL_NUM_THREADS"
BLOCKS_PER_THREAD = 4  # of a product: the rows of some take longer


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


def onto(out: Array | None, image: Array) -> Array:
    """Return out + image on the memory of `out`; `image` itself if `out` is None."""
    return image if out is None else np.add(out, image, out=out)


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


_Item = TypeVar("_Item")


def thread_count() -> int:
    """Return the number of threads that the environment asks for; 1 by default."""
    text = os.environ.get(VARIABLE, "").strip() or "1"
    if not text.isdigit() or int(text) < 1:
        raise ProblemError(
            f"the environment variable {VARIABLE} must be a whole number from 1 on; got {text!r}"
        )
    return int(text)


def for_each(function: Callable[[_Item], None], items: Sequence[_Item], *, rows: int) -> None:
    """Call a function for independent items, in threads if there are enough rows.

    The function must not use what belongs to the calling thread, such as its deadline.
    """
    threads = thread_count() if rows >= MIN_THREADED_ROWS and len(items) > 1 else 1
    if threads == 1:
        for item in items:
            function(item)
        return

    def every(first: int) -> None:
        for item in items[first::threads]:
            function(item)

    # The calling thread takes the first share: fewer hand-overs, and an interrupt ends there.
    shares = [_pool(threads).submit(every, first) for first in range(1, threads)]
    try:
        every(0)
    finally:
        for share in shares:
            share.result()


def row_blocks(matrix: Any) -> list[tuple[slice, Any]] | None:
    """Split a long CSR matrix into blocks of rows for `threaded_product`; None if one thread is to
    multiply it."""
    tall = isinstance(matrix, sp.csr_array) and matrix.shape[0] >= MIN_THREADED_ROWS
    if not tall or thread_count() == 1:
        return None
    n, step = matrix.shape[0], ceil(matrix.shape[0] / (BLOCKS_PER_THREAD * thread_count()))
    rows = [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]
    return [(part, matrix[part]) for part in rows]


def threaded_product(blocks: Sequence[tuple[slice, Any]], v: Array) -> Array:
    """Return the product of a matrix in blocks of rows with a vector or a matrix."""
    image = np.empty((blocks[-1][0].stop, *v.shape[1:]))

    def multiply(block: tuple[slice, Any]) -> None:
        rows, part = block
        image[rows] = part @ v

    for_each(multiply, blocks, rows=len(image))
    return image


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # most solves need no threads

    return ThreadPoolExecutor(threads - 1, thread_name_prefix="condal")


if hasattr(os, "register_at_fork"):  # a child process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
