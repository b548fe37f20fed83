"""Regular files opened with care, and limits on how much is read of one."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TypeAlias

from condal.errors import FormatError

PathLike: TypeAlias = str | os.PathLike[str]

MAX_BYTES = 4 << 30
UNLIMITED = 1 << 62
MAX_RATIO = 1000  # of unpacked bytes to the bytes of a packed file
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
RATIO_FLOOR = 16 << 20  # bytes that a packed file may always have


@contextmanager
def naming(path: PathLike, within: str = "") -> Iterator[None]:
    """Name the file, and the place within it, in a FormatError of the block that names no file."""
    try:
        yield
    except FormatError as error:
        if error.path is not None:
            raise
        text, name = f"{within}{error}", os.fsdecode(path)
        raise FormatError(text, path=name, line=error.line) from error.__cause__


@contextmanager
def opened(path: PathLike) -> Iterator[BufferedReader]:
    """Open a regular file to read.

    What the system refuses, now or while the block reads, is a FormatError.
    """
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
    """Read the first bytes of a file."""
    with opened(path) as file:
        return file.read(count)


def read_whole(path: PathLike, max_bytes: int) -> bytes:
    """Read a whole file; FormatError if it has more than `max_bytes`."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise FormatError(
                f"is larger than {max_bytes} bytes, the most that is read", path=os.fsdecode(path)
            )
        return file.read(size)  # not `max_bytes`: a buffer of that size would be allocated first


def size_of(path: Path, owner: str) -> int:
    """Return the size of a regular file of `owner`; a link to one is refused."""
    try:
        status = path.lstat()
    except OSError as error:
        raise FormatError(
            f"cannot be read: {error.strerror}; {owner} has it", path=str(path)
        ) from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a regular file"
        raise FormatError(f"is {kind}; {owner} has the file itself there", path=str(path))
    return status.st_size


def sha256_of(path: PathLike) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def most_bytes(size: int, *, packed: bool, most: int | None = None) -> int:
    """Return how many bytes are read at most of a file of `size` bytes, after unpacking.

    `most` is the limit for files of any size, MAX_BYTES by default: UNLIMITED where they are read
    in chunks.
    """
    most = MAX_BYTES if most is None else most
    return min(most, max(RATIO_FLOOR, MAX_RATIO * size)) if packed else most


def _open(name: str) -> BufferedReader:
    # Looked at before it is opened: to open a device can already act on it.
    refuse_special(Path(name).stat().st_mode, name)
    # O_NONBLOCK: a FIFO put in its place meanwhile must not block.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(name, flags), "rb")
    try:
        refuse_special(os.fstat(file.fileno()).st_mode, name)
    except FormatError:
        file.close()
        raise
    return file


def refuse_special(mode: int, name: str) -> None:
    """Refuse what is not a regular file."""
    if stat.S_ISREG(mode):
        return
    kind = next((kind for test, kind in _KINDS if test(mode)), "a device")
    raise FormatError(f"is {kind}; wanted a regular file: give the path of one", path=name)
