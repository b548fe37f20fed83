"""NumPy's files, .npy and .npz: never unpickled, and sizes checked before memory is allocated."""

from __future__ import annotations

import io
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from condal.errors import FormatError
from condal.io.formats.npy import NOT_FINITE, NUMBERS, head_of, parse
from condal.io.formats.signatures import ZIP
from condal.io.safe_files import PathLike, most_bytes, naming, opened
from condal.runtime.meter import spend

ZIP_END = b"PK\x05\x06"  # of the last record; an archive without members begins with it
ZIP_END_BYTES = 22  # of that record in an archive without a comment
MAX_MEMBERS = 64
CHUNK_BYTES = 1 << 20


def read_array(path: PathLike, *, finite: bool = True) -> Any:
    """Read the array of a .npy file.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    finite : bool
        Whether to refuse nan and inf.

    Returns
    -------
    ndarray
        The array.

    Raises
    ------
    FormatError
        If the file is not an array of numbers, or its size does not fit its header.
    """
    with naming(path), opened(path) as file:
        return parse(file, os.fstat(file.fileno()).st_size, finite=finite)


def read_arrays(
    path: PathLike,
    names: Collection[str] | None = None,
    *,
    kinds: str = NUMBERS,
    most: int = MAX_MEMBERS,
    finite: bool = True,
) -> dict[str, Any]:
    """Read the arrays of a .npz file.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    names : collection of str, optional
        The arrays to read, as far as the file has them; all by default.
    kinds : str
        The kinds of dtypes that are read.
    most : int
        The largest number of arrays that the file may have.
    finite : bool
        Whether to refuse nan and inf.

    Returns
    -------
    dict
        The arrays by name.

    Raises
    ------
    FormatError
        If the file is not an archive of arrays of numbers, or larger than it may be.
    """
    with archive_of(path) as (archive, size):
        members = {
            stem: member
            for stem, member in members_of(archive, most).items()
            if names is None or stem in names
        }
        check_sizes(members.values(), size)
        arrays = {}
        for stem, member in members.items():
            with naming(path, f"{shown(member)}: "), archive.open(member) as stream:
                data = _read(stream, member.file_size + 1)
                arrays[stem] = parse(io.BytesIO(data), len(data), kinds=kinds, finite=finite)
        return arrays


def names_of_arrays(path: PathLike) -> list[str]:
    """Return the sorted names of the arrays of a .npz file; no array is read."""
    with archive_of(path) as (archive, _):
        return sorted(members_of(archive))


@contextmanager
def archive_of(path: PathLike) -> Iterator[tuple[zipfile.ZipFile, int]]:
    """Open an archive; yield it and the size of the file, which errors of the block name."""
    with naming(path), opened(path) as file:
        first, size = file.read(len(ZIP)), os.fstat(file.fileno()).st_size
        if first != ZIP and not (first == ZIP_END and size == ZIP_END_BYTES):
            raise FormatError("is not a .npz file; save one with numpy.savez(path, ...)")
        file.seek(max(size - ZIP_END_BYTES, 0))
        end = file.read()
        file.seek(0)
        # Otherwise zipfile would search for the end further up, and take the rest for a comment.
        if not end.startswith(ZIP_END) or not end.endswith(b"\0\0"):
            raise _damaged("it does not end as one")
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive, size
        except FormatError:
            raise
        except (
            zipfile.BadZipFile,
            struct.error,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,  # a member is encrypted, or packed in a way unknown to zipfile
            ValueError,
        ) as error:
            raise _damaged(f"{error!s:.200}") from error


def _damaged(why: str) -> FormatError:
    return FormatError(f"the archive is truncated or damaged ({why}); make it again")


