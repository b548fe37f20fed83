"""Threads for products with long sparse matrices and for sweeps over many rows.

Rows are split into parts that do not depend on the number of threads, and each part is computed by
one thread as it would be alone. So results are bit-identical for any number of threads. SciPy's
sparse products and NumPy's operations on long arrays release the interpreter lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from math import ceil
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array

MIN_THREADED_ROWS = 100_000  # with fewer, handing over the parts takes as long as it saves
VARIABLE = "CONDAL_NUM_THREADS"
BLOCKS_PER_THREAD = 4  # of a product: the rows of some take longer

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
    return ThreadPoolExecutor(threads - 1, thread_name_prefix="condal")


if hasattr(os, "register_at_fork"):  # a child process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
