"""Sparse matrices as their arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

KINDS = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}


@dataclass(frozen=True, eq=False)
class Parts:
    """A sparse matrix of two dimensions: data, indices and indptr, or data, rows and columns.

    `canonical` is what a COO array says of itself; CSR and CSC find out.
    """

    format: str
    shape: tuple[int, int]
    canonical: bool
    arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def parts_of(value: Any) -> Parts | None:
    """Its parts; None if it is no CSR, CSC or COO array."""
    found = [name for name, kind in KINDS.items() if type(value) is kind]
    if not found or len(value.shape) != 2:
        return None
    shape = (int(value.shape[0]), int(value.shape[1]))
    if found == ["coo"]:
        arrays = (value.data, value.row, value.col)
        return Parts("coo", shape, bool(value.has_canonical_format), arrays)
    return Parts(found[0], shape, False, (value.data, value.indices, value.indptr))


def matrix_of(form: Any, shape: Any, canonical: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    """The sparse matrix; ValueError if the parts are none of one."""
    sides = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
    if not sides or min(shape) < 0 or type(canonical) is not bool or len(arrays) != 3:
        raise ValueError("no sparse matrix")
    data, first, second = arrays
    if form not in ("csr", "csc", "coo") or any(array.ndim != 1 for array in arrays):
        raise ValueError("no sparse matrix")
    if first.dtype.kind != "i" or second.dtype.kind != "i" or data.size != first.size:
        raise ValueError("no sparse matrix")
    if form == "coo":
        return _coo((shape[0], shape[1]), canonical, data, first, second)
    lines, width = shape if form == "csr" else shape[::-1]
    if second.size != lines + 1 or second[0] != 0 or second[-1] != data.size or canonical:
        raise ValueError("no sparse matrix")
    _require_within(first, width)
    if np.any(np.diff(second) < 0):
        raise ValueError("lines that end before they begin")
    made = KINDS[form]((shape[0], shape[1]), dtype=data.dtype)
    made.data, made.indices, made.indptr = data, first, second
    return made


def _coo(
    shape: tuple[int, int],
    canonical: bool,
    data: NDArray[Any],
    row: NDArray[Any],
    col: NDArray[Any],
) -> Any:
    if row.size != col.size:
        raise ValueError("no sparse matrix")
    _require_within(row, shape[0])
    _require_within(col, shape[1])
    down, right = np.diff(row), np.diff(col)
    if canonical and not np.all((down > 0) | ((down == 0) & (right > 0))):
        raise ValueError("entries that are not in order")
    made = sp.coo_array((data, (row, col)), shape=shape)
    made.has_canonical_format = canonical
    return made


def _require_within(indices: NDArray[Any], count: int) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise ValueError("an index out of range")
