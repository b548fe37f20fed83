"""SeDuMi's MATLAB files (.mat): minimise c'x subject to Ax = b, x in the cones that K names.

x consists of the variables of K.f, which are free, those of K.l, which are at least 0, those of
K.q, second-order cones, and those of K.s, psd matrices stored by columns. The file holds A, or At =
A'. The DIMACS challenge distributes such files, packed with gzip. A program has no free variables:
those of the file become differences of two numbers, in its first block.

The files are of version 5 to 7 of MATLAB's format. SciPy's reader is not used because a damaged
file can crash it. Here every size is checked against the bytes that are there before anything is
allocated.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterator
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from condal.errors import FormatError
from condal.io.formats.entries import max_claim
from condal.io.formats.text import unpacked
from condal.io.safe_files import PathLike, most_bytes, naming, opened
from condal.linalg.points import Array

Cone: TypeAlias = tuple[Literal["psd", "orthant", "second-order"], int]  # and its size

_MATRICES = ("A", "At")
_UNSUPPORTED = {
    "r": "rotated cones; write them as second-order cones, K.q",
    "xcomplex": "complex variables",
    "scomplex": "complex matrices",
    "ycomplex": "complex constraints",
}
_HEADER = 128  # bytes; the last two give the byte order
_HDF5 = b"\x89HDF"
_MATRIX, _COMPRESSED = 14, 15
_STRUCT, _SPARSE, _NUMERIC = 2, 5, range(6, 16)  # classes of matrices
_COMPLEX = 0x0800
_DTYPES = dict(zip((1, 2, 3, 4, 5, 6, 7, 9, 12, 13), "bBhHiIfdqQ", strict=True))


class ConicData(NamedTuple):
    """Minimise c'x subject to Ax = b; x in the product of the cones."""

    c: Array
    A: sp.csr_array
    b: Array
    cones: tuple[Cone, ...]
    name: str


def read_cones(path: PathLike) -> ConicData:
    """Read a conic program from a SeDuMi file; only numbers are read from it."""
    with naming(path):
        variables = read_matlab(path, (*_MATRICES, "b", "c", "K"))
        stem = PurePath(os.fsdecode(path)).name.split(".mat", 1)[0]
        return _program(variables, stem or "conic program")


def _program(variables: dict[str, Any], name: str) -> ConicData:
    _check_contents(variables)
    free, cones = _cones(variables["K"])
    key = next(key for key in _MATRICES if key in variables)
    length, shape = free + sum(_length(*cone) for cone in cones), variables[key].shape
    _check_claims(variables[key], length)
    b, c = (_vector(variables[v], v, max(length, *shape)) for v in ("b", "c"))
    A = sp.csr_array(variables[key], dtype=np.float64)
    _finite(A.data, key)
    if A.shape != (b.size, length) or key == "At":
        A = A.T
    if A.shape != (b.size, length) or c.size != length:
        raise FormatError(
            f"K takes {length} variables and b has {b.size}: wanted A of {b.size} x {length} and c "
            f"of {length}; got {key} of {shape} and c of {c.size}"
        )
    if free:
        columns = sp.csc_array(A)
        A = sp.hstack([columns[:, :free], -columns[:, :free], columns[:, free:]])
        c = np.concatenate([c[:free], -c[:free], c[free:]])
        cones = (("orthant", 2 * free), *cones)
    mirrored = _mirrored(cones)
    symmetric = sp.csr_array(0.5 * (A + sp.csc_array(A)[:, mirrored]))
    return ConicData(0.5 * (c + c[mirrored]), symmetric, b, cones, name)


def _check_contents(variables: dict[str, Any]) -> None:
    missing = [key for key in ("b", "c", "K") if key not in variables]
    if not any(key in variables for key in _MATRICES):
        missing = ["A", *missing]
    if missing:
        raise FormatError(f"has no {', '.join(missing)}; wanted SeDuMi's A (or At), b, c and K")
    for key, value in variables.items():
        if isinstance(value, dict) != (key == "K"):
            wanted = "a struct, with fields such as l, q and s" if key == "K" else "a matrix"
            raise FormatError(f"{key} must be {wanted}")


