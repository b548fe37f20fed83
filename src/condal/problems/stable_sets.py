"""Stable sets of a graph: the answer of theta, chosen greedily and improved by exchanges."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.problems.answers import Figures, Picture, RoundedAnswer, Rows, preview
from condal.runtime.limits import UNLIMITED, TimeLimit
from condal.runtime.text import number


@dataclass(frozen=True, eq=False, repr=False)
class StableSet(RoundedAnswer):
    """A stable set: vertices of which no two are adjacent, with a proved bound on the size.

    Attributes
    ----------
    size : int
        The number of vertices.
    bound : float
        A proved upper bound on the size of every stable set.
    vertices : ndarray of int
        The vertices, in ascending order.
    colours : int, optional
        If the graph is the complement of another: a proved lower bound on the number of colours of
        that other graph, of which the stable set is a clique.
    """

    size: int
    bound: float
    vertices: Any
    model: Any = None
    colours: int | None = None

    @property
    def noun(self) -> str:
        """What the vertices are in the graph of the user."""
        return "clique" if self.model is not None and self.model.of_complement else "stable set"

    @property
    def names(self) -> list[Any]:
        """The vertices by name, or by number if the graph has no names."""
        names = None if self.model is None else self.model.names
        return [v if names is None else names[v] for v in self.vertices.tolist()]

    def picture(self) -> Picture:
        from condal.report import pictures

        outside = ~np.isin(np.arange(self.model.n), self.vertices)
        graph = self.model.complement if self.model.of_complement else self.model
        sides = (f"the {self.noun}", "other vertices")
        return pictures.graph(graph.W, outside, sides, f"The graph and the {self.noun} found.")

    def rows(self) -> Rows:
        joined = "all of them adjacent" if self.noun == "clique" else "no two of them adjacent"
        rows = [(self.noun, f"{self.size:,} vertices, {joined}")]
        if self.colours is not None:
            rows.append(("colours", f"at least {self.colours:,}, in every proper colouring"))
        return rows

    def proved(self) -> Rows:
        most = math.floor(self.bound)
        text = f"{number(self.bound, up=True)}, so no {self.noun} has more than {most:,}"
        best = f"the best possible: no {self.noun} of this graph is larger"
        return [("bound", text), *([("quality", best)] if self.size == most else [])]

    def figures(self) -> Figures:
        key = self.noun.replace(" ", "_")
        most = math.floor(self.bound) if math.isfinite(self.bound) else None
        figures: Figures = {key: float(self.size), f"{key}_bound": most}
        if self.colours is not None:
            figures["colours"] = float(self.colours)
        return figures

    def lines(self) -> Iterable[str]:
        return map(str, self.names)

    @property
    def integers(self) -> Any:
        inside = np.zeros(self.model.n, dtype=int)
        inside[self.vertices] = 1
        return inside

    @property
    def sizes_text(self) -> str:
        return f"vertices={preview(self.vertices)}"


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
