"""What JSON does not have, exact to the last bit: large integers, floats that are not finite, NumPy
scalars, sparse matrices."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from condal.io.container.arrays import DTYPES, MAX_EXACT_INT

MAX_INT_DIGITS = 2**14  # in hexadecimal
SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}


def of_int(value: int) -> Any:
    """Return an integer, in hexadecimal where JSON may not be exact."""
    return value if abs(value) < MAX_EXACT_INT else {"int": hex(value)}


def to_int(text: Any) -> int:
    """Return the integer; ValueError for any other spelling than `of_int`'s."""
    if not isinstance(text, str) or len(text) > MAX_INT_DIGITS:
        raise ValueError("invalid integer")
    value = int(text, 16)
    if hex(value) != text or abs(value) < MAX_EXACT_INT:
        raise ValueError("an integer is spelled in another way")
    return value


def of_float(value: float) -> Any:
    """Return a float, by its bits where it is not finite."""
    return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}


def to_float(text: Any) -> float:
    """Return the float that is not finite; ValueError for another."""
    value = float(struct.unpack(">d", _unhex(text, 8))[0])
    if math.isfinite(value):
        raise ValueError("a finite number is spelled by its bits")
    return value


def of_scalar(value: Any) -> Any:
    """Return a NumPy scalar by its dtype and its bits."""
    low = value.dtype.newbyteorder("<")
    return {"scalar": [low.str, value.astype(low).tobytes().hex()]}


def to_scalar(pair: Any) -> Any:
    """Return the scalar; ValueError for anything else."""
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
        raise ValueError("invalid scalar")
    dtype = DTYPES.get(pair[0])
    if dtype is None:
        raise ValueError("a scalar has a dtype that no checkpoint has")
    data = _unhex(pair[1], dtype.itemsize)
    if dtype.kind == "b" and data not in (b"\0", b"\1"):
        raise ValueError("a truth value is neither 0 nor 1")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)[0]


def of_sparse(value: Any) -> tuple[str, list[int], bool, Sequence[NDArray[Any]]] | None:
    """Return the format, the shape, the flag and the arrays of a sparse matrix: data, indices and
    indptr, or data, rows and columns. None if it is not a CSR, CSC or COO array.

    The flag is that of a COO array whose entries are in order; CSR and CSC find out.
    """
    form = next((name for name, kind in SPARSE.items() if type(value) is kind), None)
    if form is None or len(value.shape) != 2:
        return None
    shape = [int(side) for side in value.shape]
    if form == "coo":
        return form, shape, bool(value.has_canonical_format), (value.data, value.row, value.col)
    return form, shape, False, (value.data, value.indices, value.indptr)


def to_sparse(form: Any, shape: Any, canonical: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    """Return the sparse matrix; ValueError if the parts do not make one."""
    sides = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
    if not sides or min(shape) < 0 or type(canonical) is not bool or form not in tuple(SPARSE):
        raise ValueError("invalid sparse matrix")
    data, first, second = arrays
    whole = first.dtype.kind == second.dtype.kind == "i"
    if any(array.ndim != 1 for array in arrays) or not whole or data.size != first.size:
        raise ValueError("invalid sparse matrix")
    if form == "coo":
        return _coo((shape[0], shape[1]), canonical, data, first, second)
    lines, width = shape if form == "csr" else shape[::-1]
    if second.size != lines + 1 or second[0] != 0 or second[-1] != data.size or canonical:
        raise ValueError("invalid sparse matrix")
    _require_within(first, width)
    if np.any(np.diff(second) < 0):
        raise ValueError("lines of a sparse matrix end before they begin")
    matrix = SPARSE[form]((shape[0], shape[1]), dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, first, second
    return matrix


def _coo(
    shape: tuple[int, int],
    canonical: bool,
    data: NDArray[Any],
    row: NDArray[Any],
    col: NDArray[Any],
) -> Any:
    if row.size != col.size:
        raise ValueError("invalid sparse matrix")
    _require_within(row, shape[0])
    _require_within(col, shape[1])
    down, right = np.diff(row), np.diff(col)
    if canonical and not np.all((down > 0) | ((down == 0) & (right > 0))):
        raise ValueError("entries of a sparse matrix are not in order")
    matrix = sp.coo_array((data, (row, col)), shape=shape)
    matrix.has_canonical_format = canonical
    return matrix


def _require_within(indices: NDArray[Any], count: int) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise ValueError("an index is out of range")


def _unhex(text: Any, size: int) -> bytes:
    if not isinstance(text, str) or len(text) != 2 * size:
        raise ValueError("bits of another size")
    data = bytes.fromhex(text)
    if data.hex() != text:
        raise ValueError("bits are spelled in another way")
    return data
