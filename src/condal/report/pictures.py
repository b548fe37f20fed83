"""Pictures of answers as plain arrays, which are saved with a result and drawn by `drawn`.

A picture is a dictionary of arrays. `kind` says how to draw it and `caption` what it shows; both
are 0-dimensional arrays of text, which NumPy can save without pickling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.problems.answers import Picture

MAX_DRAWN_GRAPH = (2000, 6000)  # vertices and edges; a larger graph is shown as a matrix
MANY_VERTICES, MAX_SAMPLED_EDGES = 500, 2000  # above both, some edges are drawn
MAX_MATRIX_SIDE = 160  # of a picture; of a larger matrix some rows and columns are shown
MEANS_SIDE = 80  # of the picture of a larger sorted matrix, which shows means
AS_GRAPH = "Edges between the two kinds of vertices are solid; the others are dashed and faint."
AS_MATRIX = "The graph is large, so its sorted matrix is shown: bluer where there are more edges."
MAX_POINTS = 4000  # of a scatter plot

# The force-directed layout of a graph: neighbours attract, all others repel.
FORCE_STEPS, INVERSE_STEPS = 150, 12
OUTLIERS, MARGIN = 0.1, 0.5  # a fraction of the vertices at each end; of the spread of the others
SAMPLED_VERTICES = 24  # per vertex and step, in place of all that repel it


def graph(W: Any, labels: Any, names: Sequence[str], caption: str) -> Picture:
    """Return a graph with vertices labelled 0, 1, ...: drawn, or as a sorted matrix if large.

    Of a graph with many vertices some edges are drawn.
    """
    entries = sp.triu(sp.csr_array(W), 1).tocoo()
    n, count = W.shape[0], entries.nnz
    if n > MAX_DRAWN_GRAPH[0] or count > MAX_DRAWN_GRAPH[1]:
        return sorted_matrix(W, labels, names, f"{caption} {AS_MATRIX}")
    edges, text = np.column_stack([entries.row, entries.col]), f"{caption} {AS_GRAPH}"
    if n > MANY_VERTICES and count > MAX_SAMPLED_EDGES:
        edges = np.random.default_rng(0).choice(edges, MAX_SAMPLED_EDGES, replace=False)
        text = f"{text} {len(edges):,} of {count:,} edges are shown."
    return _picture("graph", text, names, places=places(W), edges=edges, labels=labels)


def sorted_matrix(W: Any, labels: Any, names: Sequence[str], caption: str) -> Picture:
    """Return a matrix with rows and columns sorted by label, as means over small squares, and the
    ends of the groups."""
    labels = np.asarray(labels, dtype=np.intp)
    order = np.argsort(labels, kind="stable")
    n, entries = labels.size, sp.coo_array(W)
    side = n if n <= MAX_MATRIX_SIDE else MEANS_SIDE
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n) * side // n
    square = place[entries.row] * side + place[entries.col]
    total = np.bincount(square, entries.data, side * side).reshape(side, side)
    sizes = np.bincount(np.arange(n) * side // n, minlength=side)
    ends = np.cumsum(np.bincount(labels, minlength=len(names)))[:-1] / n
    values = total / np.multiply.outer(sizes, sizes)
    return {**_picture("matrix", caption, names, values=values), "ends": ends}


def scatter(points: Array, labels: Any, names: Sequence[str], caption: str) -> Picture:
    """Return labelled points in the plane of their two leading directions."""
    chosen = np.arange(len(points))
    if chosen.size > MAX_POINTS:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, MAX_POINTS, replace=False))
    centred = points - points.mean(axis=0)
    flat = centred
    if points.shape[1] != 2:
        directions = np.linalg.svd(centred[chosen], full_matrices=False)[2][:2]
        flat = centred @ directions.T
    flat = np.column_stack([flat, np.zeros((len(flat), 2))])[:, :2]
    shown = {"places": flat[chosen], "labels": np.asarray(labels)[chosen]}
    return _picture("scatter", caption, names, **shown)


def trajectory(points: Array, edges: Indices, caption: str) -> Picture:
    """Return positions in the order of a path, seen along their smallest spread, and the pairs of
    them that were measured."""
    flat = points - points.mean(axis=0)
    if points.shape[1] == 3:
        flat = flat @ np.linalg.svd(flat, full_matrices=False)[2][:2].T
    return _picture("trajectory", caption, None, places=flat, edges=edges)


def images(panels: Sequence[tuple[str, Array]], caption: str) -> Picture:
    """Return matrices side by side as heat maps; NaN for missing entries."""
    return _side_by_side("images", panels, caption)


def curves(lines: Sequence[tuple[str, Array]], caption: str) -> Picture:
    """Return values against their index, one panel each."""
    return _side_by_side("curves", lines, caption)


def _side_by_side(kind: str, panels: Sequence[tuple[str, Array]], caption: str) -> Picture:
    names, arrays = [name for name, _ in panels], [array for _, array in panels]
    return _picture(kind, caption, names, **{f"panel{i}": each for i, each in enumerate(arrays)})


def _picture(kind: str, caption: str, names: Sequence[str] | None, **arrays: Any) -> Picture:
    """Return a picture; its edges and labels are small integers, and all else single floats."""
    kinds = {"edges": np.int32, "labels": np.int32}
    listed = {} if names is None else {"names": np.array(list(names))}
    return {
        "kind": np.array(kind),
        "caption": np.array(caption),
        **{name: np.asarray(each, kinds.get(name, np.float32)) for name, each in arrays.items()},
        **listed,
    }


def sample(size: int, most: int = MAX_MATRIX_SIDE) -> Indices:
    """Return at most `most` of the indices 0, ..., size - 1, evenly spaced."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(np.intp))


def places(W: Any, seed: int = 0) -> Array:
    """Return n x 2 places: a spectral start, then the forces of Fruchterman and Reingold (1991),
    sampled. Components are laid out separately and put side by side in rows, the largest first.
    """
    from scipy.sparse.csgraph import connected_components

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
    from scipy.sparse.linalg import splu

    n, degrees = W.shape[0], np.asarray(W.sum(axis=1)).ravel()
    lifted = degrees + 1e-6 * degrees.mean()  # the Laplacian is singular
    inverse = splu(sp.csc_array(sp.dia_array((lifted[None], [0]), shape=(n, n)) - W))
    block = np.column_stack([np.ones(n), rng.standard_normal((n, 4))])
    for _ in range(INVERSE_STEPS):
        block = np.linalg.qr(inverse.solve(block))[0]
    at = block[:, 1:3]
    spread = np.maximum(at.std(axis=0), 1e-12)
    return np.sqrt(n) * 0.3 * (at / spread) + 1e-3 * rng.standard_normal((n, 2))
