"""Sparse matrices that users pass, checked, and products with them."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.blocked import for_each
from condal.linalg.points import Array, Indices
from condal.runtime.arguments import finite_array, plain_array

BLOCK_ROWS = 1024  # of a product: with some 64 columns they stay in the cache
BLOCK_ENTRIES = 4096
MIN_GATHERED_COLUMNS, MIN_GATHERED_NUMBERS = 16, 2**22  # of the factor of `gathered_product`


def require_sound(a: Any, name: str) -> None:
    """Raise ProblemError if an index of the sparse matrix a is out of range or indptr decreases.

    A product would read or write memory outside of the arrays.
    """
    if a.format == "coo":
        for places, side, kind in zip(_coordinates(a), a.shape, ("row", "column"), strict=False):
            _require_within(places, side, name, kind)
    elif a.format in ("csr", "csc", "bsr"):
        high, wide = a.blocksize if a.format == "bsr" else (1, 1)
        rows, cols = a.shape[0] // high, a.shape[-1] // wide
        by_rows = a.format != "csc"
        lines, across = (rows, cols) if by_rows else (cols, rows)
        lines = lines if len(a.shape) == 2 else 1  # a sparse vector
        ends = a.indptr
        if ends.size != lines + 1 or ends[0] != 0 or np.any(ends[1:] < ends[:-1]):
            raise ProblemError(
                f"{name} has pointers (indptr) that do not rise from 0, one for each line and one "
                "more: build it with scipy.sparse.coo_array"
            )
        if ends[-1] > min(len(a.indices), len(a.data)):
            raise ProblemError(
                f"{name} has pointers (indptr) to {ends[-1]} entries, but holds "
                f"{min(len(a.indices), len(a.data))}: build it with scipy.sparse.coo_array"
            )
        _require_within(a.indices[: ends[-1]], across, name, "column" if by_rows else "row")


def stored_rows(a: Any, name: str) -> Any:
    """Return a CSR copy of the sparse matrix a with duplicate entries summed.

    Raise ProblemError if a is not sound or an entry is not finite.
    """
    require_sound(a, name)
    finite_array(a.tocoo().data, f"{name} (its stored entries)")
    return summed_rows(a)


def summed_rows(a: Any) -> Any:
    """Return a CSR copy of the sparse matrix a in doubles, with duplicate entries summed.

    Its indices take four bytes each where these are enough, whatever those of a take: a product
    with a vector waits for memory.
    """
    stored = sp.csr_array(a, dtype=np.float64, copy=True)
    stored.sum_duplicates()
    kind = index_type(max(*stored.shape, stored.nnz))
    indices, indptr = (part.astype(kind, copy=False) for part in (stored.indices, stored.indptr))
    return sp.csr_array((stored.data, indices, indptr), shape=stored.shape)


def index_type(largest: int) -> Any:
    """Return the type of the indices of a sparse matrix whose side and entries are at most this."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def diagonal_matrix(d: Any) -> Any:
    """Return Diag(d), as `scipy.sparse.diags_array` does, which SciPy 1.10 has not."""
    d = np.array(d, dtype=np.float64)
    kind = index_type(d.size)
    # Arrays of its own: SciPy's operations in place write all three.
    indices, indptr = np.arange(d.size, dtype=kind), np.arange(d.size + 1, dtype=kind)
    return sp.csr_array((d, indices, indptr), shape=(d.size, d.size))


def row_entries(a: Any, rows: Indices) -> tuple[Indices, Indices]:
    """Return the positions of the entries of these rows of a CSR matrix, and how many each has."""
    begin = a.indptr[rows].astype(np.intp)
    counts = a.indptr[rows + 1] - begin
    first = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(begin - first, counts), counts


