"""MATLAB files (.mat) of version 5 to 7: matrices of real numbers, and structs of these.

SciPy's reader is not used because a damaged file can crash it. Here every size is checked against
the bytes that are there before anything is allocated.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import FormatError
from condal.io.formats.text import unpack
from condal.io.safe_files import PathLike, most_bytes, opened

_HEADER = 128  # bytes; the last two give the byte order
_HDF5 = b"\x89HDF"
_MATRIX, _COMPRESSED = 14, 15
_STRUCT, _SPARSE, _NUMERIC = 2, 5, range(6, 16)  # classes of matrices
_COMPLEX = 0x0800
_DTYPES = dict(zip((1, 2, 3, 4, 5, 6, 7, 9, 12, 13), "bBhHiIfdqQ", strict=True))


class _Damaged(Exception):
    """What is wrong with the file, without its name."""


def read_matlab(path: PathLike, names: Collection[str]) -> dict[str, Any]:
    """Read those variables of these names that the file has; it may be packed with gzip or xz.

    The values are two-dimensional arrays, CSC arrays and, for structs, dicts of these.
    """
    name = os.fsdecode(path)
    with opened(name) as file:
        data = b"".join(unpack(file, name))
    if data.startswith(_HDF5):
        raise FormatError("is a MATLAB 7.3 file; save it with save(..., '-v7')", path=name)
    order = {b"IM": "<", b"MI": ">"}.get(data[_HEADER - 2 : _HEADER])
    if order is None:
        raise FormatError("is not a MATLAB file of version 5 to 7", path=name)
    try:
        variables: dict[str, Any] = {}
        limit = most_bytes(len(data), packed=True)
        for kind, body in _elements(memoryview(data)[_HEADER:], order):
            if kind == _COMPRESSED:
                [(kind, body)] = _elements(_unzipped(body, limit), order)
                limit -= len(body)
            if kind == _MATRIX and len(body):
                variable, value = _matrix(body, order, names)
                if variable in names:
                    variables[variable] = value
        return variables
    except (_Damaged, zlib.error, ValueError, RecursionError) as error:
        message = f"the MATLAB file is damaged: {error!s:.200}; fetch it again"
        raise FormatError(message, path=name) from error


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the type and the bytes of each element."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise _Damaged("it ends inside a tag")
        kind, size = (int(n) for n in np.frombuffer(data[at : at + 8], order + "u4"))
        if kind >> 16:  # a small element, in the tag itself
            kind, size, begin, after = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            begin = at + 8
            after = begin + size + (-size % 8 if kind != _COMPRESSED else 0)
        if size > len(data) - begin or (begin == at + 4 and size > 4):
            raise _Damaged(f"{size} bytes are announced, but {len(data) - begin} follow")
        yield kind, data[begin : begin + size]
        at = after


def _unzipped(body: memoryview, limit: int) -> memoryview:
    unzip = zlib.decompressobj()
    data = unzip.decompress(body, max(limit, 1))
    if not unzip.eof:
        raise _Damaged("a packed part is truncated, or larger than what is read")
    return memoryview(data)


def _matrix(body: memoryview, order: str, names: Collection[str] | None) -> tuple[str, Any]:
    """Return the name and the value of a matrix; the value is None if `names` lacks the name."""
    elements = _elements(body, order)
    flags, dims, label = (_numbers(elements, order) for _ in range(3))
    if flags.size != 2 or dims.size < 2 or (dims < 0).any():
        raise _Damaged("a matrix has no class or no shape")
    name = bytes(label.astype(np.uint8)).decode("ascii", "replace")
    shape, kind = tuple(int(side) for side in dims), int(flags[0]) & 0xFF
    if names is not None and name not in names:
        return name, None
    if int(flags[0]) & _COMPLEX:
        raise _Damaged(f"{name} is complex; wanted real numbers")
    if len(shape) != 2:
        raise _Damaged(f"{name} has {len(shape)} dimensions; wanted two")
    if kind in _NUMERIC:
        values = _numbers(elements, order)
        if values.size != shape[0] * shape[1]:
            raise _Damaged(f"{name} is {shape[0]} x {shape[1]} but has {values.size} numbers")
        return name, values.reshape(shape, order="F")
    if kind == _SPARSE:
        return name, _sparse(name, shape, *(_numbers(elements, order) for _ in range(3)))
    if kind == _STRUCT and shape == (1, 1):
        return name, _struct(elements, order)
    raise _Damaged(f"{name} is neither a matrix of numbers nor a single struct")


def _sparse(name: str, shape: tuple[int, int], rows: Any, begins: Any, values: Any) -> Any:
    """Build a CSC array; `rows` and `values` may have room for more entries than there are."""
    if rows.dtype.kind not in "iu" or begins.dtype.kind not in "iu":
        raise _Damaged(f"the rows and columns of {name} are not whole numbers")
    # Signed: unsigned differences are never negative, and SciPy does not check pointers.
    rows, begins = rows.astype(np.int64), begins.astype(np.int64)
    good = begins.size == shape[1] + 1 and begins[0] == 0 and (np.diff(begins) >= 0).all()
    if not good or begins[-1] > min(rows.size, values.size):
        raise _Damaged(f"the columns of {name} do not begin where they should")
    count = int(begins[-1])
    rows, values = rows[:count], values[:count]
    if count and not 0 <= rows.min() <= rows.max() < shape[0]:
        raise _Damaged(f"{name} has a row that is not in 0..{shape[0] - 1}")
    return sp.csc_array((values, rows, begins), shape=shape)


def _struct(elements: Iterator[tuple[int, memoryview]], order: str) -> dict[str, Any]:
    """Return the fields by name."""
    width, labels = _numbers(elements, order), _numbers(elements, order)
    if width.size != 1 or not 1 <= width[0] <= 64 or labels.size % int(width[0]):
        raise _Damaged("a struct has no names of fields")
    table = labels.astype(np.uint8).reshape(-1, int(width[0]))
    fields: dict[str, Any] = {}
    for row, (kind, body) in zip(table, elements, strict=True):
        if kind != _MATRIX:
            raise _Damaged("a field of a struct is not a matrix")
        value = _matrix(body, order, None)[1] if len(body) else np.zeros((0, 0))
        fields[bytes(row).split(b"\0")[0].decode("ascii", "replace")] = value
    return fields


def _numbers(elements: Iterator[tuple[int, memoryview]], order: str) -> Any:
    """Return the numbers of the next element in native byte order."""
    kind, body = next(elements, (0, memoryview(b"")))
    if kind not in _DTYPES:
        raise _Damaged("numbers are missing")
    dtype = np.dtype(order + _DTYPES[kind])
    if len(body) % dtype.itemsize:
        raise _Damaged("numbers are cut off")
    return np.frombuffer(body, dtype).astype(dtype.newbyteorder("="))
