"""Pictures of answers as plain arrays, which are kept with a result and drawn by `drawn`.

A picture is a dictionary of arrays. `kind` says how it is drawn, `caption` what it shows; both are
arrays of text of no dimension, so that NumPy can keep them without pickling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

Picture: TypeAlias = dict[str, Any]

DRAWABLE = (2000, 6000)  # vertices and edges: a larger graph is shown as a matrix
SIDE = 160  # of a picture of a matrix: of more rows and columns some are shown,
TOGETHER = 80  # or, of a sorted matrix, so many means of them, which are less rough
AS_GRAPH = "Edges between the two kinds of vertices are solid, others are dashed and faint."
AS_MATRIX = "So large a graph is shown by its matrix, sorted: bluer where there are more edges."
DOTS = 4000  # points of a scatter


def graph(W: Any, labels: Any, names: Sequence[str], caption: str) -> Picture:
    """A graph, its vertices told apart by their labels 0, 1, ...: drawn, or as a sorted matrix."""
    entries = sp.triu(sp.csr_array(W), 1).tocoo()
    if W.shape[0] > DRAWABLE[0] or entries.nnz > DRAWABLE[1]:
        return sorted_matrix(W, labels, names, f"{caption} {AS_MATRIX}")
    from condal.report.layout import places

    return {
        "kind": np.array("graph"),
        "caption": np.array(f"{caption} {AS_GRAPH}"),
        "places": places(W).astype(np.float32),
        "edges": np.column_stack([entries.row, entries.col]).astype(np.int32),
        "labels": np.asarray(labels, dtype=np.int32),
        "names": np.array(list(names)),
    }


def sorted_matrix(W: Any, labels: Any, names: Sequence[str], caption: str) -> Picture:
    """The matrix with rows and columns sorted by label, its entries put together in small squares:
    the mean of each, and where one group ends."""
    labels = np.asarray(labels)
    order = np.argsort(labels, kind="stable")
    n, entries = labels.size, sp.coo_array(W)
    side = n if n <= SIDE else TOGETHER
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n) * side // n
    here = place[entries.row] * side + place[entries.col]
    total = np.bincount(here, entries.data, side * side).reshape(side, side)
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
    """Points in the plane of their two leading directions, told apart by their labels."""
    chosen = np.arange(len(points))
    if chosen.size > DOTS:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, DOTS, replace=False))
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


def images(panels: Sequence[tuple[str, Array]], caption: str) -> Picture:
    """Matrices side by side as heat maps; NaN where there is nothing."""
    return _side_by_side("images", panels, caption)


def curves(lines: Sequence[tuple[str, Array]], caption: str) -> Picture:
    """Values against their index, a panel each."""
    return _side_by_side("curves", lines, caption)


def _side_by_side(kind: str, panels: Sequence[tuple[str, Array]], caption: str) -> Picture:
    return {
        "kind": np.array(kind),
        "caption": np.array(caption),
        "names": np.array([name for name, _ in panels]),
        **{f"panel{i}": np.asarray(panel, np.float32) for i, (_, panel) in enumerate(panels)},
    }


def sample(size: int, most: int = SIDE) -> Indices:
    """At most so many of the indices 0, ..., size - 1, evenly."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(np.intp))
