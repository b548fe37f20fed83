"""Generated instances: graphs, clusters, theta problems and sparse constraints of any size.

Some resemble the public files, for runs without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains import Spectrahedron
from condal.linalg.points import Array, LowRank
from condal.linalg.symmetric import Symmetric
from condal.maps import Entries, Inner
from condal.problem import Problem
from condal.sets import Equal
from condal.smooth import Linear


def attached_graph(n: int = 46, *, links: int = 3, mean: float = 150.0, seed: int = 0) -> Any:
    """Like GD97_b: preferential attachment, integer weights and one isolated vertex more.

    46 vertices that bring 3 edges each make 132 edges, as in GD97_b. The quartiles of its weights
    are near those of the exponential distribution of this mean.
    """
    rng = np.random.default_rng(seed)
    edges = [(i, j) for i in range(links) for j in range(i)]
    for vertex in range(links, n):
        ends = np.array(edges).ravel()  # each vertex occurs once per edge
        degrees = np.bincount(ends, minlength=vertex)
        near = rng.choice(vertex, size=links, replace=False, p=degrees / degrees.sum())
        edges += [(vertex, int(j)) for j in near]
    weights = np.ceil(rng.exponential(mean, len(edges)))
    return adjacency(n + 1, np.array(edges).T, weights)


def random_graph(n: int = 100, *, density: float = 0.06, seed: int = 0) -> Any:
    """Like G1: each pair of vertices is an edge of weight 1 with probability `density`."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.tri(n, k=-1) * rng.random((n, n)) > 1 - density)
    return adjacency(n, pairs.T, np.ones(len(pairs)))


def planar_union(n: int = 100, *, seed: int = 0) -> Any:
    """Like G40: the union of two random triangulations of the plane, weights +1 and -1.

    A triangulation grows by a vertex in a random triangle. A few vertices then have a very high
    degree, as in G40.
    """
    rng = np.random.default_rng(seed)
    edges = set()
    for _ in range(2):
        label = rng.permutation(n)
        faces = [(0, 1, 2), (0, 1, 2)]
        pairs = [(0, 1), (0, 2), (1, 2)]
        for vertex in range(3, n):
            a, b, c = faces.pop(int(rng.integers(len(faces))))
            faces += [(a, b, vertex), (a, c, vertex), (b, c, vertex)]
            pairs += [(a, vertex), (b, vertex), (c, vertex)]
        named = label[np.array(pairs)]
        edges |= {(int(max(i, j)), int(min(i, j))) for i, j in named}
    ends = np.array(sorted(edges))
    return adjacency(n, ends.T, rng.choice([-1.0, 1.0], len(ends)))


def dependency_graph(n: int = 1000, *, mean: float = 4.0, seed: int = 0) -> Any:
    """Like the packages of a distribution: about `mean` dependencies each, by Zipf's law.

    The most popular package has more than a quarter of the others as neighbours.
    """
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, n + 1)
    i = np.repeat(np.arange(n), rng.geometric(1 / mean, n))
    j = rng.choice(n, size=i.size, p=popularity / popularity.sum())
    pairs = np.unique(np.sort(np.stack([i, j])[:, i != j], axis=0), axis=1)
    return adjacency(n, pairs, np.ones(pairs.shape[1]))


def overlapping_blobs(
    n: int = 60, *, k: int = 5, dimensions: int = 10, spread: float = 0.25, seed: int = 0
) -> Array:
    """Like the MNIST features: n points in k overlapping clusters, ordered by cluster."""
    rng = np.random.default_rng(seed)
    centres = np.eye(dimensions)[np.arange(n) * k // n]
    return np.asarray(centres + spread * rng.standard_normal((n, dimensions)))


def separated_blobs(n: int, *, k: int = 10, apart: float = 14.0, seed: int = 0) -> Array:
    """n points of unit variance about k centres in k dimensions, all `apart` from each other."""
    centres = apart / np.sqrt(2) * np.eye(k)
    rng = np.random.default_rng(seed)
    return np.asarray(centres[np.arange(n) % k] + rng.standard_normal((n, k)))


def adjacency(n: int, ends: Any, weights: Any) -> Any:
    """Return the symmetric sparse matrix of the edges `ends` = (i, j) with these weights."""
    W = sp.coo_array((weights, tuple(ends)), shape=(n, n)).tocsr()
    return sp.csr_array(W + W.T)


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
