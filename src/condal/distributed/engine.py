"""MPI, PETSc and SLEPc, imported where they are used and not before."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from condal.errors import MissingExtra
from condal.extras import install

INSTALL = (
    "apt-get install python3-mpi4py python3-petsc4py python3-slepc4py openmpi-bin on Debian (and a "
    f"venv of its own python3 with --system-site-packages), or {install('distributed')}"
)
DEBIAN = Path("/usr/lib")  # in folders of which its packages are, by their versions


@dataclass(frozen=True)
class Engine:
    """The modules MPI, PETSc and SLEPc."""

    MPI: Any
    PETSc: Any
    SLEPc: Any


@cache
def engine() -> Engine:
    """The modules; MissingExtra, with the command that installs them, where there are none."""
    try:
        MPI = import_module("mpi4py.MPI")
        for name in ("petsc", "slepc"):
            _find(name)
            import_module(f"{name}4py").init([])
        return Engine(MPI, import_module("petsc4py.PETSc"), import_module("slepc4py.SLEPc"))
    except (ImportError, RuntimeError) as error:  # mpi4py finds no MPI: RuntimeError
        raise MissingExtra(
            f"condal.distributed needs mpi4py, petsc4py and slepc4py ({error}): {INSTALL}"
        ) from error


def _find(name: str) -> None:
    """See to it that petsc4py and slepc4py of Debian are found, unless others are."""
    folders = sorted(DEBIAN.glob(f"{name}dir/{name}3*/*-real"))
    if folders and find_spec(f"{name}4py") is None:
        sys.path.append(str(folders[-1] / "lib/python3/dist-packages"))
