"""NumPy's own files, .npy and .npz: never unpickled, and checked before memory is asked for."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from condal.errors import FormatError
from condal.formats.text import PathLike

MAGIC = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
MAX_BYTES = 4 << 30
MAX_RATIO = 1000
RATIO_FLOOR = 64 << 20
MAX_MEMBERS = 64


def read_array(path: PathLike) -> Any:
    """The array of a .npy file."""
    name = os.fsdecode(path)
    with _opened(name) as file:
        return _parse(file, os.fstat(file.fileno()).st_size, name, "")


def read_arrays(path: PathLike) -> dict[str, Any]:
    """The arrays of a .npz file by name."""
    name = os.fsdecode(path)
    with _opened(name) as file:
        if file.read(4) != ZIP:
            raise FormatError("is no .npz file; save one with numpy.savez(path, ...)", path=name)
        file.seek(0)
        size = os.fstat(file.fileno()).st_size
        try:
            with zipfile.ZipFile(file) as archive:
                return {
                    Path(member.filename).stem: _member(archive, member, size, name)
                    for member in _members(archive, name)
                }
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
            raise FormatError(
                f"the archive is truncated or damaged ({error}); make it again", path=name
            ) from error


def is_numpy(path: PathLike) -> bool:
    """Whether a file begins as a .npy file does; False for one that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _opened(name: str) -> BinaryIO:
    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            raise FormatError("is no regular file; give the path of one", path=name)
        return path.open("rb")
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FormatError(
            f"cannot be read: {reason}; check the path and the permissions", path=name
        ) from error


def _members(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise FormatError(f"holds {len(members)} files; wanted a few arrays", path=name)
    for member in members:
        plain = member.filename == Path(member.filename).name
        if not plain or not member.filename.endswith(".npy"):
            raise FormatError(
                f"holds {member.filename[:40]!a}; wanted arrays alone, as numpy.savez writes",
                path=name,
            )
    return members


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, size: int, name: str) -> Any:
    most = min(MAX_BYTES, max(RATIO_FLOOR, MAX_RATIO * size))
    if member.file_size > most:
        raise FormatError(
            f"{member.filename} is to be {member.file_size} bytes in a file of {size}, more than "
            "is read; save it with numpy.savez, uncompressed, if you trust it",
            path=name,
        )
    with archive.open(member) as stream:
        data = stream.read(most + 1)
    return _parse(io.BytesIO(data), len(data), name, f"{member.filename}: ")


def _parse(file: Any, size: int, name: str, where: str) -> Any:
    """The array; refused unless its header fits the bytes that are there."""
    try:
        version = np.lib.format.read_magic(file)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = reader(file)
    except (ValueError, KeyError, EOFError, SyntaxError) as error:
        raise FormatError(
            f"{where}is no array as numpy.save writes it; save it again", path=name
        ) from error
    if dtype.kind not in "biufc":
        raise FormatError(
            f"{where}holds {dtype}, not numbers; objects are not read: save an array of numbers",
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
    if not np.isfinite(array).all():
        raise FormatError(f"{where}holds nan or inf; every entry must be finite", path=name)
    return array
