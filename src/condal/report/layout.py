"""Force-directed layout of a graph in the plane: neighbours attract, all others repel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from condal.linalg.points import Array

FORCE_STEPS, INVERSE_STEPS = 150, 12
OUTLIERS, MARGIN = 0.1, 0.5  # a fraction of the vertices at each end; of the spread of the others
SAMPLED_VERTICES = 24  # per vertex and step, in place of all that repel it


def places(W: Any, seed: int = 0) -> Array:
    """Return n x 2 places: a spectral start, then the forces of Fruchterman and Reingold (1991),
    sampled. Components are laid out separately and put side by side in rows, the largest first.
    """
    graph = sp.csr_array(abs(W), dtype=np.float64)
    _, labels = connected_components(graph, directed=False)
    rng = np.random.default_rng(seed)
    parts = [np.flatnonzero(labels == c) for c in np.argsort(-np.bincount(labels), kind="stable")]
    squares = [_component(graph[part][:, part], rng) for part in parts]
    layout = np.zeros((graph.shape[0], 2))
    width = np.sqrt(sum(part.size for part in parts)) * 1.2
    x = y = high = 0.0
    for part, square in zip(parts, squares, strict=True):
        side = np.sqrt(part.size)
        if x > 0 and x + side > width:
            x, y, high = 0.0, y - high - 0.5, 0.0
        layout[part] = [x, y - side] + side * square
        x, high = x + side + 0.5, max(high, side)
    return layout


def _component(W: Any, rng: np.random.Generator) -> Array:
    """Lay out a connected graph in the unit square."""
    n = W.shape[0]
    if n <= 2:
        return np.column_stack([np.linspace(0.5, 0.9, n), np.full(n, 0.5)])
    edges = sp.triu(W, 1).tocoo()
    i, j = edges.row, edges.col
    at = _spectral(W, rng)
    for step in range(FORCE_STEPS):
        others = rng.integers(n, size=(n, min(SAMPLED_VERTICES, n)))
        apart = at[:, None] - at[others]
        force = n / others.shape[1] * (apart / (np.sum(apart**2, axis=2)[:, :, None] + 0.01)).sum(1)
        pull = at[i] - at[j]
        pull *= np.linalg.norm(pull, axis=1)[:, None]
        for axis in (0, 1):
            force[:, axis] -= np.bincount(i, pull[:, axis], n) - np.bincount(j, pull[:, axis], n)
        size = np.linalg.norm(force, axis=1)[:, None] + 1e-12
        most = 0.03 * np.sqrt(n) * (1 - step / FORCE_STEPS) ** 1.5 + 0.01
        at = at + force / size * np.minimum(size, most)
    # A few vertices far away must not shrink the others: they are drawn at the margin.
    low, high = np.quantile(at, [OUTLIERS, 1 - OUTLIERS], axis=0)
    at = np.clip(at, low - MARGIN * (high - low), high + MARGIN * (high - low))
    at = at - at.min(axis=0)
    return at / max(float(at.max()), 1e-12)


def _spectral(W: Any, rng: np.random.Generator) -> Array:
    """Return the second and third eigenvectors of the Laplacian, by inverse iteration, scaled to
    about one unit of area per vertex."""
    n, degrees = W.shape[0], np.asarray(W.sum(axis=1)).ravel()
    lifted = degrees + 1e-6 * degrees.mean()  # the Laplacian is singular
    inverse = splu(sp.csc_array(sp.dia_array((lifted[None], [0]), shape=(n, n)) - W))
    block = np.column_stack([np.ones(n), rng.standard_normal((n, 4))])
    for _ in range(INVERSE_STEPS):
        block = np.linalg.qr(inverse.solve(block))[0]
    at = block[:, 1:3]
    spread = np.maximum(at.std(axis=0), 1e-12)
    return np.sqrt(n) * 0.3 * (at / spread) + 1e-3 * rng.standard_normal((n, 2))
