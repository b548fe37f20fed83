"""Vectors in a .npz archive, of which each rank reads some entries.

The CRC-32 of bytes AB is crc(A) x^(8 |B|) + crc(B) modulo a polynomial P over two elements. A
polynomial is stored in 32 bits, the coefficient of x^0 first.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from condal.distributed.team import Team
from condal.errors import FormatError
from condal.io.formats.arrays import archive_of, damaged, members_of, shown
from condal.io.formats.npy import NOT_FINITE, NUMBERS, entries_of, head_of
from condal.io.formats.text import CHUNK_BYTES
from condal.io.safe_files import opened

CRC_POLYNOMIAL = 0xEDB88320  # P without x^32
CRC_ONE, CRC_X = 1 << 31, 1 << 30
LOCAL_HEADER = struct.Struct("<26xHH")  # the lengths of the two texts before the bytes of a member


@dataclass(frozen=True)
class Vector:
    """An array of an archive, as its header describes it; its entries begin at byte `head`."""

    path: str
    info: zipfile.ZipInfo
    dtype: Any
    shape: tuple[int, ...]
    head: int

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def error(self, text: str) -> FormatError:
        """Return the error that names the file and the member."""
        return FormatError(f"{shown(self.info)}: {text}", path=self.path)


def vectors_of(path: str) -> dict[str, Vector]:
    """Return the arrays of numbers of an archive by name; no entry is read."""
    vectors = {}
    with archive_of(path) as (archive, _):
        for name, info in members_of(archive, path).items():
            if name != "format":  # a word
                unread = Vector(path, info, None, (), 0)
                with archive.open(info) as stream:
                    head = head_of(stream, info.file_size, NUMBERS, unread.error)
                vectors[name] = Vector(path, info, head[0], head[1], head[3])
    return vectors


def read_part(team: Team, vector: Vector, begin: int, end: int) -> Any:
    """Read the entries begin ... end - 1; the ranks together read the whole vector, in order.

    All ranks refuse the vector if its checksum is wrong or an entry is not finite.
    """
    packed = vector.info.compress_type != zipfile.ZIP_STORED
    first = 0 if team.rank == 0 else vector.head + begin * vector.dtype.itemsize
    last = vector.head + end * vector.dtype.itemsize
    with team.together():
        data = (_read_packed if packed else _read_stored)(vector, first, last)
        if len(data) < last - first:
            raise vector.error("the file ends before the array does; fetch it again")
    if not packed:  # else zipfile has checked it
        sums = team.gathered((zlib.crc32(data), len(data)))
        if join_checksums(sums) != vector.info.CRC:
            raise damaged(vector.path, f"Bad CRC-32 for file {vector.info.filename!r}")
    head = vector.head if team.rank == 0 else 0
    entries = entries_of(np.frombuffer(data, np.uint8, offset=head), vector.dtype)
    with team.together():
        if not np.isfinite(entries).all():
            raise vector.error(NOT_FINITE)
    return entries


def _read_stored(vector: Vector, first: int, last: int) -> bytes:
    """Read some bytes of a member that is not packed."""
    with opened(vector.path) as file:
        file.seek(vector.info.header_offset)
        local = file.read(LOCAL_HEADER.size)
        if len(local) < LOCAL_HEADER.size:
            raise damaged(vector.path, "a member has no header")
        file.seek(sum(LOCAL_HEADER.unpack(local)) + first, os.SEEK_CUR)
        return file.read(last - first)


def _read_packed(vector: Vector, first: int, last: int) -> bytes:
    """Read some bytes of a packed member; the others are unpacked and dropped."""
    with archive_of(vector.path) as (archive, _), archive.open(vector.info) as stream:
        _skip(stream, first)
        data = stream.read(last - first)
        _skip(stream, vector.info.file_size - last + 1)
        return data


def _skip(stream: IO[bytes], count: int) -> None:
    """Read up to `count` bytes and drop them."""
    while count > 0 and (chunk := stream.read(min(CHUNK_BYTES, count))):
        count -= len(chunk)


def join_checksums(pieces: Iterable[tuple[int, int]]) -> int:
    """Return the CRC-32 of consecutive pieces, given the CRC-32 and the length of each."""
    total = 0
    for crc, length in pieces:
        total = _times(total, _power_of_x(8 * length)) ^ crc
    return total


def _times(a: int, b: int) -> int:
    """a b mod P."""
    product = 0
    for place in range(31, -1, -1):
        if b >> place & 1:
            product ^= a
        a = a >> 1 ^ (CRC_POLYNOMIAL if a & 1 else 0)  # a x
    return product


def _power_of_x(exponent: int) -> int:
    """x^exponent mod P."""
    power, square = CRC_ONE, CRC_X
    while exponent:
        if exponent & 1:
            power = _times(power, square)
        square = _times(square, square)
        exponent >>= 1
    return power
