"""The set `general`: constraints beyond a fixed diagonal, completion and phase retrieval."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from condal.io.formats import read_graph
from condal.problem import Model
from condal.problems import bisection, max_cut, max_k_cut, theta
from condal_lab.bench.cases import BenchCase, Build, Quality, Set, Written, conic, program_case
from condal_lab.bench.truths import (
    TEST_ERROR,
    Ratings,
    diffraction,
    noisy_entries,
    ratings,
    star_ratings,
)
from condal_lab.generated import (
    planar_union,
    random_graph,
    sparse_graph,
    sparse_rows,
    uniform_graph,
)

INTERIOR = ("SCS", "CSDP", "LoRADS", "SDPLR")
FACTORED = ("LoRADS", "SDPLR")
GROWING = (1_000, 3_162, 10_000, 31_623)
G1_LIKE = partial(random_graph, 800)
ROUGH_TOO: dict[str, Any] = {"also": (1e-3,), "peers": (), "n": 800}


def _theta(n: int, edges: int, tol: float, peers: tuple[str, ...], *also: float) -> BenchCase:
    title = f"theta of a random graph, n = {n:,}, {edges:,} edges"
    # Above this side a decomposition takes minutes.
    units = ("eigh",) if n <= 2_000 else ()
    build = _theta_of_random(n, edges)
    return BenchCase(f"theta-{n}", title, tol, build, also=also, peers=peers, yardsticks=units, n=n)


def _theta_of_random(n: int, edges: int) -> Build:
    return lambda: theta(uniform_graph(n, edges))


def _growing(n: int) -> BenchCase:
    title, build = f"theta, n = {n:,}, {3 * n:,} edges", _theta_of_random(n, 3 * n)
    return BenchCase(f"grown-{n}", title, 1e-3, build, peers=(), n=n)


def _of_graph(
    name: str, title: str, tol: float, model: Callable[[Any], Model], stand_in: Any, **more: Any
) -> BenchCase:
    """Return a model of the graph that its name ends with; a stand-in is called to be made."""
    _, file = name.split("-")
    return BenchCase(
        name,
        title,
        tol,
        lambda: model(stand_in()),
        file,
        lambda path: model(read_graph(path)),
        **more,
    )


def _three_cut(n: int) -> BenchCase:
    def build() -> Model:
        return max_k_cut(sparse_graph(n, degree=10.0), 3, pairs="edges")

    title = f"max-3-cut with edge inequalities, degree 10, n = {n:,}"
    return BenchCase(f"3cut-{n}", title, 1e-3, build, peers=FACTORED, n=n)


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
        program_case("thetaG11", 1e-5, conic, peers=INTERIOR),
        _of_graph(
            "theta-G51",
            "theta of G51, n = 1,000, 5,909 edges",
            1e-5,
            theta,
            partial(planar_union, 1_000),
            peers=INTERIOR,
            n=1_000,
        ),
        _three_cut(2_000),
        _three_cut(5_000),
        program_case("gpp500-1", 1e-4, conic, peers=INTERIOR),
        _of_graph("cut-G1", "max-cut of G1", 1e-6, max_cut, G1_LIKE, **ROUGH_TOO),
        _of_graph("bisection-G1", "bisection of G1", 1e-6, bisection, G1_LIKE, **ROUGH_TOO),
        BenchCase(
            "bisection-20000",
            "bisection of a random graph, degree 10, n = 20,000",
            1e-3,
            lambda: bisection(sparse_graph(20_000, degree=10.0)),
            peers=(),
            n=20_000,
        ),
        BenchCase(
            "inner-5000",
            "sparse equations, n = 5,000, 25,000 rows",
            1e-4,
            lambda: sparse_rows(5_000, 25_000),
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
