"""Unit flows through a directed acyclic graph."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from condal.domains.flat import Flat
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Indices, Point
from condal.linalg.rounding import UNIT_ROUNDOFF, Proof, stable_norm
from condal.runtime.arguments import plain_array, require_whole


class FlowPolytope(Flat):
    r"""The unit flows from source to sink in a directed acyclic graph, one number per edge.

    .. math:: X = \{x \ge 0 : \text{inflow} = \text{outflow at every inner vertex, 1 from source}\}

    Edge i goes from vertex tails[i] to vertex heads[i]; parallel edges are allowed. The vertices of
    X are the paths, and the oracle finds a shortest path. Lengths may be negative.

    Parameters
    ----------
    tails, heads : array_like of int
        The ends of each edge; vertices are numbered from 0.
    source, sink : int
        Where the flow begins and ends.

    Raises
    ------
    ProblemError
        If the graph has a cycle, or no path leads from source to sink.
    """

    def __init__(self, tails: Any, heads: Any, *, source: int, sink: int) -> None:
        self.tails, self.heads = _ends(tails, "tails"), _ends(heads, "heads")
        require_whole(source, "source", least=0)
        require_whole(sink, "sink", least=0)
        if self.tails.size != self.heads.size:
            raise ProblemError(
                f"tails has {self.tails.size} entries and heads has {self.heads.size}: an edge "
                "has one of each"
            )
        self.n, self.source, self.sink = int(self.tails.size), int(source), int(sink)
        self._count = 1 + max(source, sink, int(self.tails.max()), int(self.heads.max()))
        level = self._levels()
        live = _reached(self._neighbours(self.tails, self.heads), source)[self.tails]
        live &= _reached(self._neighbours(self.heads, self.tails), sink)[self.heads]
        if not live.any():
            raise ProblemError(
                f"no path leads from source {source} to sink {sink}, so there is no flow: add "
                "edges, or choose other ends"
            )
        edges = np.flatnonzero(live)
        self._into, self._steps = _sorted(edges, self.heads, level)
        self._out_of, self._pushes = _sorted(edges, self.tails, level)
        self._first = np.zeros(self._count, dtype=np.intp)  # of the edges into a vertex
        self._first[self.heads[self._into[::-1]]] = np.arange(edges.size)[::-1]
        self._indegree = np.bincount(self.heads[edges], minlength=self._count)
        self._longest = int(self.lmo(np.full(self.n, -1.0)).sum())
        self._apart = self._most_apart(level, edges)

    def __repr__(self) -> str:
        return f"FlowPolytope({self.n} edges, {self._count} vertices)"

    def _neighbours(self, tails: Indices, heads: Indices) -> list[Indices]:
        ends = np.cumsum(np.bincount(tails, minlength=self._count))
        return np.split(heads[np.argsort(tails, kind="stable")], ends[:-1])

    def _levels(self) -> Indices:
        """Return the length of the longest walk into each vertex: a topological order."""
        following = self._neighbours(self.tails, self.heads)
        waits = np.bincount(self.heads, minlength=self._count)
        level = np.zeros(self._count, dtype=np.intp)
        ready = np.flatnonzero(waits == 0).tolist()
        for vertex in ready:  # which grows
            for head in following[vertex].tolist():
                level[head] = max(level[head], level[vertex] + 1)
                waits[head] -= 1
                if waits[head] == 0:
                    ready.append(head)
        if len(ready) < self._count:
            raise ProblemError(
                f"the graph has a cycle, which leads to vertex {int(np.argmax(waits > 0))}: a flow "
                "could circulate in it without end; remove one of its edges"
            )
        return level

    def _most_apart(self, level: Indices, edges: Indices) -> int:
        """Return the largest number of edges of a path that are not on every path.

        An edge is on every path if it alone crosses some place in a topological order.
        """
        place = np.empty(self._count, dtype=np.intp)
        place[np.argsort(level, kind="stable")] = np.arange(self._count)
        begin, end = place[self.tails[edges]], place[self.heads[edges]]
        opened, closed = (np.bincount(at, minlength=self._count) for at in (begin, end))
        lonely = np.concatenate([[0], np.cumsum(np.cumsum(opened - closed) == 1)])
        choice = np.zeros(self.n)
        choice[edges] = np.where(lonely[end] > lonely[begin], 0.0, -1.0)
        return round(-float(choice @ self.lmo(choice)))

    @property
    def diameter(self) -> float:
        """sqrt(2 m), with at most m edges of a path not on every path: an upper bound."""
        return float(np.sqrt(2.0 * self._apart))

    @property
    def max_norm(self) -> float:
        """The square root of the number of edges of the longest path."""
        return float(np.sqrt(self._longest))

    def _reach(self, v: Array) -> Array:
        """Return the distance from the source of each vertex on a way to the sink."""
        lengths, tails = v[self._into], self.tails[self._into]
        reach = np.zeros(self._count)
        for step in self._steps:
            through = reach[tails[step.edges]] + lengths[step.edges]
            reach[step.vertices] = np.minimum.reduceat(through, step.begins)
        return reach

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """The shortest path: 1 on its edges."""
        v = self._finite(v, "the gradient")
        reach = self._reach(v)
        s, vertex = np.zeros(self.n), self.sink
        while vertex != self.source:
            first = self._first[vertex]
            edges = self._into[first : first + self._indegree[vertex]]
            edge = int(edges[np.argmin(reach[self.tails[edges]] + v[edges])])
            s[edge] = 1.0
            vertex = int(self.tails[edge])
        return s

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """p_sink - p_source + m min(0, min over edges of v_e - p_head + p_tail), for any p.

        Here p holds the lengths of shortest paths, and m bounds the number of edges that a flow
        uses: those of the longest path.
        """
        v = self._finite(v, "the gradient")
        p = self._reach(v)
        heads, tails, v = p[self.heads[self._into]], p[self.tails[self._into]], v[self._into]
        rounding = 4 * UNIT_ROUNDOFF * (np.abs(v) + np.abs(heads) + np.abs(tails))
        worst = min(0.0, float((v - heads + tails - rounding).min()))
        value = float(p[self.sink] - p[self.source])
        lost = 4 * UNIT_ROUNDOFF * (abs(value) + self._longest * abs(worst))
        return Proof(value + self._longest * worst - lost, "lengths of shortest paths")

    def distance(self, x: Point) -> float:
        """The distance to a flow that is built from x: an upper bound.

        The inflow of a vertex leaves it in proportion to the positive part of x.
        """
        z = self._vector(x)
        wishes, tails = np.maximum(z[self._out_of], 0.0), self.tails[self._out_of]
        total = np.bincount(tails, weights=wishes, minlength=self._count)[tails]
        degree = np.bincount(tails, minlength=self._count)[tails]
        shares = np.where(total > 0, wishes / np.where(total > 0, total, 1.0), 1.0 / degree)
        inflow = np.zeros(self._count)
        inflow[self.source] = 1.0
        flow = np.zeros(self.n)
        for push in self._pushes:
            edges = self._out_of[push.edges]
            flow[edges] = inflow[tails[push.edges]] * shares[push.edges]
            np.add.at(inflow, self.heads[edges], flow[edges])
        return stable_norm(z - flow)


class _Run(NamedTuple):
    """A slice of sorted edges; those from begins[i] on belong to vertices[i]."""

    edges: slice
    begins: Indices
    vertices: Indices


def _sorted(edges: Indices, ends: Indices, level: Indices) -> tuple[Indices, list[_Run]]:
    """Return the edges in the order of the vertices at these ends, and a run for every level."""
    edges = edges[np.lexsort((ends[edges], level[ends[edges]]))]
    at = ends[edges]
    cuts = np.flatnonzero(np.diff(level[at])) + 1
    runs = []
    for begin, end in zip([0, *cuts], [*cuts, edges.size], strict=True):
        vertices, begins = np.unique(at[begin:end], return_index=True)
        runs.append(_Run(slice(int(begin), int(end)), begins, vertices))
    return edges, runs


def _reached(following: list[Indices], start: int) -> Any:
    seen = np.zeros(len(following), dtype=bool)
    seen[start] = True
    reached = [start]
    for vertex in reached:  # which grows
        for head in following[vertex].tolist():
            if not seen[head]:
                seen[head] = True
                reached.append(head)
    return seen


def _ends(values: Any, name: str) -> Indices:
    array = plain_array(values, name, "the number of a vertex, from 0, for each edge")
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
        raise ProblemError(
            f"{name} must be the number of a vertex, from 0, for each edge; got {array.dtype} of "
            f"shape {array.shape}"
        )
    return array.astype(np.intp)