def _check_claims(A: Any, length: int) -> None:
    """Refuse more variables than the entries of A can account for.

    Variables without an entry need no bytes, and a psd matrix has the square of its diagonal, so
    the limit is generous.
    """
    held = A.indptr.size + A.nnz if sp.issparse(A) else A.size
    if max(length, *A.shape) > max(max_claim(held), min(10**7, held**2)):
        raise FormatError(
            f"K takes {length} variables, and A has {held} numbers in all; the file is damaged"
        )


def _cones(K: dict[str, Any]) -> tuple[int, tuple[Cone, ...]]:
    """Return the number of free variables, and the cones in the order of x."""
    sizes: dict[str, list[int]] = {}
    for field, entries in K.items():
        if isinstance(entries, dict):
            raise FormatError(f"K.{field} must hold whole numbers")
        if sp.issparse(entries):
            # Only its entries: its shape needs no bytes in the file, and zeros say nothing.
            entries.sum_duplicates()
        values = np.ravel(entries.data if sp.issparse(entries) else entries)
        if field in _UNSUPPORTED and np.any(values):
            raise FormatError(
                f"K.{field} asks for {_UNSUPPORTED[field]}; K.f, K.l, K.q and K.s are supported"
            )
        if field not in ("f", "l", "q", "s"):
            continue
        whole = values.dtype.kind in "iuf" and (values == np.rint(values)).all()
        if not whole or (values < 0).any() or (values > 10**6).any():
            raise FormatError(f"K.{field} must hold whole numbers from 0 to 10^6")
        sizes[field] = [int(value) for value in values if value]
    cones: list[Cone] = [
        *(("orthant", n) for n in sizes.get("l", [])),
        *(("second-order", n) for n in sizes.get("q", [])),
        *(("psd", n) for n in sizes.get("s", [])),
    ]
    free = sum(sizes.get("f", []))
    if not cones and not free:
        raise FormatError("K names no cone: K.f, K.l, K.q or K.s must be positive")
    return free, tuple(cones)


def _length(kind: str, n: int) -> int:
    return n * n if kind == "psd" else n


def _mirrored(cones: tuple[Cone, ...]) -> Any:
    """Return the place of the mirror image of each entry of x: its own, except in psd matrices."""
    mirrored, at = [], 0
    for kind, n in cones:
        places = at + np.arange(_length(kind, n))
        mirrored.append(places.reshape(n, n).T.ravel() if kind == "psd" else places)
        at += places.size
    return np.concatenate(mirrored)


def _vector(matrix: Any, key: str, most: int) -> Any:
    if min(matrix.shape) != 1 or max(matrix.shape) > most:
        raise FormatError(f"{key} must be a vector of at most {most}; got shape {matrix.shape}")
    array = (matrix.toarray() if sp.issparse(matrix) else matrix).ravel().astype(np.float64)
    return _finite(array, key)


def _finite(values: Any, key: str) -> Any:
    if not np.isfinite(values).all():
        raise FormatError(f"{key} holds nan or inf; every entry must be finite")
    return values


def read_matlab(path: PathLike, names: Collection[str]) -> dict[str, Any]:
    """Read those variables of these names that the file has; it may be packed with gzip or xz.

    The values are two-dimensional arrays, CSC arrays and, for structs, dicts of these.
    """
    with naming(path), opened(path) as file:
        return _variables(unpacked(file, os.fsdecode(path)), names)


def _variables(data: bytes, names: Collection[str]) -> dict[str, Any]:
    if data.startswith(_HDF5):
        raise FormatError("is a MATLAB 7.3 file; save it with save(..., '-v7')")
    order = {b"IM": "<", b"MI": ">"}.get(data[_HEADER - 2 : _HEADER])
    if order is None:
        raise FormatError("is not a MATLAB file of version 5 to 7")
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
    except (zlib.error, ValueError, RecursionError) as error:
        raise FormatError(f"the MATLAB file is damaged: {error!s:.200}; fetch it again") from error


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the type and the bytes of each element."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError("it ends inside a tag")
        kind, size = (int(n) for n in np.frombuffer(data[at : at + 8], order + "u4"))
        if kind >> 16:  # a small element, in the tag itself
            kind, size, begin, after = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            begin = at + 8
            after = begin + size + (-size % 8 if kind != _COMPRESSED else 0)
        if size > len(data) - begin or (begin == at + 4 and size > 4):
            raise ValueError(f"{size} bytes are announced, but {len(data) - begin} follow")
        yield kind, data[begin : begin + size]
        at = after


