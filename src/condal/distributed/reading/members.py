"""Vectors in a .npz archive, of which each rank reads some entries."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from condal.distributed.reading.checksum import joined
from condal.distributed.team import Team
from condal.errors import FormatError
from condal.io.formats.arrays import archive_of, damaged, members_of, shown
from condal.io.formats.npy import NOT_FINITE, NUMBERS, entries_of, head_of
from condal.io.formats.text import CHUNK
from condal.io.safe_files import opened

LOCAL = struct.Struct("<26xHH")  # the lengths of the two texts between it and the bytes of a member


@dataclass(frozen=True)
class Vector:
    """What an archive, a file, says of one of its members: its entries begin at byte `head`."""

    path: str
    info: zipfile.ZipInfo
    dtype: Any
    shape: tuple[int, ...]
    head: int

    @property
    def ndim(self) -> int:
        """1 if it is one."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(np.prod(self.shape, dtype=np.int64))

    def error(self, text: str) -> FormatError:
        """The error that names the file and the member."""
        return FormatError(f"{shown(self.info)}: {text}", path=self.path)


def vectors_of(path: str) -> dict[str, Vector]:
    """The numbers of an archive by their names; no entry is read."""
    found = {}
    with archive_of(path) as (archive, _):
        for name, info in members_of(archive, path).items():
            if name != "format":  # which is a word
                found[name] = _vector(archive, path, info)
    return found


def _vector(archive: zipfile.ZipFile, path: str, info: zipfile.ZipInfo) -> Vector:
    def error(text: str) -> FormatError:
        return FormatError(f"{shown(info)}: {text}", path=path)

    with archive.open(info) as stream:
        dtype, shape, _, head = head_of(stream, info.file_size, NUMBERS, error)
    return Vector(path, info, dtype, shape, head)


def read_part(team: Team, vector: Vector, begin: int, end: int) -> Any:
    """The entries begin ... end - 1, where those of all ranks in their order are the vector: it is
    refused by all unless its checksum is right, and every entry finite."""
    packed = vector.info.compress_type != zipfile.ZIP_STORED
    first = 0 if team.rank == 0 else vector.head + begin * vector.dtype.itemsize
    last = vector.head + end * vector.dtype.itemsize
    with team.together():
        data = (_unpacked if packed else _stored)(vector, first, last)
        if len(data) < last - first:
            raise vector.error("the file ends before the array does; fetch it again")
    if not packed:  # else zipfile has looked at it
        sums = team.gathered((zlib.crc32(data), len(data)))
        if joined(sums) != vector.info.CRC:
            raise damaged(vector.path, f"Bad CRC-32 for file {vector.info.filename!r}")
    head = vector.head if team.rank == 0 else 0
    entries = entries_of(np.frombuffer(data, np.uint8, offset=head), vector.dtype)
    with team.together():
        if not np.isfinite(entries).all():
            raise vector.error(NOT_FINITE)
    return entries


def _stored(vector: Vector, first: int, last: int) -> bytes:
    """Some bytes of a member that is stored as it is."""
    with opened(vector.path) as file:
        file.seek(vector.info.header_offset)
        local = file.read(LOCAL.size)
        if len(local) < LOCAL.size:
            raise damaged(vector.path, "a member has no header")
        file.seek(sum(LOCAL.unpack(local)) + first, os.SEEK_CUR)
        return file.read(last - first)


def _unpacked(vector: Vector, first: int, last: int) -> bytes:
    """Some bytes of a member that is packed: the others are unpacked as well, and let go."""
    with archive_of(vector.path) as (archive, _), archive.open(vector.info) as stream:
        _pass(stream, first)
        data = stream.read(last - first)
        _pass(stream, vector.info.file_size - last + 1)
        return data


def _pass(stream: IO[bytes], count: int) -> None:
    """Read so many bytes, if they are there, and keep none."""
    while count > 0 and (chunk := stream.read(min(CHUNK, count))):
        count -= len(chunk)
