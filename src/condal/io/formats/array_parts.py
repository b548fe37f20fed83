"""Parts of the arrays of a .npz file: for a process that needs some of the numbers only."""

from __future__ import annotations

import math
import os
import zipfile
from typing import IO, Any

import numpy as np

from condal.errors import FormatError
from condal.io.formats.arrays import archive_of, check_sizes, members_of, shown
from condal.io.formats.npy import NOT_FINITE, NUMBERS, entries_of, head_of
from condal.io.safe_files import PathLike

CHUNK_BYTES = 1 << 20


def array_shape(path: PathLike, name: str) -> tuple[int, ...]:
    """Return the shape of an array of a .npz file; its numbers are not read."""
    file = os.fsdecode(path)
    with archive_of(file) as (archive, _):
        member = members_of(archive, file)[name]
        with archive.open(member) as stream:
            return _head(stream, member, file)[1]


def read_array_part(path: PathLike, name: str, begin: int, end: int, count: int) -> Any:
    """Read the parts begin ... end - 1 of `count` equal parts of an array of a .npz file.

    All of the array passes by, and its checksum is verified, but only these parts are stored.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    name : str
        The name of the array.
    begin, end, count : int
        The parts, in the order of rows.

    Returns
    -------
    ndarray
        Their numbers, as a vector.

    Raises
    ------
    FormatError
        If the array is not one of finite numbers by rows, or has no such parts.
    """
    file = os.fsdecode(path)
    with archive_of(file) as (archive, size):
        member = members_of(archive, file)[name]
        check_sizes([member], size, file)
        with archive.open(member) as stream:
            dtype, shape, order, offset = _head(stream, member, file)
        total = math.prod(shape)
        if total % count:
            text = f"{shown(member)}: {total} numbers are not {count} equal parts"
            raise FormatError(text, path=file)
        if order == "F" and len(shape) > 1:
            text = f"{shown(member)}: is stored by columns; save numpy.ascontiguousarray of it"
            raise FormatError(text, path=file)
        each = total // count * dtype.itemsize
        raw = np.empty((end - begin) * each, dtype=np.uint8)
        with archive.open(member) as stream:
            _copy(stream, raw, offset + begin * each)
    part = entries_of(raw, dtype)
    if not np.isfinite(part).all():
        raise FormatError(f"{shown(member)}: {NOT_FINITE}", path=file)
    return part


def _head(
    stream: IO[bytes], member: zipfile.ZipInfo, file: str
) -> tuple[Any, tuple[int, ...], Any, int]:
    def error(text: str) -> FormatError:
        return FormatError(f"{shown(member)}: {text}", path=file)

    return head_of(stream, member.file_size, NUMBERS, error)


def _copy(stream: IO[bytes], out: Any, first: int) -> None:
    """Copy the bytes from number `first` on; zipfile verifies the checksum at the end."""
    place = 0
    while chunk := stream.read(CHUNK_BYTES):
        begin, end = max(place, first), min(place + len(chunk), first + out.size)
        if begin < end:
            part = memoryview(chunk)[begin - place : end - place]
            out[begin - first : end - first] = np.frombuffer(part, dtype=np.uint8)
        place += len(chunk)
