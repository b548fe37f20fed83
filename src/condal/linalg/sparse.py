"""Checked copies of the matrices that users pass: SciPy does not check sparse indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Indices
from condal.runtime.arguments import finite_array


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
    stored = sp.csr_array(a, dtype=np.float64, copy=True)
    stored.sum_duplicates()
    return stored


def row_entries(a: Any, rows: Indices) -> tuple[Indices, Indices]:
    """Return the positions of the entries of these rows of a CSR matrix, and how many each has."""
    begin = a.indptr[rows].astype(np.intp)
    counts = a.indptr[rows + 1] - begin
    first = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(begin - first, counts), counts


def stored_matrix(a: Any, name: str) -> Any:
    """Return a checked copy of a dense or sparse matrix, which must be at least 1 x 1."""
    if sp.issparse(a):
        stored = stored_rows(a, name)
    else:
        stored = np.ascontiguousarray(finite_array(a, name, ndim=2)).copy()
    if 0 in stored.shape:
        raise ProblemError(f"{name} must be at least 1 x 1; got shape {stored.shape}")
    return stored


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
