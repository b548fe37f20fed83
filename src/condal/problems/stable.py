"""Stable sets of a graph: chosen greedily, and improved by exchanging one vertex for two."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.runtime.time_limit import UNLIMITED, TimeLimit


def take_in_order(W: Any, order: Any) -> Any:
    """Take each vertex in turn unless it is adjacent to one already taken."""
    free, chosen = np.ones(W.shape[0], dtype=bool), np.zeros(W.shape[0], dtype=bool)
    for v in order:
        if free[v]:
            chosen[v] = True
            free[_near(W, v)] = False
    return chosen


def improve_stable_set(W: Any, chosen: Any, limit: TimeLimit = UNLIMITED) -> Any:
    """Add free vertices and exchange one vertex for two until neither is possible or in time.

    Only vertices with exactly one neighbour in the set can replace it; `tight` counts neighbours.
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
            if limit.is_over():
                return chosen
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
    """Return two of the vertices that are not adjacent; None if all are."""
    if vertices.size < 2:
        return None
    for u in vertices:
        others = vertices[~np.isin(vertices, _near(W, u))]
        if others.size > 1:  # `others` contains u itself
            return int(u), int(others[others != u][0])
    return None
