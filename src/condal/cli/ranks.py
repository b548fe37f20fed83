"""--distributed: the package condal-mpi runs a command on the ranks that mpirun or srun started."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from io import StringIO
from pathlib import Path
from typing import Any

from condal.errors import ProblemError
from condal.runtime.extras import MPI, part

# Environment variables with the number of processes and the rank: Open MPI, MPICH and others.
WORLD = (("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"))


def engine() -> Any:
    """Return what runs a command on ranks: `condal_mpi.commands.ranks`."""
    return part("parts", "ranks", package=MPI, what="a solve on several ranks")


def refuse_crowd(advice: str) -> None:
    """Raise ProblemError if mpirun started several processes, which would all do the same work.

    Only the first process prints the error.
    """
    for size, rank in WORLD:
        count = os.environ.get(size, "")
        if count.isdecimal() and int(count) > 1:
            if os.environ.get(rank, "0") != "0":
                sys.stdout = sys.stderr = StringIO()
            raise ProblemError(f"mpirun or the like started condal {count} times: {advice}")


def refusing_together(distributed: bool) -> AbstractContextManager[None]:
    """Return a context in which all ranks refuse if one does."""
    together: AbstractContextManager[None] = (
        engine().refusing_together() if distributed else nullcontext()
    )
    return together


def folder_reader(file: str) -> Callable[[str], dict[str, Any]] | None:
    """Return the function that reads the header of a distributed checkpoint; None for a file."""
    if not Path(file).is_dir():
        return None
    reader: Callable[[str], dict[str, Any]] = engine().folder_reader(file)
    return reader
