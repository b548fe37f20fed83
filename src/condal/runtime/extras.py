"""Optional libraries, which an extra of condal installs, and packages that extend condal."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from condal.errors import MissingExtra

LAB, MPI = "condal-lab", "condal-mpi"  # the packages beside condal


def install(extra: str, package: str = "condal") -> str:
    """Return the command that installs an extra of a package."""
    return f"pip install '{package}[{extra}]'"


def require(library: str, *, what: str, extra: str, package: str = "condal") -> None:
    """Raise MissingExtra if a library is not installed; `what` says what needs it, such as "figures
    need matplotlib"."""
    if find_spec(library) is None:
        raise MissingExtra(f"{what}; install with: {install(extra, package)}")


@cache  # to look through all packages that are installed takes 20 ms
def part(kind: str, name: str, *, package: str, what: str) -> Any:
    """Return what a package adds to condal: its entry point `name` of the group condal.`kind`;
    raise MissingExtra if the package is not installed, where `what` says what is missing."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=f"condal.{kind}", name=name):
        return entry.load()
    raise MissingExtra(f"{what} needs the package {package}; install with: pip install {package}")
