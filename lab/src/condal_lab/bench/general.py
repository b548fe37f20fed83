"""The set `general`: constraints beyond a fixed diagonal, completion and phase retrieval."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from condal.io.formats import read_graph
from condal.problem import Model
from condal.problems import bisection, max_cut, max_k_cut, theta
from condal_lab.bench.cases import BenchCase, Quality, Set, Written
from condal_lab.bench.generated import sparse_graph, sparse_rows, uniform_graph
from condal_lab.bench.libraries import cut, sdpa
from condal_lab.bench.truths import (
    TEST_ERROR,
    Ratings,
    diffraction,
    noisy_entries,
    ratings,
    star_ratings,
)
from condal_lab.experiments.stand_ins import planar_union, random_graph

INTERIOR = ("SCS", "CSDP", "LoRADS", "SDPLR")
FACTORED = ("LoRADS", "SDPLR")
GROWING = (1_000, 3_162, 10_000, 31_623)


def _theta(n: int, edges: int, tol: float, peers: tuple[str, ...], *also: float) -> BenchCase:
    title = f"theta of a random graph, n = {n:,}, {edges:,} edges"
    # Above this side a decomposition takes minutes.
    units = ("eigh",) if n <= 2_000 else ()
    build = partial(_theta_of_random, n, edges)
    return BenchCase(f"theta-{n}", title, tol, build, also=also, peers=peers, yardsticks=units, n=n)


def _theta_of_random(n: int, edges: int) -> Model:
    return theta(uniform_graph(n, edges))


def _growing(n: int) -> BenchCase:
    title, build = f"theta, n = {n:,}, {3 * n:,} edges", partial(_theta_of_random, n, 3 * n)
    return BenchCase(f"grown-{n}", title, 1e-3, build, peers=(), n=n)


def _theta_of_file(path: Path) -> Model:
    return theta(read_graph(path))


def _theta_of_stand_in() -> Model:
    return theta(planar_union(1_000))


def _cut_of_stand_in() -> Model:
    return max_cut(random_graph(800))


def _bisection_of_file(path: Path) -> Model:
    return bisection(read_graph(path))


def _bisection_of_stand_in() -> Model:
    return bisection(random_graph(800))


def _bisection_of_random(n: int) -> Model:
    return bisection(sparse_graph(n, degree=10.0))


def _three_cut(n: int) -> BenchCase:
    title = f"max-3-cut with edge inequalities, degree 10, n = {n:,}"
    build = partial(_three_cut_of_random, n)
    return BenchCase(f"3cut-{n}", title, 1e-3, build, peers=FACTORED, n=n)


def _three_cut_of_random(n: int) -> Model:
    return max_k_cut(sparse_graph(n, degree=10.0), 3, pairs="edges")


def _ratings() -> Written:
    return ratings(Ratings.split(*star_ratings(1_000, 1_700, 100_000)))


def _phase(side: int, noise: float) -> BenchCase:
    n, seen = side * side, f" with {100 * noise:g}% noise" if noise else ""
    title = f"phase retrieval, coded diffraction{seen}, n = {n:,}"
    build = partial(diffraction, side, noise)
    error = Quality("distance from the signal", lambda model, answer: model.signal_error(answer))
    return BenchCase(f"phase-{n}", title, 1e-3, build, peers=(), n=n, quality=error)


GENERAL = Set(
    "general",
    "constraints beyond a fixed diagonal, completion and phase retrieval",
    (
        _theta(1_000, 5_000, 1e-6, INTERIOR),
        _theta(2_000, 10_000, 1e-6, (), 1e-4),
        _theta(5_000, 15_000, 1e-5, ()),
        _theta(20_000, 60_000, 1e-3, ()),
        BenchCase(
            "thetaG11",
            "theta, n = 801, 2,401 rows",
            1e-5,
            None,
            "thetaG11",
            sdpa,
            peers=INTERIOR,
            n=801,
            optimum=400.0,
        ),
        BenchCase(
            "theta-G51",
            "theta of G51, n = 1,000, 5,909 edges",
            1e-5,
            _theta_of_stand_in,
            "G51",
            _theta_of_file,
            peers=INTERIOR,
            n=1_000,
        ),
        _three_cut(2_000),
        _three_cut(5_000),
        BenchCase(
            "gpp500-1",
            "equipartition, n = 500, 501 rows",
            1e-4,
            None,
            "gpp500-1",
            sdpa,
            peers=INTERIOR,
            n=500,
            optimum=-25.320543879075787,
        ),
        BenchCase(
            "cut-G1",
            "max-cut of G1",
            1e-6,
            _cut_of_stand_in,
            "G1",
            cut,
            also=(1e-3,),
            peers=(),
            n=800,
        ),
        BenchCase(
            "bisection-G1",
            "bisection of G1",
            1e-6,
            _bisection_of_stand_in,
            "G1",
            _bisection_of_file,
            also=(1e-3,),
            peers=(),
            n=800,
        ),
        BenchCase(
            "bisection-20000",
            "bisection of a random graph, degree 10, n = 20,000",
            1e-3,
            partial(_bisection_of_random, 20_000),
            peers=(),
            n=20_000,
        ),
        BenchCase(
            "inner-5000",
            "sparse equations, n = 5,000, 25,000 rows",
            1e-4,
            partial(sparse_rows, 5_000, 25_000),
            peers=FACTORED,
            n=5_000,
        ),
        BenchCase(
            "ratings",
            "completion, 1,000 x 1,700, 100,000 ratings, the radius chosen",
            1e-2,
            _ratings,
            peers=(),
            yardsticks=("soft-impute",),
            n=2_700,
            quality=TEST_ERROR,
        ),
        BenchCase(
            "completion-5000",
            "completion, 5,000 x 5,000, 10^6 noisy entries",
            1e-3,
            partial(noisy_entries, 5_000, 10**6),
            peers=(),
            n=10_000,
        ),
        _phase(16, 0.05),
        _phase(1_000, 0.0),
        *map(_growing, GROWING),
    ),
    growing=tuple(f"grown-{n}" for n in GROWING),
)
