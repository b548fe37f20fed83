"""MPI, PETSc and SLEPc, imported where they are used and not before."""

from __future__ import annotations

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
from condal.runtime.extras import install

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

    def versions(self) -> dict[str, str]:
        """Those of the libraries behind them."""
        numbers = {"petsc": self.PETSc.Sys.getVersion(), "slepc": self.SLEPc.Sys.getVersion()}
        found = {name: ".".join(map(str, number)) for name, number in numbers.items()}
        return {**found, "mpi": self.MPI.Get_library_version().split("\n")[0].strip("\0 ,")}


@cache
def engine() -> Engine:
    """The modules; MissingExtra, with the command that installs them, where there are none."""
    try:
        MPI = import_module("mpi4py.MPI")
        for name in ("petsc", "slepc"):
            _find(name)
            import_module(f"{name}4py").init([])
        found = Engine(MPI, import_module("petsc4py.PETSc"), import_module("slepc4py.SLEPc"))
    # mpi4py finds no MPI: RuntimeError; one is built for another NumPy: ValueError.
    except (ImportError, RuntimeError, ValueError) as error:
        raise MissingExtra(
            f"condal.distributed needs mpi4py, petsc4py and slepc4py ({error}): {INSTALL}"
        ) from error
    if found.PETSc.ScalarType is not np.float64:
        raise MissingExtra(
            "condal.distributed needs a PETSc of real numbers in double precision, and this one "
            f"has {found.PETSc.ScalarType.__name__}: set PETSC_DIR to another, or {INSTALL}"
        )
    return found


def _find(name: str) -> None:
    """See to it that petsc4py and slepc4py of Debian are found, unless others are."""
    folders = sorted(DEBIAN.glob(f"{name}dir/{name}*3*/*-real"), key=_release)
    if folders and find_spec(f"{name}4py") is None:
        sys.path.append(str(folders[-1] / "lib/python3/dist-packages"))


def _release(folder: Path) -> tuple[bool, list[int]]:
    """Its version, that of 32-bit indices last: it is the one that Debian takes by itself."""
    name = folder.parent.name
    return "64" not in name.partition("3.")[0], [int(one) for one in re.findall(r"\d+", name)]
