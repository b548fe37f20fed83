"""Matrices saved by `scipy.sparse.save_npz`, of which each rank reads some rows.

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
from scipy import sparse

from condal.distributed.reading.coordinates import sum_rows, symmetric_rows
from condal.distributed.reading.slices import require_same_file
from condal.distributed.team import Team
from condal.errors import FormatError
from condal.io.formats import sparse_arrays
from condal.io.formats.arrays import archive_of, damaged, members_of, read_arrays, shown
from condal.io.formats.npy import NOT_FINITE, NUMBERS, entries_of, head_of
from condal.io.formats.text import CHUNK_BYTES, Text
from condal.io.safe_files import opened

CRC_POLYNOMIAL = 0xEDB88320  # P without x^32
CRC_ONE, CRC_X = 1 << 31, 1 << 30
LOCAL_HEADER = struct.Struct("<26xHH")  # the lengths of the two texts before the bytes of a member


def archive_rows(team: Team, path: str) -> sparse.csr_array:
    """Return this rank's rows of what `read_sparse_array` returns for a .npz file."""
    text = Text(path, b"")
    with team.together():
        kind, n, indices, others, data = _headers(path, text)
    require_same_file(team, path)
    if kind == "coo":
        begin, end = (data.size * rank // team.size for rank in (team.rank, team.rank + 1))
        outer = read_part(team, others, begin, end).astype(np.int64)
    else:
        begin, end, outer = _read_pointers(team, text, others, n, data.size)
    inner = read_part(team, indices, begin, end).astype(np.int64)
    w = read_part(team, data, begin, end).astype(np.float64)
    with team.together():
        for places in (inner, outer):
            if places.size and not 0 <= places.min() <= places.max() < n:
                raise sparse_arrays.index_error(text, n)
    i, j = (outer, inner) if kind == "csr" else (inner, outer)
    return symmetric_rows(
        team, text, sum_rows(team, text, n, i, j, w), hint=sparse_arrays.SYMMETRY_HINT
    )


def _headers(path: str, text: Text) -> tuple[str, int, Vector, Vector, Vector]:
    """Return the sparse format, n, and the vectors of indices, pointers (or columns) and data."""
    kind = sparse_arrays.sparse_format(path, text)
    vectors = vectors_of(path)
    data, wanted = vectors["data"], sparse_arrays.INDEX_ARRAYS[kind]
    sparse_arrays.require_real(text, data, "data")
    n, most = sparse_arrays.vertex_count(text, read_arrays(path, ("shape",))["shape"], data.size)
    for name in wanted:
        sparse_arrays.require_whole(text, vectors.get(name), name, most + 1)
    indices, others = (vectors[name] for name in wanted)
    if kind != "coo" and others.size != n + 1:
        raise sparse_arrays.pointer_error(text, n, indices.size)
    sizes = {indices.size, others.size if kind == "coo" else data.size}
    if data.ndim != 1 or sizes != {data.size}:
        raise sparse_arrays.length_error(text, wanted[0], indices.size, data.size)
    return kind, n, indices, others, data


def _read_pointers(
    team: Team, text: Text, pointers: Vector, n: int, entries: int
) -> tuple[int, int, Any]:
    """Return the range of the entries in this rank's rows (or columns), and the row of each."""
    begin, end = team.range(n)
    own = read_part(team, pointers, begin, end if team.rank + 1 < team.size else n + 1)
    own = own.astype(np.int64)
    heads = team.gathered(int(own[0]))
    if team.rank + 1 < team.size:
        own = np.append(own, heads[team.rank + 1])
    rising = bool((np.diff(own) >= 0).all())
    ends = team.gathered((rising, int(own[-1])))
    if not all(rises for rises, _ in ends) or heads[0] != 0 or ends[-1][1] != entries:
        raise sparse_arrays.pointer_error(text, n, entries)
    return int(own[0]), int(own[-1]), np.repeat(np.arange(begin, end), np.diff(own))


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
