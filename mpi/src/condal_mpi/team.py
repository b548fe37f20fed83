"""MPI, PETSc and SLEPc, imported when used; and the ranks that solve a problem together."""

from __future__ import annotations

import atexit
import logging
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from condal.errors import CondalError, MissingExtra, ProblemError
from condal.linalg.points import Array
from condal.runtime.extras import MPI, install
from condal.runtime.meter import agreeing
from condal.runtime.version import versions
from condal_mpi.node_rows import why_unshared

INSTALL = (
    "apt-get install python3-mpi4py python3-petsc4py python3-slepc4py openmpi-bin on Debian (and a "
    f"venv of its own python3 with --system-site-packages), or {install('petsc', MPI)}"
)
DEBIAN_LIBRARIES = Path("/usr/lib")  # its packages are in folders named by their versions


@dataclass(frozen=True)
class Engine:
    """The modules MPI, PETSc and SLEPc."""

    MPI: Any
    PETSc: Any
    SLEPc: Any

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries behind them."""
        numbers = {"petsc": self.PETSc.Sys.getVersion(), "slepc": self.SLEPc.Sys.getVersion()}
        versions = {name: ".".join(map(str, number)) for name, number in numbers.items()}
        return {**versions, "mpi": self.MPI.Get_library_version().split("\n")[0].strip("\0 ,")}

    def end(self) -> None:
        """End SLEPc and PETSc, on all ranks at once, while Python runs.

        Their modules would do it when Python has ended. PETSc would then crash when it calls Python
        to destroy a matrix that is written in Python.
        """
        self.PETSc.garbage_cleanup()  # PETSc's own end waits forever where one rank has no garbage
        self.SLEPc._finalize()
        self.PETSc._finalize()


@cache
def engine() -> Engine:
    """Return the modules; raise MissingExtra with the command that installs missing ones."""
    try:
        MPI = import_module("mpi4py.MPI")
        for name in ("petsc", "slepc"):
            _add_debian_path(name)
            import_module(f"{name}4py").init([])
        modules = Engine(MPI, import_module("petsc4py.PETSc"), import_module("slepc4py.SLEPc"))
    # RuntimeError if mpi4py finds no MPI, ValueError if a module was built for another NumPy.
    except (ImportError, RuntimeError, ValueError) as error:
        raise MissingExtra(
            f"condal_mpi needs mpi4py, petsc4py and slepc4py ({error}): {INSTALL}"
        ) from error
    if modules.PETSc.ScalarType is not np.float64:
        raise MissingExtra(
            "condal_mpi needs a PETSc with real numbers in double precision, but this one "
            f"has {modules.PETSc.ScalarType.__name__}: set PETSC_DIR to another, or {INSTALL}"
        )
    atexit.register(modules.end)
    return modules


def _add_debian_path(name: str) -> None:
    """Put Debian's petsc4py and slepc4py on the path unless others are installed."""
    folders = sorted(DEBIAN_LIBRARIES.glob(f"{name}dir/{name}*3*/*-real"), key=_release)
    if folders and find_spec(f"{name}4py") is None:
        sys.path.append(str(folders[-1] / "lib/python3/dist-packages"))


def _release(folder: Path) -> tuple[bool, list[int]]:
    """Sort key of a folder: its version, with 32-bit indices last, which is Debian's default."""
    name = folder.parent.name
    return "64" not in name.partition("3.")[0], [int(part) for part in re.findall(r"\d+", name)]


ABORT_AFTER_SECONDS = 10.0  # of waiting for ranks that do not come to the same place
POLL_SECONDS = 0.01
MIN_SCATTERED_SIZE = 2**14  # of an array: from here on, each rank sums a part of it for all

LOG = logging.getLogger("condal")

_Value = TypeVar("_Value")


