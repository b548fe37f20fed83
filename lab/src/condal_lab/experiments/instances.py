"""The instances of section 5 of the paper, and small generated stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat
from scipy.linalg import eigh

from condal.driver.solve import solve
from condal.errors import ProblemError
from condal.io.formats import read_graph
from condal.io.safe_files import PathLike
from condal.linalg.points import Array, dense
from condal.methods import LowRankCGAL
from condal.problem import Problem
from condal.problems import generalised_eigenvector, k_means, max_cut
from condal_lab.experiments.data import find
from condal_lab.generated import (
    attached_graph,
    overlapping_blobs,
    planar_union,
    random_graph,
)

SPECTRA = ("gaussian", "polydecay", "expdecay", "maxcut-sdp")
SEED = 20190422
TRACE_FACTOR = 2.0  # times the smallest feasible trace of the generalised eigenvector problem


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem of an experiment; `name` is a valid file name."""

    name: str
    title: str
    problem: Problem


def read_gd97b(path: PathLike) -> sp.csr_array:
    """Read the file of GD97_b, which is in the Rutherford-Boeing format: four lines of header, then
    the pointers, rows and values of the lower triangle, by columns."""
    words = " ".join(Path(path).read_text().splitlines()[4:]).split()
    pointers, rows = (np.array(part, dtype=int) - 1 for part in (words[:48], words[48:180]))
    lower = sp.csc_array((np.array(words[180:], dtype=float), rows, pointers), shape=(47, 47))
    return sp.csr_array(lower + sp.tril(lower, -1).T)


def geneig(kind: str, data: PathLike | None = None, *, n: int = 1000) -> Instance:
    """The generalised eigenvector problem with one of four kinds of Phi.

    gaussian: the symmetric part of an iid Gaussian matrix; polydecay and expdecay: eigenvalues
    1/i and 10^(-0.025 i) in a random basis; maxcut-sdp: a solution of the max-cut relaxation of
    G40, which sets n = 2000. Psi is the symmetric part of an iid Gaussian matrix.
    """
    if kind == "maxcut-sdp":
        graph = read_graph(find("G40", data))
        return _geneig("geneig-maxcut-sdp", kind, _cut_solution(graph))
    return _geneig(f"geneig-{kind}", kind, _spectrum(kind, n))


def geneig_like(kind: str, *, n: int = 60) -> Instance:
    """`geneig` with n = 60; maxcut-sdp uses a graph like G40."""
    Phi = _cut_solution(planar_union(n)) if kind == "maxcut-sdp" else _spectrum(kind, n)
    return _geneig(f"geneig-{kind}-like", f"{kind}, n = {n}", Phi)


def _gset(name: str, data: PathLike | None = None) -> Instance:
    return _cut(name.lower(), name, read_graph(find(name, data)))


def _mnist(data: PathLike | None = None) -> Instance:
    """Return the 1000 MNIST features of Mixon, Villar and Ward, sorted by label."""
    stored = loadmat(find("MNIST features", data))
    order = np.argsort(stored["labels"].argmax(axis=0), kind="stable")
    points = stored["digits"].T.astype(np.float64)[order]
    return _clustering("mnist", "MNIST features", points, 10)


# Max-cut of GD97_b with its weights (47 vertices, 132 edges) and of two graphs of the Gset, G1 (800
# vertices) and G40 (2000); k-means with k = 10; and generalised eigenvectors.
FULL: dict[str, Callable[[PathLike | None], Instance]] = {
    "gd97b": lambda data: _cut("gd97b", "GD97_b", read_gd97b(find("GD97_b", data))),
    "g1": partial(_gset, "G1"),
    "g40": partial(_gset, "G40"),
    "mnist": _mnist,
    **{f"geneig-{kind}": partial(geneig, kind) for kind in SPECTRA},
}

# Graphs like GD97_b, G1 and G40, the last two with 100 vertices, and 60 points in 5 clusters.
QUICK: dict[str, Callable[[], Instance]] = {
    "gd97b": lambda: _cut("gd97b-like", "GD97_b-like graph", attached_graph()),
    "g1": lambda: _cut("g1-like", "G1-like graph", random_graph()),
    "g40": lambda: _cut("g40-like", "G40-like graph", planar_union()),
    "mnist": lambda: _clustering("mnist-like", "overlapping blobs", overlapping_blobs(), 5),
    **{f"geneig-{kind}": partial(geneig_like, kind) for kind in SPECTRA},
}


def build(name: str, data: PathLike | None = None, *, quick: bool = False) -> Instance:
    """Return the instance of that name; if `quick`, its stand-in, which needs no data."""
    if name not in FULL:
        raise ProblemError(f"there is no instance {name!r}; there are {', '.join(FULL)}")
    return QUICK[name]() if quick else FULL[name](data)


def _cut(name: str, title: str, W: Any) -> Instance:
    return Instance(name, f"max-cut, {title}", max_cut(W, name=title).problem)


def _clustering(name: str, title: str, points: Array, k: int) -> Instance:
    """Scale the points by sqrt(2): the paper's objective is <D, x>, the model's is <D, x>/2."""
    problem = k_means(np.sqrt(2.0) * points, k, name=title).problem
    return Instance(name, f"k-means, {title}", problem)


def _geneig(name: str, title: str, Phi: Array) -> Instance:
    """Bound the trace by alpha = 2 / lambda_max(Psi), twice the smallest feasible value.

    The trace is then active, and the solution is alpha u u', an extreme point of the domain.
    Otherwise some y would satisfy Phi <= y Psi, which is impossible for Phi psd and Psi indefinite,
    and has probability 0 for Phi Gaussian. An extreme solution of two constraints has rank 1. For a
    much larger alpha the constraint <Psi, x> = 1 would hardly matter: the first eigenvector of Phi
    nearly satisfies it.
    """
    n = Phi.shape[0]
    Psi = _gaussian(np.random.default_rng([SEED, n, 0]), n)
    top = float(eigh(Psi, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0])
    problem = generalised_eigenvector(Phi, Psi, TRACE_FACTOR / top, name=title).problem
    return Instance(name, f"generalised eigenvector, {title}", problem)


def _spectrum(kind: str, n: int) -> Array:
    rng = np.random.default_rng([SEED, n, 1 + SPECTRA.index(kind)])  # Psi uses 0
    if kind == "gaussian":
        return _gaussian(rng, n)
    i = np.arange(1.0, n + 1)
    values = 1.0 / i if kind == "polydecay" else 10.0 ** (-0.025 * i)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    Phi = (Q * values) @ Q.T
    return np.asarray(0.5 * (Phi + Phi.T))


def _gaussian(rng: np.random.Generator, n: int) -> Array:
    G = rng.standard_normal((n, n))
    return np.asarray(0.5 * (G + G.T))


def _cut_solution(W: Any) -> Array:
    """Return x of the max-cut relaxation, optimal to 1e-9."""
    result = solve(max_cut(W), LowRankCGAL(), tol=1e-9, max_iters=1000, seed=0)
    assert result.x is not None
    X = np.asarray(dense(result.x))
    return np.asarray(0.5 * (X + X.T))