def _unzipped(body: memoryview, limit: int) -> memoryview:
    unzip = zlib.decompressobj()
    data = unzip.decompress(body, max(limit, 1))
    if not unzip.eof:
        raise ValueError("a packed part is truncated, or larger than what is read")
    return memoryview(data)


def _matrix(body: memoryview, order: str, names: Collection[str] | None) -> tuple[str, Any]:
    """Return the name and the value of a matrix; the value is None if `names` lacks the name."""
    elements = _elements(body, order)
    flags, dims, label = (_numbers(elements, order) for _ in range(3))
    if flags.size != 2 or dims.size < 2 or (dims < 0).any():
        raise ValueError("a matrix has no class or no shape")
    name = bytes(label.astype(np.uint8)).decode("ascii", "replace")
    shape, kind = tuple(int(side) for side in dims), int(flags[0]) & 0xFF
    if names is not None and name not in names:
        return name, None
    if int(flags[0]) & _COMPLEX:
        raise ValueError(f"{name} is complex; wanted real numbers")
    if len(shape) != 2:
        raise ValueError(f"{name} has {len(shape)} dimensions; wanted two")
    if kind in _NUMERIC:
        values = _numbers(elements, order)
        if values.size != shape[0] * shape[1]:
            raise ValueError(f"{name} is {shape[0]} x {shape[1]} but has {values.size} numbers")
        return name, values.reshape(shape, order="F")
    if kind == _SPARSE:
        return name, _sparse(name, shape, *(_numbers(elements, order) for _ in range(3)))
    if kind == _STRUCT and shape == (1, 1):
        return name, _struct(elements, order)
    raise ValueError(f"{name} is neither a matrix of numbers nor a single struct")


def _sparse(name: str, shape: tuple[int, int], rows: Any, begins: Any, values: Any) -> Any:
    """Build a CSC array; `rows` and `values` may have room for more entries than there are."""
    if rows.dtype.kind not in "iu" or begins.dtype.kind not in "iu":
        raise ValueError(f"the rows and columns of {name} are not whole numbers")
    # Signed: unsigned differences are never negative, and SciPy does not check pointers.
    rows, begins = rows.astype(np.int64), begins.astype(np.int64)
    good = begins.size == shape[1] + 1 and begins[0] == 0 and (np.diff(begins) >= 0).all()
    if not good or begins[-1] > min(rows.size, values.size):
        raise ValueError(f"the columns of {name} do not begin where they should")
    count = int(begins[-1])
    rows, values = rows[:count], values[:count]
    if count and not 0 <= rows.min() <= rows.max() < shape[0]:
        raise ValueError(f"{name} has a row that is not in 0..{shape[0] - 1}")
    return sp.csc_array((values, rows, begins), shape=shape)


def _struct(elements: Iterator[tuple[int, memoryview]], order: str) -> dict[str, Any]:
    """Return the fields by name."""
    width, labels = _numbers(elements, order), _numbers(elements, order)
    if width.size != 1 or not 1 <= width[0] <= 64 or labels.size % int(width[0]):
        raise ValueError("a struct has no names of fields")
    table = labels.astype(np.uint8).reshape(-1, int(width[0]))
    fields: dict[str, Any] = {}
    for row, (kind, body) in zip(table, elements, strict=True):
        if kind != _MATRIX:
            raise ValueError("a field of a struct is not a matrix")
        value = _matrix(body, order, None)[1] if len(body) else np.zeros((0, 0))
        fields[bytes(row).split(b"\0")[0].decode("ascii", "replace")] = value
    return fields


def _numbers(elements: Iterator[tuple[int, memoryview]], order: str) -> Any:
    """Return the numbers of the next element in native byte order."""
    kind, body = next(elements, (0, memoryview(b"")))
    if kind not in _DTYPES:
        raise ValueError("numbers are missing")
    dtype = np.dtype(order + _DTYPES[kind])
    if len(body) % dtype.itemsize:
        raise ValueError("numbers are cut off")
    return np.frombuffer(body, dtype).astype(dtype.newbyteorder("="))