def distinct(indices: Indices) -> Indices:
    """Return the distinct indices, none of them negative, in increasing order.

    `numpy.unique` imports masked arrays, a fiftieth of the time of a small solve.
    """
    ordered = np.sort(indices)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def split_rows(begin: int, end: int, entries: Indices) -> list[slice]:
    """Split rows into blocks of few rows and few entries; `entries` counts those before each row.

    The row of a hub is a block of its own.
    """
    parts = []
    while begin < end:
        full = int(np.searchsorted(entries, entries[begin] + BLOCK_ENTRIES, side="right")) - 1
        stop = min(end, begin + BLOCK_ROWS, max(begin + 1, full))
        parts.append(slice(begin, stop))
        begin = stop
    return parts


def gathers(a: Any, v: Array) -> bool:
    """Whether `gathered_product` pays: v is wide and larger than the cache."""
    wide = v.ndim == 2 and v.shape[1] >= MIN_GATHERED_COLUMNS and v.dtype == np.float64
    return wide and v.size >= MIN_GATHERED_NUMBERS and isinstance(a, sp.csr_array)


def gathered_product(a: Any, v: Array) -> Array:
    """Return the product of a CSR matrix with a matrix v that is larger than the cache.

    SciPy's product waits for one row of v after the other. A copy of all rows that a block of the
    product reads does not wait. The bits are the same.
    """
    image, memory = np.empty((a.shape[0], v.shape[1])), threading.local()
    parts = split_rows(0, a.shape[0], a.indptr)

    def multiply(rows: slice) -> None:
        begin, end = int(a.indptr[rows.start]), int(a.indptr[rows.stop])
        if len(getattr(memory, "rows", ())) < end - begin:
            memory.rows = np.empty((end - begin, v.shape[1]))
        read = memory.rows[: end - begin] if end > begin else v[:0]
        np.take(v, a.indices[begin:end], axis=0, out=read, mode="clip")  # "raise" copies twice
        ends = a.indptr[rows.start : rows.stop + 1] - begin
        places = np.arange(end - begin, dtype=a.indices.dtype)
        local = sp.csr_array((a.data[begin:end], places, ends), shape=(ends.size - 1, end - begin))
        image[rows] = local @ read

    for_each(multiply, parts, rows=a.shape[0])
    return image


def stored_matrix(a: Any, name: str) -> Any:
    """Return a checked copy of a dense or sparse matrix, which must be at least 1 x 1."""
    if sp.issparse(a):
        stored = stored_rows(a, name)
    else:
        stored = np.ascontiguousarray(finite_array(a, name, ndim=2)).copy()
    if 0 in stored.shape:
        raise ProblemError(f"{name} must be at least 1 x 1; got shape {stored.shape}")
    return stored


def indices(given: Any, name: str) -> Indices:
    """Return a checked vector of integers."""
    array = plain_array(given, name, "a vector of integers")
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ProblemError(
            f"{name} must be a vector of integers; got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.intp)


def require_within(array: Indices, most: int, name: str) -> None:
    """Raise ProblemError unless all indices lie in 0..most - 1."""
    if array.size and (array.min() < 0 or array.max() >= most):
        raise ProblemError(
            f"{name} must lie in 0..{most - 1}; got {array.min()}..{array.max()} "
            "(indices start at 0)"
        )


def max_column_entries(a: Any) -> int:
    """Return the most entries of a column of a dense or CSR matrix."""
    if sp.issparse(a):
        return int(np.bincount(a.indices, minlength=1).max(initial=0))
    return int(a.shape[0])


def _coordinates(a: Any) -> tuple[Any, ...]:
    return a.coords if hasattr(a, "coords") else (a.row, a.col)


def _require_within(places: Any, side: int, name: str, kind: str) -> None:
    if len(places) and (places.min() < 0 or places.max() >= side):
        wrong = places.min() if places.min() < 0 else places.max()
        raise ProblemError(
            f"{name} has the {kind} index {wrong}, and {side} {kind}s: indices must lie in "
            f"0..{side - 1}, as they start at 0"
        )


def is_operator(value: Any) -> bool:
    """Return whether value is a LinearOperator; before that class is imported, none exists."""
    module = sys.modules.get("scipy.sparse.linalg")
    return module is not None and isinstance(value, module.LinearOperator)
