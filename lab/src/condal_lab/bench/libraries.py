"""The programs of SDPLIB and of the DIMACS challenge that have a single matrix variable.

Programs with several matrices, or without a bound on the trace, are left out: the standard form
of the peers and the domain of condal would describe different problems.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from condal.io.formats import read_graph
from condal.problem import Model
from condal.problems import max_cut
from condal.problems.conic import conic_model
from condal.problems.conic.files import read_sdpa, read_sedumi
from condal.problems.conic.program import Program
from condal_lab.bench.cases import BenchCase, Set
from condal_lab.experiments.public import SOURCES

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
