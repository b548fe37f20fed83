"""Generated instances: graphs and theta problems of any size."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.domains import Spectrahedron
from condal.lab.experiments.stand_ins import adjacency
from condal.linalg.symmetric import Symmetric
from condal.maps import Entries
from condal.problem import Problem
from condal.sets import Equal
from condal.smooth import Linear


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
