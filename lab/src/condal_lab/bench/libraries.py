"""The programs of SDPLIB and of the DIMACS challenge that have a single matrix variable.

Programs with several matrices, or without a bound on the trace, are left out: the standard form
of the peers and the domain of condal would describe different problems.
"""

from __future__ import annotations

from pathlib import Path

from condal.io.formats import read_graph
from condal.problem import Model
from condal.problems import max_cut
from condal.problems.conic import conic_model
from condal.problems.conic.files import read_sdpa, read_sedumi
from condal_lab.bench.cases import BenchCase, Set

TOL, TORUS_TOL = 1e-4, 1e-5


def cut(path: Path) -> Model:
    """Read a graph and return its max-cut model."""
    return max_cut(read_graph(path))


def sdpa(path: Path) -> Model:
    """Read a program in SDPA's format."""
    return conic_model(read_sdpa(path).program)


def _sedumi(path: Path) -> Model:
    return conic_model(read_sedumi(path))


def _program(name: str, kind: str, n: int, m: int, optimum: float) -> BenchCase:
    title = f"{kind}, n = {n:,}, {m:,} rows"
    return BenchCase(name, title, TOL, None, name, sdpa, n=n, optimum=optimum)


def _torus(name: str, n: int, optimum: float) -> BenchCase:
    title = f"max-cut of a torus, n = {n:,}"
    return BenchCase(name, title, TORUS_TOL, None, name, cut, n=n, optimum=optimum)


def _hamming(name: str, n: int, m: int, optimum: float) -> BenchCase:
    title = f"theta of a Hamming graph, n = {n:,}, {m:,} rows"
    return BenchCase(name, title, TORUS_TOL, None, name, _sedumi, n=n, optimum=optimum)


# The optima are those of SDPA-GMP. They have more digits than the library's own table, which is
# wrong for maxG51. The optimum of maxG60 is the table's, with more digits from max-cut of G60, the
# same graph.
SDPLIB = Set(
    "sdplib",
    "SDPLIB, the programs of one matrix, to 1e-4",
    (
        _program("mcp100", "max-cut", 100, 100, 226.15735148330884),
        _program("mcp250-1", "max-cut", 250, 250, 317.26434034357982),
        _program("mcp500-1", "max-cut", 500, 500, 598.14851691875962),
        _program("maxG11", "max-cut", 800, 800, 629.16478300199902),
        _program("maxG51", "max-cut", 1000, 1000, 4006.2555216534127),
        _program("maxG32", "max-cut", 2000, 2000, 1567.6396446800114),
        _program("maxG60", "max-cut", 7000, 7000, 15222.268025),
        _program("gpp100", "equipartition", 100, 101, -44.943550775891146),
        _program("gpp250-1", "equipartition", 250, 251, -15.444916882934067),
        _program("gpp500-1", "equipartition", 500, 501, -25.320543879075787),
        _program("theta1", "theta", 50, 104, 23.0),
        _program("theta2", "theta", 100, 498, 32.879169015772581),
        _program("theta3", "theta", 150, 1106, 42.166981488494406),
        _program("theta4", "theta", 200, 1949, 50.321221951837344),
        _program("thetaG11", "theta", 801, 2401, 400.0),
        _program("qap5", "quadratic assignment", 26, 136, -436.0),
        _program("qap7", "quadratic assignment", 50, 358, -424.81971023200053),
        _program("qpG11", "box-constrained quadratic", 1600, 800, 2448.6591320079961),
    ),
)

# The weights of the tori are those of the files: in torusg3-8, 10^5 times the challenge's.
DIMACS = Set(
    "dimacs",
    "the tori and Hamming graphs of the DIMACS challenge to 1e-5",
    (
        _torus("toruspm3-8-50", 512, 527.808663169),
        _torus("torusg3-8", 512, 45735817.9485),
        _torus("toruspm3-15-50", 3375, 3475.131862),
        _hamming("hamming_7_5_6", 128, 1793, -128 / 3),
        _hamming("hamming_8_3_4", 256, 16129, -25.6),
    ),
)
