"""Rows that the ranks of one machine, a node, store in one array, which all of them read.

Its memory is a file without a name, which lives in memory and ends with its last mapping: ranks
free it one by one, in any order, and nothing is left of ranks that die. Unlike the windows of MPI
it needs no collective end, which an error on one rank would prevent, and no room in /dev/shm, of
which containers have little. Every page is reserved before it is used, so lack of memory raises an
error. Ranks use it between barriers: what a rank wrote before one, all of them read after it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.blocked import aligned_empty
from condal.linalg.points import Indices

if TYPE_CHECKING:
    from condal_mpi.halo import Halo
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


class NodeRows:
    """Where the rows of a halo are in an array of all rows of a node.

    The ranks of the node have a segment each: their own rows, and then the rows that they need from
    other nodes, `outer`, which are exchanged by messages. Rows of another rank of the node are read
    where they are. A rank that is alone on its node has all of its halo beside its own rows.

    Parameters
    ----------
    halo : Halo
        The rows that this rank needs.
    places : ndarray of int, optional
        Where this rank stores each of its own rows in its segment; by default in ascending order.
    order : ndarray of int, optional
        The order of the rows of other ranks; by default ascending.

    Attributes
    ----------
    index : ndarray of int
        Where the rows of the halo's columns are in the array.
    own, outer : slice
        The rows of this rank in the array, and those of other nodes.
    columns : ndarray of int
        The numbers of the latter.
    from_nodes : ndarray of bool
        Which rows of other ranks, in their order, are those of other nodes.
    """

    def __init__(
        self, halo: Halo, places: Indices | None = None, order: Indices | None = None
    ) -> None:
        team, own = halo.team, halo.own
        self.node = team.node
        mates = np.array(self.node.gathered(team.rank))
        order = np.arange(halo.size) if order is None else order
        self.from_nodes = ~np.isin(halo.owners[order], mates)
        outer = order[self.from_nodes]
        counts = np.array(self.node.gathered(own + outer.size))
        starts = np.cumsum(counts) - counts
        begin, self.size = int(starts[self.node.rank]), int(counts.sum())
        self.own = slice(begin, begin + own)
        self.outer = slice(begin + own, begin + own + outer.size)
        self.columns = halo.columns[own + outer]
        self.index = halo.places_at_owners() if places is None else halo(places)
        self.index[:own] += begin
        inner = np.flatnonzero(np.isin(halo.owners, mates))
        self.index[own + inner] += starts[np.searchsorted(mates, halo.owners[inner])]
        self.index[own + outer] = np.arange(self.outer.start, self.outer.stop)

    def empty(self, width: tuple[int, ...], dtype: Any) -> Any:
        """Return an array without values for all rows of the node; all of its ranks call this."""
        kind, columns = np.dtype(dtype), int(np.prod(width))
        if self.node.size == 1 or columns == 0:
            return aligned_empty((self.size, columns), kind).reshape(self.size, *width)
        own = (self.outer.stop - self.own.start) * columns * kind.itemsize
        memory = shared_memory(self.node, own)
        return np.frombuffer(memory, kind).reshape(self.size, *width)

    def publish(self) -> None:
        """Wait until the ranks of the node have written what they read of each other next."""
        if self.node.size > 1:
            self.node.comm.Barrier()
