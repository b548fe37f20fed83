"""Containers of one file: a manifest with lengths and digests, then the bytes of arrays.

    name of the format and a line feed | format version, u32 | length of the JSON, u64 | JSON |
    SHA-256 of all this | arrays

All numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedIOBase, BufferedReader
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from condal.errors import CondalError, ProblemError
from condal.io.container.manifest import FORMAT_VERSION, STAMP, Kind
from condal.io.strict_json import json_object

LENGTHS = struct.Struct("<IQ")  # the format version and the length of the JSON
DIGEST_BYTES = 32
MAX_HEAD_BYTES = 256 << 20  # of JSON
KEYS = (*STAMP, "about", "skeleton", "arrays")
MAX_DIMENSIONS = 32  # which every NumPy supports
MAX_EXACT_INT = 2**53  # below which every reader of JSON has the integer as it is
BYTES_PER_READ = 1 << 24
DTYPES = {  # by their names in a file; in the byte order of the machine once they are read
    f"<{code}": np.dtype(code)
    for code in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
} | {f"|{code}": np.dtype(code) for code in ("b1", "i1", "u1")}
FIELDS = ("dtype", "shape", "strides", "sha256")


class Head(NamedTuple):
    """The manifest as it was read, and where the bytes of the arrays begin."""

    about: dict[str, Any]
    skeleton: Any
    arrays: list[Entry]
    digest: str
    begin: int


def magic(kind: Kind) -> bytes:
    """Return the first line of a file."""
    return kind.name.encode("ascii") + b"\n"


def head_bytes(
    kind: Kind, about: dict[str, Any], skeleton: Any, arrays: Sequence[NDArray[Any]]
) -> bytes:
    """Return all that comes before the bytes of the arrays, which have no gaps."""
    table = []
    for array in arrays:
        strides = array.strides if array.size else _c_strides(array.shape, array.itemsize)
        digest = hashlib.sha256(raw(array)).hexdigest()
        values = (dtype_name(array.dtype), list(array.shape), list(strides), digest)
        table.append(dict(zip(FIELDS, values, strict=True)))
    header = {"about": about, "skeleton": skeleton, "arrays": table}
    try:
        text = json.dumps(kind.stamp() | header, allow_nan=False, separators=(",", ":")).encode()
    except (RecursionError, TypeError, ValueError) as error:
        raise ProblemError(
            f"no checkpoint can be made: what it is about is not plain JSON ({error}); give texts, "
            "finite numbers, lists and dicts"
        ) from error
    if len(text) > MAX_HEAD_BYTES:
        raise ProblemError(
            f"no checkpoint can be made: its header would have {len(text)} bytes, and the limit is "
            f"{MAX_HEAD_BYTES}; solve without checkpoint=, or with a storage of fewer parts than "
            "atoms"
        )
    begin = magic(kind) + LENGTHS.pack(FORMAT_VERSION, len(text)) + text
    return begin + hashlib.sha256(begin).digest()


def write_file(file: BinaryIO, head: bytes, arrays: Sequence[NDArray[Any]]) -> None:
    """Write the head and the bytes of the arrays."""
    file.write(head)
    for array in arrays:
        file.write(raw(array))


def read_head(kind: Kind, file: BinaryIO, path: str) -> Head:
    """Read the head of an open file; every length in it is held against the size of the file."""
    size = os.fstat(file.fileno()).st_size
    first = magic(kind)
    begin = file.read(len(first) + LENGTHS.size)
    if not begin.startswith(first):
        kind.refuse("it does not begin as one", path)
    if len(begin) < len(first) + LENGTHS.size:
        kind.refuse("it ends too early", path)
    number, length = LENGTHS.unpack(begin[len(first) :])
    room = size - len(begin) - DIGEST_BYTES
    if length > min(room, MAX_HEAD_BYTES):
        kind.refuse(f"its header would have {length} bytes, of a file of {size}", path)
    text, digest = file.read(length), file.read(DIGEST_BYTES)
    if hashlib.sha256(begin + text).digest() != digest:
        kind.refuse("its header does not match its SHA-256", path)
    try:
        values = json_object(text.decode("ascii"))
        if number != FORMAT_VERSION:
            kind.refuse_version(number, values.get("condal"), path)
        if tuple(values) != KEYS or values["format"] != kind.name:
            raise ValueError("its header has other keys")
        if not isinstance(values["about"], dict):
            raise ValueError("it does not say what it is about")
        arrays = entries_of(values["arrays"], room - length)
    except CondalError:
        raise
    except (RecursionError, ValueError) as error:
        kind.refuse(str(error), path)
    return Head(values["about"], values["skeleton"], arrays, digest.hex(), size - room + length)


def read_file(kind: Kind, file: BufferedReader, path: str) -> tuple[Head, list[NDArray[Any]]]:
    """Read the head and the arrays; every digest is checked."""
    head = read_head(kind, file, path)
    try:
        arrays = [entry.read(file) for entry in head.arrays]
        if file.read(1):
            raise ValueError("bytes follow its end")
    except CondalError:
        raise
    except ValueError as error:
        kind.refuse(str(error), path)
    return head, arrays


def dtype_name(dtype: Any) -> str | None:
    """Return the name of a dtype in a file; None if a file does not hold it."""
    name = np.dtype(dtype).newbyteorder("<").str
    return name if name in DTYPES else None


@dataclass(frozen=True, eq=False)
class Entry:
    """An array in a file: the SHA-256 of its bytes, and where they begin after the head.

    The strides give the order of the axes; there are no gaps.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    sha256: str
    offset: int

    @property
    def length(self) -> int:
        """The number of its bytes."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize

    def read(self, file: BufferedIOBase) -> NDArray[Any]:
        """Read the array from where the file stands; ValueError if its bytes have changed."""
        dtype = DTYPES[self.dtype]
        flat = np.empty(math.prod(self.shape), dtype=dtype)
        view, digest = flat.view(np.uint8), hashlib.sha256()
        for begin in range(0, view.size, BYTES_PER_READ):
            piece = view[begin : begin + BYTES_PER_READ].data
            if file.readinto(piece) != piece.nbytes:
                raise ValueError("it ends too early")
            digest.update(piece)
        if digest.hexdigest() != self.sha256:
            raise ValueError("an array does not match its SHA-256")
        if dtype.kind == "b" and np.any(view > 1):
            raise ValueError("a truth value is neither 0 nor 1")
        if not np.little_endian:
            flat = flat.byteswap()
        return np.ndarray(self.shape, dtype, flat, strides=self.strides)


def raw(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array without gaps, little-endian, in their order in memory."""
    flat = array.transpose(_slowest_first(array.strides)).reshape(-1)
    flat = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return flat.view(np.uint8).data


