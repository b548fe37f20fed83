"""The set `conic`: what each instance is, and what is known about it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from condal.problems.conic.files import SdpaProblem
from condal_lab.bench.cases import SDPLIB, BenchCase, Quality, Set, program
from condal_lab.bench.conic import everyday, families
from condal_lab.bench.conic.through_cvxpy import CvxpyQuestion, ResolveQuestion
from condal_lab.bench.conic.through_file import CVXPY_START, FILE_START, FileQuestion, Truth
from condal_lab.bench.peers.peer import PeerAnswer
from condal_lab.experiments.data import SOURCES

TOL = 1e-4
IN_CVXPY, IN_FILES = ("SCS", "Clarabel"), ("CSDP", "SDPA", "SCS", "Clarabel")
BY_CSDP = ("CSDP", "SDPA")
STARTS, FILES = "start-up", "programs of files"
EVERYDAY, LARGE = "everyday problems in CVXPY", "larger, in CVXPY"

# ---- files ---------------------------------------------------------------------------------------

MAX_SIDE = 1000  # of the instances of `sdplib` and `dimacs` that are small enough for CSDP
MAX_PEER_SIDE = 100  # SCS and Clarabel take minutes and gigabytes above it


def _question(truth: Truth, path: Path) -> FileQuestion:
    return FileQuestion(program(path), truth)


def _file(name: str) -> BenchCase:
    known = SOURCES[name]
    optimum = float("nan") if known.optimum is None else known.optimum
    return BenchCase(
        name,
        known.title,
        TOL,
        None,
        name,
        partial(_question, Truth(known.status, optimum)),
        peers=IN_FILES if known.n <= MAX_PEER_SIDE else BY_CSDP,
        n=known.n,
        optimum=known.optimum,
        group=FILES,
        rivals=("CSDP",),
    )


def _files() -> list[str]:
    """Return the programs of several matrices, and those of one that the peers solve in seconds.

    SDPLIB's words infeasible are about minimise b'z, those of `SOURCES` about its dual in X.
    """
    several = [name for name, known in SOURCES.items() if known.kind and not known.n]
    one = [case.name for case in SDPLIB.cases if case.n <= MAX_SIDE]
    return [*several, *one, "hamming_7_5_6"]


# ---- CVXPY ---------------------------------------------------------------------------------------


def _everyday(build: everyday.Build) -> BenchCase:
    name = build.__name__.replace("_", "-")
    title = (build.__doc__ or "").splitlines()[0].rstrip(".")
    question = partial(CvxpyQuestion, build)
    return BenchCase(name, title, TOL, question, peers=IN_CVXPY, group=EVERYDAY)


def _correlation(n: int, optimum: float) -> BenchCase:
    title = f"Nearest correlation matrix, n = {n}"
    build = partial(CvxpyQuestion, partial(everyday.correlation, n=n, optimum=optimum))
    return BenchCase(f"correlation-{n}", title, TOL, build, peers=("SCS",), n=n, group=LARGE)


# ---- families ------------------------------------------------------------------------------------

COUNT = 15
TITLES = {
    "truss": "least compliance, in displacements",
    "control": "decay with a diagonal scaling",
    "hinf": "bounded real lemma",
    "arch": "lightest truss of bounded bars",
}
CONTROL_OPTIMA = (
    *(-0.708324197, -1.199032214, -0.401763714, -0.805364122, -0.827700478),
    *(-1.124911062, -0.566509763, -0.264890171, -1.015229596, -0.883860937),
    *(-0.599379068, -1.040382876, -0.399698412, -0.469672430, -0.656514319),
)
# By the second-order program of the forces in the bars; the second is infeasible in z.
ARCH_OPTIMA = (
    *(0.651262810, None, 0.516388598, 0.693651181, 0.5, 0.500362015, 0.534773823, 0.520205971),
    *(0.500281544, 0.501169461, 0.5, 0.503523960, 0.5, 0.5, 0.5),
)


def member(family: str, k: int) -> tuple[SdpaProblem, Truth]:
    """Return a program of a family and what is known about it; sizes grow with k = 0, 1, ..."""
    columns, rows = 3 + k // 4, 2 + k % 4
    if family == "truss":
        ground = families.ground_structure(columns, rows, seed=100 + k)
        truth = Truth(optimum=-ground.compliance())
        return families.truss(columns, rows, seed=100 + k), truth
    if family == "arch":
        optimum = ARCH_OPTIMA[k]
        truth = Truth("unbounded") if optimum is None else Truth(optimum=optimum)
        return families.arch(columns, rows, seed=200 + k), truth
    if family == "control":
        return families.control(columns, seed=300 + k), Truth(optimum=CONTROL_OPTIMA[k])
    n = 3 + k // 3
    gain = families.peak_gain(*families.stable_system(n, 2, seed=400 + k))
    return families.h_infinity(n, seed=400 + k), Truth(optimum=gain**2)


def _generated(family: str, k: int) -> FileQuestion:
    problem, truth = member(family, k)
    return FileQuestion(problem.program, truth)


def family_group(family: str) -> str:
    """Return the group of a family's programs."""
    return f"hard family: {family}"


def _family(family: str) -> list[BenchCase]:
    return [
        BenchCase(
            f"{family}-{k + 1}",
            TITLES[family],
            TOL,
            partial(_generated, family, k),
            peers=BY_CSDP,
            group=family_group(family),
            rivals=("CSDP",),
        )
        for k in range(COUNT)
    ]


HOW = (
    "Right: the status is the known one, and value and constraints are within the tolerance. "
    "Short: within ten times the tolerance; a peer that is short runs again at a smaller one. "
    "Wrong: another status, or a value farther away. No verdict: any other status, or none in "
    "time. x is condal's CPU time over the best rival's that is right, below 1 if condal is "
    "faster; the rival is CSDP for programs of files and families, else the better of SCS and "
    "Clarabel. CPU times are those of the solver alone, from the cone program that CVXPY hands "
    "over to the solver's answer, without start-up and imports; CSDP's include its reading of the "
    "file. Whole x is the same ratio for problem.solve(), with CVXPY's compilation, which every "
    "solver needs, and its unpacking of the answer."
)


def later_share(_: Any, answer: PeerAnswer) -> float:
    """Return the time of a later solve over that of the first."""
    return float(answer.recovered.later_share)


CONIC = Set(
    "conic",
    "programs of files, everyday problems of CVXPY and hard families, to 1e-4",
    (
        BenchCase(
            "start-cvxpy",
            "import CVXPY and the solver, solve a linear program",
            TOL,
            lambda: CVXPY_START,
            peers=IN_CVXPY,
            group=STARTS,
        ),
        BenchCase(
            "start-file",
            "the whole command on a tiny file",
            TOL,
            lambda: FILE_START,
            peers=BY_CSDP,
            group=STARTS,
        ),
        *map(_everyday, everyday.PROBLEMS),
        _correlation(400, 19234.34166),
        BenchCase(
            "re-solve",
            "a parametrised portfolio, solved 51 times, with CVXPY's own work",
            TOL,
            ResolveQuestion,
            peers=IN_CVXPY,
            group=LARGE,
            quality=Quality("share of the first solve that a later one takes", later_share),
        ),
        *map(_file, _files()),
        *(case for family in TITLES for case in _family(family)),
    ),
    compact=HOW,
)
