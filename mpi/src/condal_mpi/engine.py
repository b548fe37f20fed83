"""MPI, PETSc and SLEPc, imported when they are used."""

from __future__ import annotations

import atexit
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from condal.errors import MissingExtra
from condal.runtime.extras import MPI, install

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
