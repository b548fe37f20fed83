"""One writer per container: a lock on `path`.lock, released by the system when a process ends."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from condal.errors import FormatError
from condal.io.container.atomic import remove, remove_leftovers, resolve_target, write_errors
from condal.io.safe_files import PathLike

if TYPE_CHECKING:
    from filelock import BaseFileLock

SUFFIX = ".lock"
# Errors of disks that know no locks, as some of clusters: there nobody is kept out.
UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
MAX_TRIALS = 100  # of taking a lock whose file another process is removing


@contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """Keep other processes and threads from writing this container while the block runs.

    FormatError if another one is writing it. Temporary files of killed writers are removed. The
    holder removes the lock file at the end; on Windows an empty one stays.
    """
    target = resolve_target(path)
    lock_path = target.with_name(target.name + SUFFIX)
    with write_errors(path):
        lock = _acquired(lock_path, os.fsdecode(path))
    try:
        with suppress(OSError):
            remove_leftovers(target)
        yield
    finally:
        # Removed while it is held: whoever has opened it sees that it has no name, and tries again.
        if sys.platform != "win32" and lock.is_locked:
            remove(lock_path)
        lock.release()


def _acquired(lock_path: Path, path: str) -> BaseFileLock:
    """Return the lock, held, or not held on a disk without locks."""
    from filelock import FileLock, Timeout

    lock_path.parent.stat()  # raises where filelock would make the folder
    lock = FileLock(lock_path, fallback_to_soft=False, on_acquired=_sign)
    for _ in range(MAX_TRIALS):
        before = _status(lock_path)
        if before is not None and not stat.S_ISREG(before.st_mode):
            raise FormatError("is not a regular file: remove it", path=str(lock_path))
        try:
            lock.acquire(blocking=False)
        except Timeout:
            after = _status(lock_path)  # another file where its holder has removed it meanwhile
            if before is not None and after is not None and os.path.samestat(before, after):
                raise FormatError(
                    f"is being written by another solve{_owner(lock_path)}; wait for it, or give "
                    "another path",
                    path=path,
                ) from None
            continue
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
        return lock
    raise FormatError("is locked and released all the time; give another path", path=path)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _sign(descriptor: int) -> None:
    """Write the process id into the lock file, for the text of a refusal."""
    if sys.platform != "win32":  # where nobody else can read the file
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())


def _owner(lock_path: Path) -> str:
    """Name the process that holds the lock, if its file says so."""
    with suppress(OSError), lock_path.open("rb") as file:
        signature = file.read(20).strip()
        if signature.isdigit():
            return f" (process {int(signature)})"
    return ""
