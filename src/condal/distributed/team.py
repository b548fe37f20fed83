"""The processes that solve one problem together, and what they say to each other."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, TypeVar

import numpy as np

from condal.distributed.engine import engine
from condal.errors import CondalError, ProblemError
from condal.linalg.points import Array
from condal.runtime.consensus import root_values
from condal.runtime.version import versions

PATIENCE = 10.0  # seconds until the others are taken to have gone another way
PAUSE = 0.01

_Said = TypeVar("_Said")


class Team:
    """The ranks of an MPI communicator, COMM_WORLD unless another is given.

    Every method is collective: each rank calls it, at the same place. Sums are taken in the order
    of the ranks, so that all of them get the same bits.
    """

    def __init__(self, comm: Any = None) -> None:
        self.comm = engine().MPI.COMM_WORLD if comm is None else comm

    @cached_property
    def rank(self) -> int:
        """Which one this is."""
        return int(self.comm.Get_rank())

    @cached_property
    def size(self) -> int:
        """How many there are."""
        return int(self.comm.Get_size())

    def range(self, n: int, rank: int | None = None) -> tuple[int, int]:
        """The rows begin ... end - 1 of n that a rank owns, this one unless another is named: as
        many as any other, or one more. ProblemError if there are fewer rows than ranks."""
        if n < self.size:
            raise ProblemError(
                f"{n} rows cannot be shared by {self.size} ranks; start at most {n} of them"
            )
        rank = self.rank if rank is None else rank
        each, more = divmod(n, self.size)
        begin = rank * each + min(rank, more)
        return begin, begin + each + (rank < more)

    def gathered(self, value: _Said) -> list[_Said]:
        """What each rank says, in their order."""
        return self.comm.allgather(value)

    def agreed(self, value: _Said) -> _Said:
        """What the first rank says."""
        return self.comm.bcast(value, root=0)

    def sum(self, part: float) -> float:
        """Over the ranks, the same bits on each."""
        return float(self.sums(np.array([part]))[0])

    def sums(self, part: Array) -> Array:
        """Of each entry over the ranks, the same bits on each."""
        return self._together(part).sum(axis=0)

    def largest(self, part: float) -> float:
        """Over the ranks; NaN if one has it."""
        return float(self._together(np.array([part])).max())

    def _together(self, part: Array) -> Array:
        """The part of each rank, one under the other."""
        mine = np.ascontiguousarray(part, dtype=np.float64)
        if self.size == 1:
            return mine[None]
        every = np.empty((self.size, *mine.shape))
        self.comm.Allgather(mine, every)
        return every

    def require_same(self, value: Any, what: str) -> None:
        """Raise ProblemError on all ranks unless all of them say the same."""
        every = self.gathered(value)
        other = next((rank for rank, one in enumerate(every) if one != every[0]), None)
        if other is not None:
            raise ProblemError(
                f"the ranks differ in {what}: rank 0 has {every[0]!r}, rank {other} has "
                f"{every[other]!r}; start all of them with the same"
            )

    def require_alike(self) -> None:
        """Refuse ranks of other versions than the first: of condal, Python, NumPy, SciPy, MPI,
        PETSc or SLEPc."""
        self.require_same({**versions(), **engine().versions()}, "their versions")

    @contextmanager
    def together(self) -> Iterator[None]:
        """What each rank does alone, all of them to the end: if one fails, all do, with its words.

        Inside, a rank must not wait for another.
        """
        error: Exception | None = None
        try:
            yield
        except Exception as raised:
            error = raised
        words = self.gathered(None if error is None else _Word.of(error))
        word = next((word for word in words if word is not None), None)
        if word is None:
            return
        if error is not None and _Word.of(error) == word:
            raise error
        raise word.said() from error

    @contextmanager
    def solving(self) -> Iterator[None]:
        """The time in which the ranks go the way of the first, and end together: an error that one
        of them meets alone, while others wait for it, ends them all."""
        try:
            with root_values(self.agreed):
                yield
        except BaseException as error:
            if not self._all_here():
                self._abort(error)
            raise

    def _all_here(self) -> bool:
        """Whether every rank comes to this place in time."""
        if self.size == 1:
            return True
        request, until = self.comm.Ibarrier(), time.monotonic() + PATIENCE
        while not request.Test():
            if time.monotonic() > until:
                return False
            time.sleep(PAUSE)
        return True

    def _abort(self, error: BaseException) -> NoReturn:
        word = f"rank {self.rank}: {type(error).__name__}: {error}"
        print(word, file=sys.__stderr__, flush=True)  # this one is not left to the first rank
        self.comm.Abort(1)
        raise SystemExit(1)


@dataclass(frozen=True)
class _Word:
    """An error, as it is told to other ranks."""

    kind: type[Exception]
    text: str
    more: dict[str, Any]

    @classmethod
    def of(cls, error: Exception) -> _Word:
        kind = type(error)
        if isinstance(error, CondalError):
            return cls(kind, str(error), vars(error))
        if kind.__module__ == "builtins":
            return cls(kind, str(error), {})
        return cls(CondalError, f"{kind.__name__}: {error}", {})  # one that they may not have

    def said(self) -> Exception:
        """An error of the same kind and words."""
        error = self.kind.__new__(self.kind, self.text)
        error.args = (self.text,)
        vars(error).update(self.more)
        return error
