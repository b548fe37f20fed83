"""Stable sets of a graph: taken greedily, and improved by exchanges of one vertex for two."""

from __future__ import annotations

from typing import Any

import numpy as np


def take_in_order(W: Any, order: Any) -> Any:
    """Which vertices are taken, each in turn unless it is joined to one that was."""
    free, chosen = np.ones(W.shape[0], dtype=bool), np.zeros(W.shape[0], dtype=bool)
    for v in order:
        if free[v]:
            chosen[v] = True
            free[_near(W, v)] = False
    return chosen


def improve(W: Any, chosen: Any) -> Any:
    """The set with free vertices added, and one given up for two where that can be, to the end.

    Only vertices that are joined to one of the set alone can take its place: `tight` counts.
    """
    chosen = chosen.copy()
    tight = np.asarray((W[:, np.flatnonzero(chosen)] != 0).sum(axis=1)).ravel().astype(int)

    def put(v: int, sign: int) -> None:
        chosen[v] = sign > 0
        tight[_near(W, v)] += sign

    def put_free(vertices: Any) -> None:
        for v in vertices:
            if tight[v] == 0 and not chosen[v]:
                put(int(v), 1)

    put_free(np.flatnonzero(~chosen))
    size = -1
    while size < int(chosen.sum()):
        size = int(chosen.sum())
        for v in np.flatnonzero(chosen):
            near = _near(W, v)
            loose = near[tight[near] == 1]
            pair = _apart(W, loose)
            if pair is not None:
                put(int(v), -1)
                put_free((*pair, *loose))
    return chosen


def _near(W: Any, v: Any) -> Any:
    return W.indices[W.indptr[v] : W.indptr[v + 1]]


def _apart(W: Any, vertices: Any) -> tuple[int, int] | None:
    """Two of the vertices that are not joined; None if all are."""
    if vertices.size < 2:
        return None
    for u in vertices:
        others = vertices[~np.isin(vertices, _near(W, u))]
        if others.size > 1:  # u itself is one
            return int(u), int(others[others != u][0])
    return None
