"""Generated instances: graphs, theta problems and sparse constraints of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains import Spectrahedron
from condal.linalg.points import LowRank
from condal.linalg.symmetric import Symmetric
from condal.maps import Entries, Inner
from condal.problem import Problem
from condal.sets import Equal
from condal.smooth import Linear
from condal_lab.experiments.stand_ins import adjacency


def sparse_graph(n: int, *, degree: float, seed: int = 0) -> Any:
    """Draw a graph of the given average degree, all edges equally likely."""
    i, j = random_edges(n, round(0.5 * n * degree), seed=seed)
    return adjacency(n, (i, j), np.ones(i.size))


def torus(rows: int, cols: int, *, seed: int = 0) -> Any:
    """Make a grid on the torus with random weights +1 and -1, like G67 and G81."""
    vertex = np.arange(rows * cols).reshape(rows, cols)
    i = np.tile(vertex.ravel(), 2)
    j = np.concatenate([np.roll(vertex, 1, axis).ravel() for axis in (0, 1)])
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], i.size)
    return adjacency(rows * cols, (i, j), signs)


def uniform_graph(n: int, edges: int, *, seed: int = 0) -> Any:
    """Draw a graph with that many edges, all graphs equally likely, for the set `general`."""
    rng, keys = np.random.default_rng(seed), np.zeros(0, dtype=np.int64)
    while keys.size < edges:
        pairs = rng.integers(0, n, (2, 2 * edges))
        low, high = pairs.min(axis=0), pairs.max(axis=0)
        keys = np.unique(np.concatenate([keys, (low * n + high)[low < high]]))
    chosen = rng.permutation(keys)[:edges]
    return adjacency(n, (chosen // n, chosen % n), np.ones(edges))


def sparse_rows(n: int, p: int, *, seed: int = 0) -> Problem:
    """Random constraints <A_i, x> = b_i of two entries each, and an indefinite sparse cost.

    A point of rank 4 is feasible.
    """
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((n, 4)) / np.sqrt(4 * n)
    rows, cols = rng.integers(0, n, (2, 2 * p))
    A = Inner.from_triplets(
        n,
        np.repeat(np.arange(p), 2),
        rows=rows,
        cols=cols,
        values=rng.standard_normal(2 * p),
        size=p,
    )
    C = sp.random(n, n, 8 / n, random_state=rng, data_rvs=rng.standard_normal)
    return Problem.of(
        f=Linear(sp.csr_array(C + C.T)),
        X=Spectrahedron(n, trace=float(np.vdot(R, R))),
        A=A,
        K=Equal(A(LowRank(R, np.ones(4)))),
        name=f"sparse rows, n = {n}",
    )


def theta(n: int, edges: int, *, seed: int = 0) -> Problem:
    """Lovasz theta of a random graph: maximise <11', x>, tr x = 1, x_ij = 0 on its edges."""
    i, j = random_edges(n, edges, seed=seed)
    ones = np.ones(n)
    return Problem.of(
        f=Linear(Symmetric(n, pairs=((ones, ones),))),
        X=Spectrahedron(n, trace=1.0),
        A=Entries(n, i, j),
        K=Equal(np.zeros(edges)),
        maximise=True,
        name=f"theta, n = {n}",
    )


def random_edges(n: int, edges: int, *, seed: int = 0) -> tuple[Any, Any]:
    """Draw a uniformly random set of `edges` pairs i < j of 0..n-1."""
    rng = np.random.default_rng(seed)
    pairs = n * (n - 1) // 2
    if pairs <= 8 * edges:
        chosen = np.sort(rng.choice(pairs, size=edges, replace=False))
    else:
        # The edges are few among many pairs: draw again in place of repeated ones.
        chosen = np.unique(rng.integers(0, pairs, edges))
        while chosen.size < edges:
            more = rng.integers(0, pairs, edges - chosen.size)
            chosen = np.unique(np.concatenate([chosen, more]))
    # Pair k = j (j - 1)/2 + i with i < j.
    j = ((1 + np.sqrt(1.0 + 8.0 * chosen)) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > chosen  # the root may be rounded up
    i = chosen - j * (j - 1) // 2
    return i, j
