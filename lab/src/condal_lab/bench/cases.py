"""Benchmark instances, the sets that are run together, and those of SDPLIB and of DIMACS.

Of these two, programs with several matrices, or without a bound on the trace, are left out: the
standard form of the peers and the domain of condal would describe different problems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condal.errors import ProblemError
from condal.io.formats import read_graph
from condal.io.safe_files import PathLike
from condal.problem import Model, Problem, problem_of
from condal.problems import max_cut
from condal.problems.conic import conic_model
from condal.problems.conic.files import read_sdpa, read_sedumi
from condal.problems.conic.program import Program
from condal_lab.experiments.data import SOURCES, find

if TYPE_CHECKING:
    from condal_lab.bench.conic.through_file import Question
    from condal_lab.bench.peers.peer import PeerAnswer

Build = Callable[[], "Problem | Model | Question"]
# Takes a model and a tolerance; returns a result of condal, a value, or x as users see it.
Solver = Callable[[Any, float], Any]


@dataclass(frozen=True, eq=False)
class Written:
    """A model with solvers of its own, by name: what users would write in place of it.

    The solvers return x, or `recovers` is set: what they return is not a point of the problem.
    """

    model: Any
    solvers: Mapping[str, Solver]
    recovers: bool = False

    @property
    def problem(self) -> Problem:
        """The problem of the model, which may be one itself."""
        return problem_of(self.model)


@dataclass(frozen=True)
class Quality:
    """A property of an answer, such as its test error: `measure` takes the model and the answer."""

    name: str
    measure: Callable[[Any, PeerAnswer], float]


@dataclass(frozen=True)
class BenchCase:
    """An instance and the tolerance that every solver has to reach.

    `needs` names a file of `condal_lab.experiments.data`, and `read` makes the instance from it.
    `build` generates a stand-in, or the instance itself if it needs no file; None if there is no
    stand-in. `tols` overrides the tolerance for some peers, `also` lists further tolerances for
    condal. `peers` are the only peers that run, None for all; `yardsticks` always run. `optimum` is
    the known optimum, `quality` what else is measured of an answer, `group` the heading that the
    instance stands under on a compact page, `rivals` the peers whose best time it is compared with
    there, all by default.
    """

    name: str
    title: str
    tol: float
    build: Build | None
    needs: str | None = None
    read: Callable[[Path], Problem | Model | Question] | None = None
    tols: Mapping[str, float] = field(default_factory=dict)
    also: tuple[float, ...] = ()
    peers: tuple[str, ...] | None = None
    yardsticks: tuple[str, ...] = ()
    n: int = 0
    optimum: float | None = None
    quality: Quality | None = None
    group: str = ""
    rivals: tuple[str, ...] = ()

    def locate(self, data: PathLike | None) -> Path | None:
        """Return the path of the instance's file; None if it needs none or none is available."""
        return None if self.needs is None else locate(self.needs, data)

    def model(self, path: Path | None) -> Problem | Model | Question:
        """Read the instance from its file, or generate it."""
        if path is not None and self.read is not None:
            return self.read(path)
        if self.build is None:
            raise ProblemError(f"the file of {self.name} is missing, and there is no stand-in")
        return self.build()

    def missing(self, path: Path | None) -> bool:
        """Return whether there is neither a file nor a stand-in."""
        return path is None and self.build is None

    def stands_in(self, path: Path | None) -> bool:
        """Return whether a generated instance replaces the real one."""
        return self.needs is not None and path is None


@dataclass(frozen=True)
class Set:
    """A set of instances that are run together.

    A set of many small ones has a page with a row per instance, grouped, and a summary; `compact`
    is what it says about its times and verdicts. The page gives the growth of condal's time with n
    over the instances `growing`.
    """

    name: str
    title: str
    cases: tuple[BenchCase, ...]
    compact: str = ""
    growing: tuple[str, ...] = ()

    def case(self, name: str) -> BenchCase:
        """Return the instance of that name, in upper or lower case."""
        by_name = {case.name.lower(): case for case in self.cases}
        if name.lower() not in by_name:
            names = ", ".join(case.name for case in self.cases)
            raise ProblemError(f"the set {self.name} has no instance {name!r}; it has {names}")
        return by_name[name.lower()]


def locate(name: str, data: PathLike | None) -> Path | None:
    """Return the path of a public file, its contents checked; None if it is not available.

    A data folder that does not exist and a file with other contents are errors.
    """
    try:
        return find(name, data)
    except ProblemError as error:
        if str(error).startswith(f"the file {name} is not in"):
            return None
        raise


TOL, TORUS_TOL = 1e-4, 1e-5


def cut(path: Path) -> Model:
    """Read a graph and return its max-cut model."""
    return max_cut(read_graph(path))


def program(path: Path) -> Program:
    """Read a conic program in SDPA's format, or SeDuMi's."""
    return read_sedumi(path) if ".mat" in path.suffixes else read_sdpa(path).program


def conic(path: Path) -> Model:
    """Read a conic program and return its model."""
    return conic_model(program(path))


def program_case(name: str, tol: float, read: Callable[[Path], Model], **more: Any) -> BenchCase:
    """Return the instance of a public file."""
    known = SOURCES[name]
    facts = {"n": known.n, "optimum": known.optimum, **more}
    return BenchCase(name, known.title, tol, None, name, read, **facts)


def _programs(folder: str) -> list[str]:
    """Return the programs of one matrix in a folder of the public files."""
    return [name for name, known in SOURCES.items() if known.n and known.place.startswith(folder)]


SDPLIB = Set(
    "sdplib",
    "SDPLIB, the programs of one matrix, to 1e-4",
    tuple(program_case(name, TOL, conic) for name in _programs("sdplib/")),
)
DIMACS = Set(
    "dimacs",
    "the tori and Hamming graphs of the DIMACS challenge to 1e-5",
    tuple(
        program_case(name, TORUS_TOL, conic if name.startswith("hamming") else cut)
        for name in _programs("dimacs7/")
    ),
)
