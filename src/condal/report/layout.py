"""Places in the plane for the vertices of a graph: neighbours attract, all others repel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from condal.linalg.points import Array

STEPS, STEPS_BACK = 150, 12  # of the forces, and of the inverse iteration before
OTHERS = 24  # drawn for each vertex at a step, to stand for all that repel it


def places(W: Any, seed: int = 0) -> Array:
    """n x 2: a spectral start, then forces as of Fruchterman and Reingold (1991), by samples.

    Components are drawn each by itself, and put side by side in rows, the largest first.
    """
    graph = sp.csr_array(abs(W), dtype=np.float64)
    _, labels = connected_components(graph, directed=False)
    rng = np.random.default_rng(seed)
    parts = [np.flatnonzero(labels == c) for c in np.argsort(-np.bincount(labels), kind="stable")]
    drawn = [_component(graph[part][:, part], rng) for part in parts]
    found = np.zeros((graph.shape[0], 2))
    width = np.sqrt(sum(part.size for part in parts)) * 1.2
    x = y = high = 0.0
    for part, here in zip(parts, drawn, strict=True):
        side = np.sqrt(part.size)
        if x > 0 and x + side > width:
            x, y, high = 0.0, y - high - 0.5, 0.0
        found[part] = [x, y - side] + side * here
        x, high = x + side + 0.5, max(high, side)
    return found


def _component(W: Any, rng: np.random.Generator) -> Array:
    """Within the unit square."""
    n = W.shape[0]
    if n <= 2:
        return np.column_stack([np.linspace(0.5, 0.9, n), np.full(n, 0.5)])
    edges = sp.triu(W, 1).tocoo()
    i, j = edges.row, edges.col
    at = _spectral(W, rng)
    for step in range(STEPS):
        others = rng.integers(n, size=(n, min(OTHERS, n)))
        apart = at[:, None] - at[others]
        force = n / others.shape[1] * (apart / (np.sum(apart**2, axis=2)[:, :, None] + 0.01)).sum(1)
        pull = at[i] - at[j]
        pull *= np.linalg.norm(pull, axis=1)[:, None]
        for axis in (0, 1):
            force[:, axis] -= np.bincount(i, pull[:, axis], n) - np.bincount(j, pull[:, axis], n)
        size = np.linalg.norm(force, axis=1)[:, None] + 1e-12
        most = 0.03 * np.sqrt(n) * (1 - step / STEPS) ** 1.5 + 0.01
        at = at + force / size * np.minimum(size, most)
    at = at - at.min(axis=0)
    return at / max(float(at.max()), 1e-12)


def _spectral(W: Any, rng: np.random.Generator) -> Array:
    """The two smoothest functions on the graph beside the constant one: eigenvectors of its
    Laplacian, by inverse iteration; scaled so that a vertex has about a unit of area."""
    n, degrees = W.shape[0], np.asarray(W.sum(axis=1)).ravel()
    lifted = degrees + 1e-6 * degrees.mean()  # the Laplacian itself has no inverse
    inverse = splu(sp.csc_array(sp.dia_array((lifted[None], [0]), shape=(n, n)) - W))
    block = np.column_stack([np.ones(n), rng.standard_normal((n, 4))])
    for _ in range(STEPS_BACK):
        block = np.linalg.qr(inverse.solve(block))[0]
    at = block[:, 1:3]
    spread = np.maximum(at.std(axis=0), 1e-12)
    return np.sqrt(n) * 0.3 * (at / spread) + 1e-3 * rng.standard_normal((n, 2))
