"""One writer a checkpoint: a lock on `path`.lock, which the system releases when a process ends."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from condal.errors import FormatError
from condal.io.checkpoint.place import clean, resolved, unwritable
from condal.io.safe_files import PathLike

ENDING = ".lock"
# What a disk says that knows no locks, as some of clusters do: there nobody is kept out.
UNKNOWN = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
TRIALS = 100  # of taking a lock whose file another is just removing


@contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """For the time of the block, no other process or thread writes this checkpoint.

    FormatError if another does. What killed writers left behind is removed. The file of the lock is
    removed in the end, by the one who holds it; who opened it before that sees that the name is
    gone, and begins again. On Windows it stays, empty.
    """
    target = resolved(path)
    place = target.with_name(target.name + ENDING)
    try:
        descriptor = _taken(place, os.fsdecode(path))
    except OSError as error:
        raise unwritable(error, path) from error
    try:
        with suppress(OSError):
            clean(target)
        yield
    finally:
        _released(descriptor, place)


def _taken(place: Path, path: str) -> int:
    """The descriptor of the file of the lock, which is held."""
    # O_NONBLOCK: a FIFO of that name must not hang us. A link is not followed where that is known.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    for _ in range(TRIALS):
        descriptor = os.open(place, flags, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FormatError("is no regular file: remove it", path=str(place))
            if not _try(descriptor):
                raise FormatError(
                    f"is being written by another solve{_owner(descriptor)}; wait for it, or give "
                    "another path",
                    path=path,
                )
            if _is_named(descriptor, place):
                _sign(descriptor)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise FormatError("is locked and released all the time; give another path", path=path)


def _sign(descriptor: int) -> None:
    """Say who holds the lock, for the text of a refusal."""
    if sys.platform != "win32":  # where nobody else could read it
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())


def _released(descriptor: int, place: Path) -> None:
    if sys.platform == "win32":
        import msvcrt

        with suppress(OSError):
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)
        return
    import fcntl

    with suppress(OSError):
        if _is_named(descriptor, place):
            place.unlink()
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child that was forked may have it open
    os.close(descriptor)


def _try(descriptor: int) -> bool:
    """Whether the lock is ours now."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNKNOWN:
            raise
    return True


def _is_named(descriptor: int, place: Path) -> bool:
    """Whether the file has its name still: another may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(place))
    except FileNotFoundError:
        return False


def _owner(descriptor: int) -> str:
    """Which process has the lock, as far as it says."""
    with suppress(OSError):
        said = os.read(descriptor, 20).strip()
        if said.isdigit():
            return f" (process {int(said)})"
    return ""