def entries_of(table: Any, room: int) -> list[Entry]:
    """Read the table of a file with `room` bytes for arrays; ValueError unless it fits exactly.

    Nothing is allocated because the table says so: the lengths add up to bytes that are there.
    """
    if not isinstance(table, list):
        raise ValueError("there is no table of arrays")
    entries, offset = [], 0
    for values in table:
        entry = _entry(values, offset)
        offset += entry.length
        if offset > room:
            raise ValueError("an array is longer than the file")
        entries.append(entry)
    if offset != room:
        raise ValueError(f"it has {room - offset} bytes that belong to nothing")
    return entries


def _entry(values: Any, offset: int) -> Entry:
    if not isinstance(values, dict) or tuple(values) != FIELDS:
        raise ValueError("an entry of the table has other fields")
    dtype, shape, strides, sha256 = values.values()
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError("an array has a dtype that no checkpoint has")
    if not _are_whole(shape) or min(shape, default=0) < 0 or len(shape) > MAX_DIMENSIONS:
        raise ValueError("an array has an invalid shape")
    fits = _are_whole(strides) and len(strides) == len(shape)
    if not fits or not without_gaps(shape, strides, DTYPES[dtype].itemsize):
        raise ValueError("the strides of an array do not match its shape")
    return Entry(dtype, tuple(shape), tuple(strides), sha256, offset)


def _are_whole(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(
        type(n) is int and abs(n) < MAX_EXACT_INT for n in numbers
    )


def without_gaps(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether an array fills its memory, its axes in any order.

    The stride of an axis of length 1 is free, since products may depend on it. An empty array is in
    C order.
    """
    if 0 in shape:
        return tuple(strides) == _c_strides(shape, itemsize)
    step = itemsize
    for i in reversed(_slowest_first(strides)):
        if shape[i] > 1:
            if strides[i] != step:
                return False
            step *= shape[i]
    return True


def filled(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array if it has no gaps and the byte order of the machine; else a copy with its
    axes in the same order."""
    native = array.dtype.newbyteorder("=")
    whole = array.size == 0 or without_gaps(array.shape, array.strides, array.itemsize)
    if whole and array.dtype == native:
        return array
    return np.array(array, dtype=native, order="K")


def _slowest_first(strides: Sequence[int]) -> list[int]:
    return sorted(range(len(strides)), key=lambda i: -strides[i])


def _c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * math.prod(shape[i + 1 :]) for i in range(len(shape)))
