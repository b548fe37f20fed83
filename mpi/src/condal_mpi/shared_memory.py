"""Memory that the ranks of one machine share: each of them reads and writes all of it.

It is a file without a name, which lives in memory and ends with its last mapping: ranks free it one
by one, in any order, and nothing is left of ranks that die. Unlike the windows of MPI it needs no
collective end, which an error on one rank would prevent, and no room in /dev/shm, of which
containers have little. Every page is reserved before it is used, so lack of memory raises an error.

Ranks use it between barriers: what a rank wrote before one, all of them read after it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condal_mpi.team import Team

PROBE_BYTES = 4096  # of each rank


def shared_memory(mates: Team, own: int) -> mmap:
    """Return memory of all `mates`, `own` bytes of each rank in turn.

    MemoryError on all of them if it cannot be had.
    """
    sizes, file = mates.gathered(own), -1
    begin, size = sum(sizes[: mates.rank]), sum(sizes)
    name = mates.agreed(f"condal-{secrets.token_hex(8)}")
    try:
        with mates.together(), _memory_errors(size):
            if mates.rank == 0:
                file = os.memfd_create(name)
                os.ftruncate(file, size)
        path = mates.agreed(f"/proc/{os.getpid()}/fd/{file}")
        with mates.together(), _memory_errors(size):
            if mates.rank > 0:
                file = _opened(path, name)
            os.posix_fallocate(file, begin, own)
            return mmap(file, size)
    finally:
        if file >= 0:
            os.close(file)


def _opened(path: str, name: str) -> int:
    """The file of another rank, by its path in /proc."""
    if str(Path(path).readlink()) != f"/memfd:{name} (deleted)":  # a process of another container
        raise FileNotFoundError("they do not see each other's files")
    return os.open(path, os.O_RDWR)


@contextmanager
def _memory_errors(size: int) -> Iterator[None]:
    """Context manager: whatever the system lacks is a MemoryError."""
    try:
        yield
    except (AttributeError, OSError) as error:  # only Linux has memfd_create
        raise MemoryError(f"ranks cannot share {size} bytes of memory: {error}") from error


def why_unshared(mates: Team) -> str | None:
    """Return why ranks of one machine cannot share memory, the same on all of them, or None."""
    try:
        with mates.together():
            _require_no_limit()
        shared_memory(mates, PROBE_BYTES)
    except MemoryError as error:
        return str(error)
    return None


def _require_no_limit() -> None:
    """Raise MemoryError if files of this process may not grow, in memory or elsewhere."""
    from resource import RLIM_INFINITY, RLIMIT_FSIZE, getrlimit

    limit = getrlimit(RLIMIT_FSIZE)[0]
    if limit != RLIM_INFINITY:
        raise MemoryError(f"ranks cannot share memory: files are limited to {limit} bytes")
