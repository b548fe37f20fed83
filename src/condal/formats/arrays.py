"""NumPy's own files, .npy and .npz: never unpickled, and checked before memory is asked for."""

from __future__ import annotations

import io
import lzma
import os
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from condal.errors import FormatError
from condal.formats.regular import PathLike, most_bytes, opened

MAGIC = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
MAX_MEMBERS = 64
NUMBERS = "biufc"  # the kinds of their dtypes
LONGEST_WORD = 1024  # bytes of its file, most of which is the header

# What NumPy's readers raise of headers that are none, which are pieces of Python.
_BROKEN_HEADER = (
    EOFError,
    KeyError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
)


def read_array(path: PathLike, *, finite: bool = True) -> Any:
    """The array of a .npy file; one that is not `finite` is refused, unless that may be."""
    name = os.fsdecode(path)
    with opened(name) as file:
        return _parse(file, os.fstat(file.fileno()).st_size, name, "", finite=finite)


def read_arrays(
    path: PathLike,
    names: Collection[str] | None = None,
    *,
    kinds: str = NUMBERS,
    most: int = MAX_MEMBERS,
    finite: bool = True,
) -> dict[str, Any]:
    """The arrays of a .npz file by name: all, or those of the names that it has.

    `kinds` are those of the dtypes that are taken, and `most` is how many arrays there may be;
    those that are not `finite` are refused, unless that may be.
    """
    name = os.fsdecode(path)
    with _archive(name) as (archive, size):
        return {
            stem: _member(archive, member, size, name, kinds=kinds, finite=finite)
            for stem, member in _members(archive, name, most).items()
            if names is None or stem in names
        }


def read_word(path: PathLike, name: str) -> str:
    """The one short word of an array of a .npz file, as SciPy's name of a sparse format."""
    file = os.fsdecode(path)
    with _archive(file) as (archive, _):
        member = _members(archive, file)[name]
        if member.file_size > LONGEST_WORD:
            raise FormatError(f"{member.filename} is too long for a word", path=file)
        with archive.open(member) as stream:
            data = stream.read(LONGEST_WORD + 1)
        word = _parse(io.BytesIO(data), len(data), file, f"{member.filename}: ", kinds="SU")
    return str(word.astype(str).item()) if word.size == 1 else ""


def names_of_arrays(path: PathLike) -> list[str]:
    """The names of the arrays of a .npz file, none of which is read."""
    name = os.fsdecode(path)
    with _archive(name) as (archive, _):
        return sorted(_members(archive, name))


@contextmanager
def _archive(name: str) -> Iterator[tuple[zipfile.ZipFile, int]]:
    """The archive, and how many bytes the file has."""
    with opened(name) as file:
        if file.read(len(ZIP)) != ZIP:
            raise FormatError("is no .npz file; save one with numpy.savez(path, ...)", path=name)
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive, os.fstat(file.fileno()).st_size
        except FormatError:
            raise
        except (
            zipfile.BadZipFile,
            zlib.error,
            lzma.LZMAError,
            EOFError,
            OSError,
            RuntimeError,  # an encrypted member, and, as NotImplementedError, another method
            ValueError,
        ) as error:
            raise FormatError(
                f"the archive is truncated or damaged ({error}); make it again", path=name
            ) from error


def _members(
    archive: zipfile.ZipFile, name: str, most: int = MAX_MEMBERS
) -> dict[str, zipfile.ZipInfo]:
    members = archive.infolist()
    if len(members) > most:
        raise FormatError(f"holds {len(members)} files; wanted a few arrays", path=name)
    for member in members:
        plain = member.filename == Path(member.filename).name
        if not plain or not member.filename.endswith(".npy"):
            raise FormatError(
                f"holds {member.filename[:40]!a}; wanted arrays alone, as numpy.savez writes",
                path=name,
            )
    return {member.filename.removesuffix(".npy"): member for member in members}


def _member(
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    size: int,
    name: str,
    *,
    kinds: str,
    finite: bool,
) -> Any:
    most = most_bytes(size, packed=True)
    if member.file_size > most:
        raise FormatError(
            f"{member.filename} is to be {member.file_size} bytes in a file of {size}, more than "
            "is read; save it with numpy.savez, uncompressed, if you trust it",
            path=name,
        )
    with archive.open(member) as stream:
        data = stream.read(most + 1)
    where = f"{member.filename}: "
    return _parse(io.BytesIO(data), len(data), name, where, kinds=kinds, finite=finite)


def _parse(
    file: Any, size: int, name: str, where: str, *, kinds: str = NUMBERS, finite: bool = True
) -> Any:
    """The array; refused unless its header fits the bytes that are there."""
    try:
        version = np.lib.format.read_magic(file)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = reader(file)
    except _BROKEN_HEADER as error:
        raise FormatError(
            f"{where}is no array as numpy.save writes it; save it again", path=name
        ) from error
    if dtype.kind not in kinds:
        wanted = "numbers" if kinds == NUMBERS else "text"
        raise FormatError(
            f"{where}holds {dtype}, not {wanted}; objects are not read: save an array of {wanted}",
            path=name,
        )
    count = int(np.prod([int(side) for side in shape], dtype=object)) if shape else 1
    held = size - file.tell()
    if min(shape, default=1) < 0 or count * dtype.itemsize != held:
        raise FormatError(
            f"{where}the header says shape {shape} of {dtype}, {count * dtype.itemsize} bytes, but "
            f"{held} follow; the file is truncated or damaged",
            path=name,
        )
    file.seek(0)
    array = np.lib.format.read_array(file, allow_pickle=False)
    if kinds == NUMBERS and finite and not np.isfinite(array).all():
        raise FormatError(f"{where}holds nan or inf; every entry must be finite", path=name)
    return array