def members_of(archive: zipfile.ZipFile, most: int = MAX_MEMBERS) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive by name; all must be arrays."""
    members = archive.infolist()
    if len(members) > most:
        raise FormatError(f"holds {len(members)} files; wanted a few arrays")
    for member in members:
        plain = member.filename == Path(member.filename).name
        if not plain or not member.filename.endswith(".npy"):
            raise FormatError(
                f"holds {member.filename[:40]!a}; wanted only arrays, as numpy.savez writes"
            )
        # Another way of packing allocates as much memory as its header says.
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(
                f"{shown(member)} is packed in a way that numpy.savez does not use; save it "
                "with numpy.savez_compressed"
            )
    by_name = {member.filename.removesuffix(".npy"): member for member in members}
    if len(by_name) != len(members):
        raise FormatError("holds two arrays of one name; save each once, with numpy.savez")
    return by_name


def shown(member: zipfile.ZipInfo) -> str:
    """Return the name of a member as an error shows it."""
    return ascii(member.filename[:40])[1:-1]


def check_sizes(
    members: Collection[zipfile.ZipInfo], size: int, *, most: int | None = None
) -> None:
    """Refuse arrays whose total size is too large for the file; members can share packed bytes."""
    total = sum(member.file_size for member in members)
    if total > most_bytes(size, packed=True, most=most):
        largest = max(members, key=lambda member: member.file_size)
        raise FormatError(
            f"{shown(largest)} unpacks to {largest.file_size} bytes in a file of {size}, and all "
            f"arrays to {total}, more than is read; save them with numpy.savez, uncompressed, if "
            "you trust it"
        )


@dataclass(frozen=True)
class StoredArray:
    """An array of an archive, as its header describes it; its numbers begin at byte `head`."""

    path: str
    info: zipfile.ZipInfo
    dtype: Any
    shape: tuple[int, ...]
    order: str
    head: int

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def error(self, message: str) -> FormatError:
        """Return the error that names the array."""
        return FormatError(f"{shown(self.info)}: {message}", path=self.path)

    def chunks(self, count: int) -> Iterator[Any]:
        """Yield the numbers, `count` at a time; zipfile verifies their checksum at the end."""
        with archive_of(self.path) as (archive, _), archive.open(self.info) as stream:
            stream.read(self.head)
            for begin in range(0, self.size, count):
                data = _read(stream, min(count, self.size - begin) * self.dtype.itemsize)
                raw = np.frombuffer(data, np.uint8)
                chunk = raw != 0 if self.dtype.kind == "b" else raw.view(self.dtype)
                if not np.isfinite(chunk).all():
                    raise self.error(NOT_FINITE)
                yield chunk
            stream.read(1)


def stored_arrays(
    path: PathLike, names: Collection[str], *, most: int | None = None
) -> dict[str, StoredArray]:
    """Return those arrays of these names that a .npz file has; their numbers are not read.

    `most` is the limit of their bytes, as `most_bytes` has it.
    """
    stored = {}
    with archive_of(path) as (archive, size):
        members = {k: info for k, info in members_of(archive).items() if k in names}
        check_sizes(members.values(), size, most=most)
        for name, info in members.items():
            with naming(path, f"{shown(info)}: "), archive.open(info) as stream:
                head = head_of(stream, info.file_size, NUMBERS)
            stored[name] = StoredArray(os.fsdecode(path), info, *head)
    return stored


def read_array_part(path: PathLike, name: str, begin: int, end: int, count: int) -> Any:
    """Read the parts begin ... end - 1 of `count` equal parts, in the order of rows, of an array of
    a .npz file, as a vector.

    All of the array passes by, and its checksum is verified, but only these parts are stored.
    """
    stored = stored_arrays(path, [name])[name]
    if stored.size % count:
        raise stored.error(f"{stored.size} numbers are not {count} equal parts")
    if stored.order == "F" and stored.ndim > 1:
        raise stored.error("is stored by columns; save numpy.ascontiguousarray of it")
    each, step = stored.size // count, max(CHUNK_BYTES // stored.dtype.itemsize, 1)
    part = np.empty((end - begin) * each, bool if stored.dtype.kind == "b" else stored.dtype)
    for k, chunk in enumerate(stored.chunks(step)):
        first = k * step - begin * each  # the place of the chunk in the part
        low, high = max(first, 0), min(first + chunk.size, part.size)
        if low < high:
            part[low:high] = chunk[low - first : high - first]
    return part


def _read(stream: IO[bytes], count: int) -> bytes:
    """Read at most `count` bytes, and ask on the way whether the time is up."""
    data = io.BytesIO()
    while chunk := stream.read(min(CHUNK_BYTES, count - data.tell())):
        spend(0.0)
        data.write(chunk)
    return data.getvalue()
