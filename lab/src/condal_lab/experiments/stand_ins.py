"""Generated data that resemble the public files, for runs without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array


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
