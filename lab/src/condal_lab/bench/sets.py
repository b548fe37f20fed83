"""The sets of instances. To add a set, add an entry to `SETS`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from condal.errors import ProblemError
from condal.io.formats import read_graph
from condal.problem import Model
from condal.problems import bisection, k_means, max_cut, max_k_cut, theta
from condal_lab import generated
from condal_lab.bench.applications import APPLICATIONS
from condal_lab.bench.cases import DIMACS, SDPLIB, BenchCase, Quality, Set, conic, program_case
from condal_lab.bench.conic.instances import CONIC
from condal_lab.bench.truths import (
    TEST_ERROR,
    Ratings,
    diffraction,
    noisy_entries,
    ratings,
    star_ratings,
)

INTERIOR = ("SCS", "CSDP", "LoRADS", "SDPLR")
FACTORED = ("Pymanopt", "LoRADS", "SDPLR", "mixing")  # they optimise a factor of x
OF_ROWS = ("LoRADS", "SDPLR")  # those of them that take any rows
WRITTEN_OUT = ("Clarabel", "CVXOPT", "CSDP", "SDPA", "DSDP")  # they need a row per entry of x
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)  # of `growth`
GROWING = (1_000, 3_162, 10_000, 31_623)  # of `general`
G1_LIKE = partial(generated.random_graph, 800)
GSET = (
    ("G1", 800, G1_LIKE),
    ("G43", 1000, partial(generated.random_graph, 1000, density=0.02)),
    ("G22", 2000, partial(generated.random_graph, 2000, density=0.01)),
    ("G40", 2000, partial(generated.planar_union, 2000)),
)
ROUGH_TOO: dict[str, Any] = {"also": (1e-3,), "peers": ()}


def _of_graph(
    name: str,
    title: str,
    n: int,
    tol: float,
    model: Callable[[Any], Model],
    draw: Callable[[], Any] | None,
    file: str | None = None,
    **more: Any,
) -> BenchCase:
    """Return the model of a graph of n vertices, which is in a public file, or is drawn."""
    build = None if draw is None else lambda: model(draw())
    read = None if file is None else lambda path: model(read_graph(path))
    return BenchCase(name, title.format(n=n), tol, build, file, read, n=n, **more)


def _gset(tol: float, **more: Any) -> tuple[BenchCase, ...]:
    title = "max-cut, n = {n:,}"
    return tuple(
        _of_graph(name, title, n, tol, max_cut, drawn, name, **more) for name, n, drawn in GSET
    )


def _torus(name: str, rows: int, cols: int) -> BenchCase:
    title, drawn = "max-cut of a torus, n = {n:,}", partial(generated.torus, rows, cols)
    only = {"Pymanopt": 1e-3}
    return _of_graph(name, title, rows * cols, 1e-5, max_cut, drawn, name, tols=only)


def _theta(n: int, edges: int, tol: float) -> BenchCase:
    title, build = f"theta, n = {n:,}, {edges:,} edges", partial(generated.theta, n, edges)
    return BenchCase(f"theta-{n}", title, tol, build, n=n)


def _uniform_theta(n: int, edges: int, tol: float, *also: float, **more: Any) -> BenchCase:
    title, drawn = (
        f"theta of a random graph, n = {n:,}, {edges:,} edges",
        partial(generated.uniform_graph, n, edges),
    )
    facts: dict[str, Any] = {"also": also, "peers": (), **more}
    # Above this side a decomposition takes minutes.
    facts["yardsticks"] = ("eigh",) if n <= 2_000 else ()
    return _of_graph(f"theta-{n}", title, n, tol, theta, drawn, **facts)


def _growing_theta(n: int) -> BenchCase:
    title, drawn = f"theta, n = {n:,}, {3 * n:,} edges", partial(generated.uniform_graph, n, 3 * n)
    return _of_graph(f"grown-{n}", title, n, 1e-3, theta, drawn, peers=())


def _digits(n: int) -> BenchCase:
    """Return k-means of the first n MNIST features, k = 10."""

    def read(path: Path) -> Model:
        return k_means(loadmat(path)["digits"].T.astype(np.float64)[:n], 10)

    title = f"k-means of MNIST features, n = {n:,}"
    return BenchCase(f"kmeans-{n}", title, 1e-3, _blobs(n), "MNIST features", read, n=n)


def _blobs(n: int, k: int = 10) -> Callable[[], Model]:
    return lambda: k_means(generated.overlapping_blobs(n, k=k), k)


def _overlapping(n: int) -> BenchCase:
    title = f"k-means of overlapping Gaussian clusters, n = {n:,}"
    return BenchCase(f"overlapping-{n}", title, 1e-3, _blobs(n), peers=WRITTEN_OUT, n=n)


def _separated(n: int) -> BenchCase:
    title = f"k-means of separated Gaussian clusters, n = {n:,}"
    drawn = partial(generated.separated_blobs, n)
    return BenchCase(f"separated-{n}", title, 1e-4, lambda: k_means(drawn(), 10), peers=(), n=n)


def _growing_cut(n: int) -> BenchCase:
    title = "max-cut, average degree 4, n = {n:,}"
    drawn = partial(generated.sparse_graph, n, degree=4.0)
    return _of_graph(f"random-{n}", title, n, 1e-3, max_cut, drawn, peers=())


def _three_cut(n: int) -> BenchCase:
    title = "max-3-cut with edge inequalities, degree 10, n = {n:,}"
    model = partial(max_k_cut, k=3, pairs="edges")
    drawn = partial(generated.sparse_graph, n, degree=10.0)
    return _of_graph(f"3cut-{n}", title, n, 1e-3, model, drawn, peers=OF_ROWS)


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
        _uniform_theta(1_000, 5_000, 1e-6, peers=INTERIOR),
        _uniform_theta(2_000, 10_000, 1e-6, 1e-4),
        _uniform_theta(5_000, 15_000, 1e-5),
        _uniform_theta(20_000, 60_000, 1e-3),
        program_case("thetaG11", 1e-5, conic, peers=INTERIOR),
        _of_graph(
            "theta-G51",
            "theta of G51, n = {n:,}, 5,909 edges",
            1_000,
            1e-5,
            theta,
            partial(generated.planar_union, 1_000),
            "G51",
            peers=INTERIOR,
        ),
        _three_cut(2_000),
        _three_cut(5_000),
        program_case("gpp500-1", 1e-4, conic, peers=INTERIOR),
        _of_graph("cut-G1", "max-cut of G1", 800, 1e-6, max_cut, G1_LIKE, "G1", **ROUGH_TOO),
        _of_graph(
            "bisection-G1", "bisection of G1", 800, 1e-6, bisection, G1_LIKE, "G1", **ROUGH_TOO
        ),
        _of_graph(
            "bisection-20000",
            "bisection of a random graph, degree 10, n = {n:,}",
            20_000,
            1e-3,
            bisection,
            partial(generated.sparse_graph, 20_000, degree=10.0),
            peers=(),
        ),
        BenchCase(
            "inner-5000",
            "sparse equations, n = 5,000, 25,000 rows",
            1e-4,
            partial(generated.sparse_rows, 5_000, 25_000),
            peers=OF_ROWS,
            n=5_000,
        ),
        BenchCase(
            "ratings",
            "completion, 1,000 x 1,700, 100,000 ratings, the radius chosen",
            1e-2,
            lambda: ratings(Ratings.split(*star_ratings(1_000, 1_700, 100_000))),
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
        *map(_growing_theta, GROWING),
    ),
    growing=tuple(f"grown-{n}" for n in GROWING),
)
HUBS = (
    _of_graph(
        "packages-70000",
        "max-cut of a generated dependency graph, n = {n:,}",
        70_000,
        1e-3,
        max_cut,
        partial(generated.dependency_graph, 70_000),
        peers=FACTORED,
    ),
    _of_graph(
        "npm",
        "max-cut of the dependencies of npm's packages in 2016, n = {n:,}",
        249_457,
        1e-3,
        max_cut,
        None,
        "npm2016_deps",
        peers=FACTORED,
    ),
)


SETS: dict[str, Set] = {
    benchmark.name: benchmark
    for benchmark in (
        Set(
            "gset",
            "max-cut of G1, G43, G22 and G40 to 1e-6",
            _gset(1e-6, also=(1e-3,)),
        ),
        Set(
            "rough",
            "max-cut of G1, G43, G22 and G40 to 1e-3, the peers that optimise a factor",
            _gset(1e-3, peers=FACTORED),
        ),
        Set(
            "tori",
            "max-cut of the tori G67 and G81 to 1e-5, Pymanopt to 1e-3",
            (_torus("G67", 100, 100), _torus("G81", 200, 100)),
        ),
        Set(
            "theta",
            "Lovasz theta of random graphs",
            (_theta(200, 5000, 1e-5), _theta(1000, 5000, 1e-4)),
        ),
        Set(
            "kmeans",
            "k-means of MNIST features to 1e-3",
            (_digits(200), _digits(1000)),
        ),
        Set(
            "clusters",
            "k-means of Gaussian clusters: overlapping ones to 1e-3, separated ones to 1e-4",
            (_overlapping(2000), _overlapping(5000), _separated(20_000)),
        ),
        Set(
            "growth",
            "max-cut of random graphs, n = 10^4 to 10^6, to 1e-3, condal only",
            tuple(map(_growing_cut, SIZES)),
            growing=tuple(f"random-{n}" for n in SIZES),
        ),
        Set(
            "hubs",
            "max-cut of graphs with hubs to 1e-3: packages that depend on each other",
            HUBS,
        ),
        GENERAL,
        SDPLIB,
        DIMACS,
        CONIC,
        APPLICATIONS,
        Set(
            "quick",
            "small generated instances, in a minute",
            (
                _of_graph(
                    "cut-60",
                    "max-cut, n = {n}",
                    60,
                    1e-4,
                    max_cut,
                    partial(generated.random_graph, 60),
                ),
                _theta(20, 40, 1e-2),
                BenchCase("kmeans-18", "k-means, n = 18", 1e-2, _blobs(18, 3), n=18),
            ),
        ),
    )
}


def named(names: tuple[str, ...]) -> list[Set]:
    """Return the sets of these names."""
    for name in names:
        if name not in SETS:
            raise ProblemError(f"there is no set {name!r}; there are {', '.join(SETS)}")
    return [SETS[name] for name in dict.fromkeys(names)]
