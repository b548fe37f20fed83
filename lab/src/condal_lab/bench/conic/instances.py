"""The set `conic`: what each instance is, and what is known about it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from condal.problems.conic.files import SdpaProblem, read_sdpa, read_sedumi
from condal_lab.bench.cases import BenchCase, Quality, Set
from condal_lab.bench.conic import everyday, families
from condal_lab.bench.conic.question import Truth
from condal_lab.bench.conic.through_cvxpy import CvxpyQuestion, ResolveQuestion
from condal_lab.bench.conic.through_file import CvxpyStart, FileQuestion, FileStart
from condal_lab.bench.libraries import DIMACS, SDPLIB
from condal_lab.bench.peers.peer import PeerAnswer

TOL = 1e-4
IN_CVXPY, IN_FILES = ("SCS", "Clarabel"), ("CSDP", "SDPA", "SCS", "Clarabel")
BY_CSDP = ("CSDP", "SDPA")
STARTS, FILES = "start-up", "programs of files"
EVERYDAY, LARGE = "everyday problems in CVXPY", "larger, in CVXPY"

# ---- files ---------------------------------------------------------------------------------------

# SDPA-GMP's optima, except those of hinf1 (SDPLIB's table; SDPA-GMP does not solve it) and of the
# sparse programs (CSDP).
OPTIMA = {
    "arch0": 0.56651727321592959,
    "control1": 17.784626717523405,
    "control2": 8.2999999857902351,
    "control3": 13.633266228377313,
    "hinf1": 2.0326,
    "truss1": -8.9999963152868905,
    "truss5": -132.63567797250604,
    "buck1": 146.41915,
    "mater-1": -143.46544,
    "shmup1": 188.41483,
    "trto1": 1104.5,
    "vibra1": 40.819012,
}
TRUTHS = {
    **{name: Truth(optimum=optimum) for name, optimum in OPTIMA.items()},
    # SDPLIB's words infeasible are about minimise b'z, condal's about its dual in X.
    "infd1": Truth("infeasible"),
    "infp1": Truth("unbounded"),
}
KINDS = {
    "arch": "topology of an arch",
    "control": "control",
    "hinf": "H-infinity control",
    "truss": "truss topology",
    "buck": "truss with a buckling constraint",
    "mater": "free material design",
    "shmup": "free material design with a vibration constraint",
    "trto": "truss topology, single load",
    "vibra": "truss with a vibration constraint",
    "infd": "no feasible X",
    "infp": "no bound",
}
MAX_SIDE = 1000  # of the instances of `sdplib` and `dimacs` that are small enough for CSDP
MAX_PEER_SIDE = 100  # SCS and Clarabel take minutes and gigabytes above it


def _read_sdpa(truth: Truth, path: Path) -> FileQuestion:
    return FileQuestion(read_sdpa(path).program, truth)


def _read_sedumi(truth: Truth, path: Path) -> FileQuestion:
    return FileQuestion(read_sedumi(path), truth)


def _file(
    name: str, truth: Truth, title: str = "", *, n: int = 0, sedumi: bool = False
) -> BenchCase:
    read = partial(_read_sedumi if sedumi else _read_sdpa, truth)
    known = truth.optimum if truth.status == "optimal" else None
    title = title or KINDS[name.rstrip("0123456789-")]
    return BenchCase(
        name,
        title,
        TOL,
        None,
        name,
        read,
        peers=IN_FILES if n <= MAX_PEER_SIDE else BY_CSDP,
        n=n,
        optimum=known,
        group=FILES,
        rivals=("CSDP",),
    )


def _library() -> list[BenchCase]:
    """The programs of `sdplib` and `dimacs` that the peers can solve in seconds."""
    small = [case for case in SDPLIB.cases if case.n <= MAX_SIDE]
    hamming = [case for case in DIMACS.cases if case.name == "hamming_7_5_6"]
    return [
        _file(case.name, Truth(optimum=case.optimum or 0.0), case.title, n=case.n, sedumi=sedumi)
        for cases, sedumi in ((small, False), (hamming, True))
        for case in cases
    ]


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
            CvxpyStart,
            peers=IN_CVXPY,
            group=STARTS,
        ),
        BenchCase(
            "start-file",
            "the whole command on a tiny file",
            TOL,
            FileStart,
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
        *(_file(name, truth) for name, truth in TRUTHS.items()),
        *_library(),
        *(case for family in TITLES for case in _family(family)),
    ),
    compact=HOW,
)
