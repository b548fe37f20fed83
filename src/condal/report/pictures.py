"""Pictures of answers as plain arrays, which are saved with a result and drawn by `drawn`.

A picture is a dictionary of arrays. `kind` says how to draw it and `caption` what it shows; both
are 0-dimensional arrays of text, which NumPy can save without pickling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

Picture: TypeAlias = dict[str, Any]

MAX_DRAWN_GRAPH = (2000, 6000)  # vertices and edges; a larger graph is shown as a matrix
MANY_VERTICES, MAX_SAMPLED_EDGES = 500, 2000  # above both, some edges are drawn
MAX_MATRIX_SIDE = 160  # of a picture; of a larger matrix some rows and columns are shown
MEANS_SIDE = 80  # of the picture of a larger sorted matrix, which shows means
AS_GRAPH = "Edges between the two kinds of vertices are solid; the others are dashed and faint."
AS_MATRIX = "The graph is large, so its sorted matrix is shown: bluer where there are more edges."
MAX_POINTS = 4000  # of a scatter plot


def graph(W: Any, labels: Any, names: Sequence[str], caption: str) -> Picture:
    """Return a graph with vertices labelled 0, 1, ...: drawn, or as a sorted matrix if large.

    Of a graph with many vertices some edges are drawn.
    """
    entries = sp.triu(sp.csr_array(W), 1).tocoo()
    n, count = W.shape[0], entries.nnz
    if n > MAX_DRAWN_GRAPH[0] or count > MAX_DRAWN_GRAPH[1]:
        return sorted_matrix(W, labels, names, f"{caption} {AS_MATRIX}")
    from condal.report.layout import places

    edges, text = np.column_stack([entries.row, entries.col]), f"{caption} {AS_GRAPH}"
    if n > MANY_VERTICES and count > MAX_SAMPLED_EDGES:
        edges = np.random.default_rng(0).choice(edges, MAX_SAMPLED_EDGES, replace=False)
        text = f"{text} {len(edges):,} of {count:,} edges are shown."
    return {
        "kind": np.array("graph"),
        "caption": np.array(text),
        "places": places(W).astype(np.float32),
        "edges": edges.astype(np.int32),
        "labels": np.asarray(labels, dtype=np.int32),
        "names": np.array(list(names)),
    }


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
    return {
        "kind": np.array("matrix"),
        "caption": np.array(caption),
        "values": (total / np.multiply.outer(sizes, sizes)).astype(np.float32),
        "ends": ends,
        "names": np.array(list(names)),
    }


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
    return {
        "kind": np.array("scatter"),
        "caption": np.array(caption),
        "places": flat[chosen].astype(np.float32),
        "labels": np.asarray(labels)[chosen].astype(np.int32),
        "names": np.array(list(names)),
    }


def trajectory(points: Array, edges: Indices, caption: str) -> Picture:
    """Return positions in the order of a path, seen along their smallest spread, and the pairs of
    them that were measured."""
    flat = points - points.mean(axis=0)
    if points.shape[1] == 3:
        flat = flat @ np.linalg.svd(flat, full_matrices=False)[2][:2].T
    return {
        "kind": np.array("trajectory"),
        "caption": np.array(caption),
        "places": flat.astype(np.float32),
        "edges": np.asarray(edges, dtype=np.int32),
    }


def images(panels: Sequence[tuple[str, Array]], caption: str) -> Picture:
    """Return matrices side by side as heat maps; NaN for missing entries."""
    return _side_by_side("images", panels, caption)


def curves(lines: Sequence[tuple[str, Array]], caption: str) -> Picture:
    """Return values against their index, one panel each."""
    return _side_by_side("curves", lines, caption)


def _side_by_side(kind: str, panels: Sequence[tuple[str, Array]], caption: str) -> Picture:
    return {
        "kind": np.array(kind),
        "caption": np.array(caption),
        "names": np.array([name for name, _ in panels]),
        **{f"panel{i}": np.asarray(panel, np.float32) for i, (_, panel) in enumerate(panels)},
    }


def sample(size: int, most: int = MAX_MATRIX_SIDE) -> Indices:
    """Return at most `most` of the indices 0, ..., size - 1, evenly spaced."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(np.intp))
