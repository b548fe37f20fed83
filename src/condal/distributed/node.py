"""Memory that the ranks of one machine share: they read each other's rows where these are.

On one machine, to copy rows into messages and out of them takes a good part of the time of a sweep.
Linux lets a process open memory of another one of the same user. Where that is refused, each rank
counts as a machine of its own.
"""

from __future__ import annotations

import mmap
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from condal.distributed.engine import engine
from condal.distributed.team import Team

TOKEN_BYTES = 16


class Node:
    """The ranks of a team on this machine that share memory; `ranks` are their numbers."""

    def __init__(self, team: Team) -> None:
        self.comm = team.comm.Split_type(engine().MPI.COMM_TYPE_SHARED)
        self._memory: Any = None
        self._bytes = 0
        if self.comm.Get_size() > 1 and not self._reserve(mmap.PAGESIZE):
            self.comm = engine().MPI.COMM_SELF
        self.ranks: list[int] = self.comm.allgather(team.rank)

    def array(self, shape: tuple[int, int], dtype: Any) -> Any:
        """Return an array on which all ranks of the node write and read, with any numbers in it.

        The next call may use the same memory.
        """
        if len(self.ranks) == 1:
            return np.empty(shape, dtype)
        size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        if size > self._bytes and not self._reserve(size):
            raise MemoryError(f"{size:,} bytes of memory cannot be shared by ranks")
        return np.frombuffer(self._memory, dtype, shape[0] * shape[1]).reshape(shape)

    def wait(self) -> None:
        """Wait until all ranks of the node come to this place; they then see each other's rows."""
        if len(self.ranks) > 1:
            self.comm.Barrier()

    def _reserve(self, size: int) -> bool:
        """Share so many bytes in place of those before; return whether all ranks see the same."""
        self._memory, first = None, self.comm.Get_rank() == 0
        descriptor, path, token = -1, "", secrets.token_bytes(TOKEN_BYTES)
        size = max(size, TOKEN_BYTES)
        try:
            with suppress(OSError, AttributeError):  # not Linux, or out of memory
                if first:
                    descriptor = os.memfd_create("condal")
                    os.ftruncate(descriptor, size)
                    self._memory = mmap.mmap(descriptor, size)
                    self._memory[:TOKEN_BYTES] = token
                    path = f"/proc/{os.getpid()}/fd/{descriptor}"
            path, token = self.comm.bcast((path, token))
            if path and not first:
                with suppress(OSError, ValueError), Path(path).open("r+b") as file:
                    self._memory = mmap.mmap(file.fileno(), size)
            same = self._memory is not None and self._memory[:TOKEN_BYTES] == token
            shared = all(self.comm.allgather(same))
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        self._bytes = size if shared else 0
        return shared
