"""Instances, and the sets of them that are run together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from condal.errors import ProblemError
from condal.io.safe_files import PathLike
from condal.lab.bench.sources import locate
from condal.problem import Model, Problem

Build = Callable[[], "Problem | Model"]


@dataclass(frozen=True)
class Case:
    """An instance, and how near to its optimum everyone is to come.

    `needs` names a file of `condal.lab.experiments.data`: `read` makes the instance of it, `build`
    makes what stands in for it, or the instance itself where no file is needed; None where nothing
    can stand in. `tols` are the tolerances of the peers that are asked for another, `also` those
    that ours is tried at too; `alone` keeps the peers out. `optimum` is what is known of it.
    """

    name: str
    title: str
    tol: float
    build: Build | None
    needs: str | None = None
    read: Callable[[Path], Problem | Model] | None = None
    tols: Mapping[str, float] = field(default_factory=dict)
    also: tuple[float, ...] = ()
    alone: bool = False
    n: int = 0
    optimum: float | None = None

    def locate(self, data: PathLike | None) -> Path | None:
        """The file of the instance; None where it needs none, or none is found."""
        return None if self.needs is None else locate(self.needs, data)

    def model(self, path: Path | None) -> Problem | Model:
        """The instance of the file, or what is generated."""
        if path is not None and self.read is not None:
            return self.read(path)
        if self.build is None:
            raise ProblemError(f"the file of {self.name} is not there; nothing stands in for it")
        return self.build()

    def missing(self, path: Path | None) -> bool:
        """Whether there is nothing to run."""
        return path is None and self.build is None

    def stands_in(self, path: Path | None) -> bool:
        """Whether the instance is not the real one."""
        return self.needs is not None and path is None


@dataclass(frozen=True)
class Set:
    """Instances that are run together."""

    name: str
    title: str
    cases: tuple[Case, ...]

    def case(self, name: str) -> Case:
        """The instance of that name."""
        found = {case.name.lower(): case for case in self.cases}
        if name.lower() not in found:
            names = ", ".join(case.name for case in self.cases)
            raise ProblemError(f"the set {self.name} has no instance {name!r}; it has {names}")
        return found[name.lower()]