class Team:
    """The ranks of an MPI communicator.

    Every method is collective: all ranks call it at the same place. Sums are taken in the order of
    the ranks, so all ranks get the same bits.

    Parameters
    ----------
    comm : MPI communicator, optional
        By default COMM_WORLD.
    """

    def __init__(self, comm: Any = None) -> None:
        self.comm = engine().MPI.COMM_WORLD if comm is None else comm

    @cached_property
    def rank(self) -> int:
        """The number of this rank."""
        return int(self.comm.Get_rank())

    @cached_property
    def size(self) -> int:
        """The number of ranks."""
        return int(self.comm.Get_size())

    @cached_property
    def node(self) -> Team:
        """The ranks that share memory with this one: those of its machine, or this one alone."""
        if self.size == 1:
            return self
        MPI = engine().MPI
        mates = Team(self.comm.Split_type(MPI.COMM_TYPE_SHARED, key=self.rank))
        refusal = why_unshared(mates) if mates.size > 1 else None
        if refusal is None:
            return mates
        mates.comm.Free()
        LOG.info("ranks of one machine exchange messages: %s", refusal)
        return Team(MPI.COMM_SELF)

    def range(self, n: int, rank: int | None = None) -> tuple[int, int]:
        """Return (begin, end): a rank owns the rows begin ... end - 1 of n.

        The numbers of rows of two ranks differ by at most one. `rank` is this rank by default.
        ProblemError if there are fewer rows than ranks.
        """
        if n < self.size:
            raise ProblemError(
                f"{n} rows cannot be shared by {self.size} ranks; start at most {n} of them"
            )
        rank = self.rank if rank is None else rank
        each, more = divmod(n, self.size)
        begin = rank * each + min(rank, more)
        return begin, begin + each + (rank < more)

    def gathered(self, value: _Value) -> list[_Value]:
        """Return the values of all ranks, in their order."""
        return self.comm.allgather(value)

    def agreed(self, value: _Value) -> _Value:
        """Return the value of the first rank."""
        return self.comm.bcast(value, root=0)

    def sum(self, part: float) -> float:
        """Sum over the ranks; the same bits on each."""
        return float(self.sums(np.array([part]))[0])

    def sums(self, part: Array) -> Array:
        """Sum each entry over the ranks; the same bits on each."""
        if part.size < MIN_SCATTERED_SIZE or self.size == 1:
            return self._together(part).sum(axis=0)
        # The arrays of all ranks take more messages and memory than parts of them.
        width = -(-part.size // self.size)
        own, of_ranks = np.zeros((2, self.size, width))
        own.reshape(-1)[: part.size] = part.reshape(-1)
        self.comm.Alltoall(own, of_ranks)
        self.comm.Allgather(of_ranks.sum(axis=0), own)
        return own.reshape(-1)[: part.size].reshape(part.shape)

    def largest(self, part: float) -> float:
        """Return the maximum over the ranks; NaN if one has it."""
        return float(self._together(np.array([part])).max())

    def _together(self, part: Array) -> Array:
        """Stack the arrays of all ranks."""
        own = np.ascontiguousarray(part, dtype=np.float64)
        if self.size == 1:
            return own[None]
        stacked = np.empty((self.size, *own.shape))
        self.comm.Allgather(own, stacked)
        return stacked

    def require_same(self, value: Any, what: str) -> None:
        """Raise ProblemError on all ranks unless all values are equal."""
        values = self.gathered(value)
        for rank, other in enumerate(values):
            if other != values[0]:
                raise ProblemError(
                    f"the ranks differ in {what}: rank 0 has {values[0]!r}, rank {rank} has "
                    f"{other!r}; start all of them with the same"
                )

    def require_alike(self) -> None:
        """Refuse ranks with other versions of condal, Python or the libraries than the first."""
        self.require_same({**versions(), **engine().versions()}, "their versions")

    @contextmanager
    def together(self) -> Iterator[None]:
        """Context manager: if one rank fails in the block, all ranks raise its error at the end.

        Inside, a rank must not wait for another.
        """
        error: Exception | None = None
        try:
            yield
        except Exception as raised:
            error = raised
        errors = self.gathered(None if error is None else _SentError.of(error))
        first = next((sent for sent in errors if sent is not None), None)
        if first is None:
            return
        if error is not None and _SentError.of(error) == first:
            raise error
        raise first.as_error()

    @contextmanager
    def solving(self) -> Iterator[None]:
        """Context manager: all ranks follow the decisions of the first and end together.

        An error that one rank meets alone, while others wait for it, aborts all ranks.
        """
        try:
            with agreeing(self):
                yield
        except BaseException as error:
            if not self._all_here():
                self._abort(error)
            raise

    def _all_here(self) -> bool:
        """Whether every rank comes to this place in time."""
        if self.size == 1:
            return True
        request, until = self.comm.Ibarrier(), time.monotonic() + ABORT_AFTER_SECONDS
        while not request.Test():
            if time.monotonic() > until:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _abort(self, error: BaseException) -> NoReturn:
        text = f"rank {self.rank}: {type(error).__name__}: {error}"
        print(text, file=sys.__stderr__, flush=True)  # from any rank, not only from the first
        self.comm.Abort(1)
        raise SystemExit(1)


@dataclass(frozen=True)
class _SentError:
    """An error as it is sent to other ranks."""

    kind: type[Exception]
    text: str
    more: dict[str, Any]
    cause: OSError | None = field(default=None, compare=False)

    @classmethod
    def of(cls, error: Exception) -> _SentError:
        kind, cause = type(error), error.__cause__
        if isinstance(error, CondalError):
            refusal = cause if isinstance(cause, OSError) else None
            return cls(kind, str(error), vars(error), refusal)
        if kind.__module__ == "builtins":
            return cls(kind, str(error), {})
        return cls(CondalError, f"{kind.__name__}: {error}", {})  # others may lack its class

    def as_error(self) -> Exception:
        """Return an error of the same kind and text."""
        error = self.kind.__new__(self.kind, self.text)
        error.args, error.__cause__ = (self.text,), self.cause
        vars(error).update(self.more)
        return error
