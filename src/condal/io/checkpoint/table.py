"""The arrays of a checkpoint: a table of what they are, and their bytes, one after the other."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condal.io.checkpoint.leaves import DTYPES, MOST_DIMENSIONS, SAFE, dtype_name

PIECE = 1 << 24  # bytes that are read at a time

FIELDS = ("dtype", "shape", "strides", "writeable", "offset", "length", "sha256")


@dataclass(frozen=True, eq=False)
class Entry:
    """What an array is, where its bytes begin after the header, how many they are, and their
    SHA-256. The strides say in which order of the axes they are, without a gap."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writeable: bool
    offset: int
    length: int
    sha256: str

    def as_json(self) -> dict[str, Any]:
        """The entry as it is written."""
        lists = {"shape": list(self.shape), "strides": list(self.strides)}
        return {name: getattr(self, name) for name in FIELDS} | lists

    def read(self, file: BufferedIOBase) -> NDArray[Any]:
        """The array, from where the file is; ValueError if its bytes are not those written."""
        dtype = DTYPES[self.dtype]
        flat = np.empty(math.prod(self.shape), dtype=dtype)
        view, digest = flat.view(np.uint8), hashlib.sha256()
        for begin in range(0, view.size, PIECE):
            piece = view[begin : begin + PIECE].data
            if file.readinto(piece) != piece.nbytes:
                raise ValueError("it ends too early")
            digest.update(piece)
        if digest.hexdigest() != self.sha256:
            raise ValueError("the SHA-256 of an array is another than that of its bytes")
        if dtype.kind == "b" and np.any(view > 1):
            raise ValueError("a truth value is neither 0 nor 1")
        if not np.little_endian:
            flat = flat.byteswap()
        array = np.ndarray(self.shape, dtype, flat, strides=self.strides)
        array.flags.writeable = self.writeable
        return array


def table_of(arrays: Sequence[NDArray[Any]]) -> list[Entry]:
    """The table of arrays without gaps."""
    table, offset = [], 0
    for array in arrays:
        data, name = raw(array), dtype_name(array.dtype)
        assert name is not None
        digest = hashlib.sha256(data).hexdigest()
        flag = bool(array.flags.writeable)
        strides = array.strides if array.size else _row_by_row(array.shape, array.itemsize)
        table.append(Entry(name, array.shape, strides, flag, offset, data.nbytes, digest))
        offset += data.nbytes
    return table


def raw(array: NDArray[Any]) -> memoryview:
    """The bytes of an array without gaps, in their order in memory, of low end first."""
    flat = array.transpose(_slowest_first(array.strides)).reshape(-1)
    flat = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return flat.view(np.uint8).data


def entries_of(part: Any, room: int) -> list[Entry]:
    """The table of a file with `room` bytes for arrays; ValueError unless it fits to the byte.

    Nothing is allocated by its word: the lengths add up to bytes that are there.
    """
    if not isinstance(part, list):
        raise ValueError("there is no table of arrays")
    table, offset = [], 0
    for each in part:
        entry = _entry(each)
        if entry.offset != offset or entry.length > room - offset:
            raise ValueError("an array is not where the table says, or longer than the file")
        offset += entry.length
        table.append(entry)
    if offset != room:
        raise ValueError(f"it has {room - offset} bytes that belong to nothing")
    return table


def _entry(part: Any) -> Entry:
    if not isinstance(part, dict) or tuple(part) != FIELDS:
        raise ValueError("an entry of the table has not the fields of one")
    shape, strides, dtype = (part[name] for name in ("shape", "strides", "dtype"))
    if not isinstance(shape, list) or not isinstance(strides, list):
        raise ValueError("an array has no shape, or no strides")
    wholes = (*shape, part["offset"], part["length"])
    if any(type(n) is not int or not 0 <= n < SAFE for n in wholes):
        raise ValueError("an array has a shape, an offset or a length that is none")
    if not isinstance(dtype, str) or dtype not in DTYPES or len(shape) > MOST_DIMENSIONS:
        raise ValueError("an array has a dtype or a shape that no checkpoint has")
    if math.prod(shape) * DTYPES[dtype].itemsize != part["length"]:
        raise ValueError("an array has another length than its shape")
    whole = all(type(n) is int and abs(n) < SAFE for n in strides) and len(strides) == len(shape)
    if not whole or not without_gaps(shape, strides, DTYPES[dtype].itemsize):
        raise ValueError("an array has strides that are none of its shape")
    if type(part["writeable"]) is not bool or not isinstance(part["sha256"], str):
        raise ValueError("an array has no flag or no SHA-256")
    return Entry(**{**part, "shape": tuple(shape), "strides": tuple(strides)})


def without_gaps(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether an array fills its memory, its axes in any order; one of length 1 may say anything,
    which products may look at. One of no numbers is in the order of C."""
    if 0 in shape:
        return tuple(strides) == _row_by_row(shape, itemsize)
    step = itemsize
    for i in reversed(_slowest_first(strides)):
        if shape[i] > 1:
            if strides[i] != step:
                return False
            step *= shape[i]
    return True


def _slowest_first(strides: Sequence[int]) -> list[int]:
    return sorted(range(len(strides)), key=lambda i: -strides[i])


def _row_by_row(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * math.prod(shape[i + 1 :]) for i in range(len(shape)))
