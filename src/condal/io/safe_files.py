"""Regular files, opened with care, how much of one is read, and what is put on the disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, TypeAlias

from condal.errors import FormatError

PathLike: TypeAlias = str | os.PathLike[str]

MAX_BYTES = 4 << 30
MAX_RATIO = 1000
RATIO_FLOOR = 16 << 20


@contextmanager
def opened(path: PathLike) -> Iterator[BufferedReader]:
    """A regular file to read; what the system refuses, now or while it is read, is a
    FormatError."""
    name = os.fsdecode(path)
    try:
        with _open(name) as file:
            yield file
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FormatError(
            f"cannot be read: {reason}; check the path and the permissions", path=name
        ) from error


def first_bytes(path: PathLike, count: int) -> bytes:
    """How a file begins."""
    with opened(path) as file:
        return file.read(count)


def most_bytes(size: int, *, packed: bool) -> int:
    """How many bytes are read of a file of a size: more of one that is packed, but not without
    end."""
    return min(MAX_BYTES, max(RATIO_FLOOR, MAX_RATIO * size)) if packed else MAX_BYTES


@contextmanager
def created(path: Path) -> Iterator[BinaryIO]:
    """A new file, which is on the disk in the end."""
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """See to it that what was made or renamed in a folder is on the disk."""
    # Not every system lets a folder be opened and synced; there the rename is all there is.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open(name: str) -> BufferedReader:
    # Looked at before it is opened: to open a device can already act on it.
    _refuse_special(Path(name).stat().st_mode, name)
    # O_NONBLOCK: a FIFO put in its place meanwhile must not hang us.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(name, flags), "rb")
    try:
        _refuse_special(os.fstat(file.fileno()).st_mode, name)
    except FormatError:
        file.close()
        raise
    return file


def _refuse_special(mode: int, name: str) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    kind = next((kind for test, kind in kinds if test(mode)), "a device")
    raise FormatError(f"is {kind}; wanted a regular file: give the path of one", path=name)
