"""Generated instances: graphs of any size, and theta problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains import Spectrahedron
from condal.linalg.symmetric import Symmetric
from condal.maps import Entries
from condal.problem import Problem
from condal.sets import Equal
from condal.smooth import Linear


def sparse_graph(n: int, *, degree: float, seed: int = 0) -> Any:
    """A random graph of this average degree: each pair of vertices with equal chance."""
    i, j = random_edges(n, round(0.5 * n * degree), seed=seed)
    return _adjacency(n, i, j, np.ones(i.size))


def torus(rows: int, cols: int, *, seed: int = 0) -> Any:
    """Like G67 and G81: a grid on the torus, weights +1 and -1."""
    vertex = np.arange(rows * cols).reshape(rows, cols)
    i = np.tile(vertex.ravel(), 2)
    j = np.concatenate([np.roll(vertex, 1, axis).ravel() for axis in (0, 1)])
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], i.size)
    return _adjacency(rows * cols, i, j, signs)


def theta(n: int, edges: int, *, seed: int = 0) -> Problem:
    """Lovasz's theta of a random graph: maximise <11', x>, tr x = 1, x_ij = 0 for its edges."""
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
    """So many different pairs i < j of 0..n-1, all sets of them with equal chance."""
    rng = np.random.default_rng(seed)
    pairs = n * (n - 1) // 2
    if pairs <= 8 * edges:
        chosen = np.sort(rng.choice(pairs, size=edges, replace=False))
    else:
        # To draw a few of very many: again for each that was drawn before.
        chosen = np.unique(rng.integers(0, pairs, edges))
        while chosen.size < edges:
            more = rng.integers(0, pairs, edges - chosen.size)
            chosen = np.unique(np.concatenate([chosen, more]))
    # Pair k = j (j - 1)/2 + i with i < j.
    j = ((1 + np.sqrt(1.0 + 8.0 * chosen)) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > chosen  # the root may be rounded up
    i = chosen - j * (j - 1) // 2
    return i, j


def _adjacency(n: int, i: Any, j: Any, weights: Any) -> Any:
    W = sp.coo_array((weights, (i, j)), shape=(n, n)).tocsr()
    return sp.csr_array(W + W.T)
