"""The sets of instances. To add a set, add an entry to `SETS`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from condal.errors import ProblemError
from condal.problem import Model
from condal.problems import k_means, max_cut
from condal_lab.bench.applications import APPLICATIONS
from condal_lab.bench.cases import DIMACS, SDPLIB, BenchCase, Build, Set, cut
from condal_lab.bench.conic.instances import CONIC
from condal_lab.bench.general import GENERAL
from condal_lab.generated import (
    dependency_graph,
    overlapping_blobs,
    planar_union,
    random_graph,
    separated_blobs,
    sparse_graph,
    theta,
    torus,
)

FACTORED = ("Pymanopt", "LoRADS", "SDPLR", "mixing")  # they optimise a factor of x
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)  # of `growth`
WRITTEN_OUT = ("Clarabel", "CVXOPT", "CSDP", "SDPA", "DSDP")  # they need a row per entry of x


def _max_cut_of(build: Callable[[], object]) -> Build:
    return lambda: max_cut(build())


def _digits(n: int, path: Path) -> Model:
    """k-means of the first n MNIST features, k = 10."""
    return k_means(loadmat(path)["digits"].T.astype(np.float64)[:n], 10)


def _blobs(n: int, k: int = 10) -> Build:
    return lambda: k_means(overlapping_blobs(n, k=k), k)


def _gset(tol: float, **settings: Any) -> tuple[BenchCase, ...]:
    graphs = (
        ("G1", 800, partial(random_graph, 800)),
        ("G43", 1000, partial(random_graph, 1000, density=0.02)),
        ("G22", 2000, partial(random_graph, 2000, density=0.01)),
        ("G40", 2000, partial(planar_union, 2000)),
    )
    return tuple(
        BenchCase(name, f"max-cut, n = {n:,}", tol, _max_cut_of(drawn), name, cut, n=n, **settings)
        for name, n, drawn in graphs
    )


def _torus(name: str, rows: int, cols: int) -> BenchCase:
    title = f"max-cut of a torus, n = {rows * cols:,}"
    drawn = _max_cut_of(partial(torus, rows, cols))
    return BenchCase(name, title, 1e-5, drawn, name, cut, {"Pymanopt": 1e-3}, n=rows * cols)


def _theta(n: int, edges: int, tol: float) -> BenchCase:
    title = f"theta, n = {n:,}, {edges:,} edges"
    return BenchCase(f"theta-{n}", title, tol, partial(theta, n, edges), n=n)


def _clusters(n: int) -> BenchCase:
    title, read = f"k-means of MNIST features, n = {n:,}", partial(_digits, n)
    return BenchCase(f"kmeans-{n}", title, 1e-3, _blobs(n), "MNIST features", read, n=n)


def _overlapping(n: int) -> BenchCase:
    title = f"k-means of overlapping Gaussian clusters, n = {n:,}"
    return BenchCase(f"overlapping-{n}", title, 1e-3, _blobs(n), peers=WRITTEN_OUT, n=n)


def _separated(n: int) -> BenchCase:
    title = f"k-means of separated Gaussian clusters, n = {n:,}"
    drawn = partial(separated_blobs, n)
    return BenchCase(f"separated-{n}", title, 1e-4, lambda: k_means(drawn(), 10), peers=(), n=n)


def _growing(n: int) -> BenchCase:
    title, drawn = f"max-cut, average degree 4, n = {n:,}", partial(sparse_graph, n, degree=4.0)
    return BenchCase(f"random-{n}", title, 1e-3, _max_cut_of(drawn), peers=(), n=n)


def _packages(name: str, n: int) -> BenchCase:
    title = f"max-cut of a generated dependency graph, n = {n:,}"
    drawn = _max_cut_of(partial(dependency_graph, n))
    return BenchCase(name, title, 1e-3, drawn, peers=FACTORED, n=n)


NPM_TITLE = "max-cut of the dependencies of npm's packages in 2016, n = 249,457"
NPM = BenchCase("npm", NPM_TITLE, 1e-3, None, "npm2016_deps", cut, peers=FACTORED, n=249_457)


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
            (_clusters(200), _clusters(1000)),
        ),
        Set(
            "clusters",
            "k-means of Gaussian clusters: overlapping ones to 1e-3, separated ones to 1e-4",
            (_overlapping(2000), _overlapping(5000), _separated(20_000)),
        ),
        Set(
            "growth",
            "max-cut of random graphs, n = 10^4 to 10^6, to 1e-3, condal only",
            tuple(map(_growing, SIZES)),
            growing=tuple(f"random-{n}" for n in SIZES),
        ),
        Set(
            "hubs",
            "max-cut of graphs with hubs to 1e-3: packages that depend on each other",
            (_packages("packages-70000", 70_000), NPM),
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
                BenchCase(
                    "cut-60", "max-cut, n = 60", 1e-4, _max_cut_of(partial(random_graph, 60)), n=60
                ),
                BenchCase(
                    "theta-20", "theta, n = 20, 40 edges", 1e-2, partial(theta, 20, 40), n=20
                ),
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
