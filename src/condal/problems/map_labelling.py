"""The most probable state of a pairwise Markov random field (MAP inference)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains.couplings import coupled
from condal.domains.product import Product
from condal.domains.vectors import Simplex, Simplices
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, Point, dense
from condal.maps.combined import Across
from condal.maps.vectors import Matrix
from condal.problem import Problem
from condal.problems.answers import parts_of
from condal.problems.inputs import array_of, described, real_array
from condal.problems.labels import checked_states
from condal.result import Result
from condal.sets.boxes import Equal
from condal.smooth.linear import Linear


@dataclass(frozen=True, eq=False)
class Labelling:
    """A state for each node. No labelling has an energy below `bound`, which is proved."""

    energy: float
    bound: float
    labels: Indices

    def __repr__(self) -> str:
        return (
            f"Labelling(energy={self.energy:.10g}, none is below {self.bound:.10g}, "
            f"{self.labels.size} nodes)"
        )


@dataclass(frozen=True, eq=False)
class MapInference:
    """minimise sum_i <unary_i, x_i> + sum_ij <pairwise_ij, x_ij> over the local polytope.

    x_i is a distribution over the states of node i, x_ij one over pairs of states, and they agree:
    sum_b x_ij(a, b) = x_i(a), sum_a x_ij(a, b) = x_j(b). It is the linear relaxation of: find the
    labels of the least energy. On trees, and wherever it has one integral solution, it is exact.
    """

    unary: Sequence[Array] = field(repr=False)
    edges: Indices = field(repr=False)
    pairwise: Sequence[Array] = field(repr=False)
    name: str = "MAP inference"

    @cached_property
    def states(self) -> Indices:
        """How many each node has."""
        return np.array([part.size for part in self.unary], dtype=np.intp)

    @cached_property
    def sizes(self) -> Indices:
        """The lengths of the parts of x: the x_i, then the x_ij, row after row."""
        return np.concatenate([self.states, np.prod(self.states[self.edges], axis=1)])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation over a product of simplices, x a vector: all parts one after another."""
        cost = np.concatenate([np.ravel(part) for part in (*self.unary, *self.pairwise)])
        return Problem.of(
            f=Linear(cost),
            X=Simplices(self.sizes),
            A=Matrix(self._agreement),
            K=Equal(np.zeros(self._agreement.shape[0])),
            repair=self.repair,
            name=self.name,
        )

    @cached_property
    def split(self) -> Problem:
        """The same problem with x a tuple, a block for each node and edge: for methods that take
        blocks one by one, such as GDMM."""
        by_columns = sp.csc_array(self._agreement)
        columns = np.split(np.arange(by_columns.shape[1]), self._begins[1:])
        return Problem.of(
            f=Linear(tuple(np.ravel(part) for part in (*self.unary, *self.pairwise))),
            X=Product(*(Simplex(int(size)) for size in self.sizes)),
            A=Across(*(Matrix(by_columns[:, here]) for here in columns)),
            K=Equal(np.zeros(self._agreement.shape[0])),
            name=self.name,
        )

    @cached_property
    def _begins(self) -> Indices:
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def _agreement(self) -> Any:
        """The rows of sum_b x_ij(a, b) - x_i(a) and of sum_a x_ij(a, b) - x_j(b), edge by edge."""
        rows: list[Any] = []
        columns: list[Any] = []
        signs: list[Array] = []
        ends = self.states[self.edges]
        first = np.cumsum(ends.sum(axis=1)) - ends.sum(axis=1)
        for group, (p, q) in self._shapes():
            nodes, places = self._begins[self.edges[group]], self._begins[len(self.states) + group]
            a, b = (index.ravel() for index in np.indices((p, q)))
            here = places[:, None] + np.arange(p * q)
            for offset, state, count, node in ((0, a, p, nodes[:, 0]), (p, b, q, nodes[:, 1])):
                top = first[group][:, None] + offset
                rows += [(top + state).ravel(), (top + np.arange(count)).ravel()]
                columns += [here.ravel(), (node[:, None] + np.arange(count)).ravel()]
                signs += [np.ones(here.size), -np.ones(group.size * count)]
        shape = (int(ends.sum()), int(self.sizes.sum()))
        if not rows:
            return sp.csr_array(shape)
        where = np.concatenate(rows), np.concatenate(columns)
        return sp.csr_array((np.concatenate(signs), where), shape=shape)

    def _shapes(self) -> Iterator[tuple[Indices, tuple[int, int]]]:
        """The edges of each shape, for all to be treated at once."""
        ends = self.states[self.edges]
        for shape in np.unique(ends, axis=0):
            yield np.flatnonzero((ends == shape).all(axis=1)), (int(shape[0]), int(shape[1]))

    def repair(self, x: Point) -> Point:
        """x with the x_ij moved to agree with the x_i."""
        z = np.array(dense(x))
        for group, (p, q) in self._shapes():
            places = self._begins[len(self.states) + group][:, None] + np.arange(p * q)
            nodes = self._begins[self.edges[group]]
            rows = z[nodes[:, 0][:, None] + np.arange(p)]
            columns = z[nodes[:, 1][:, None] + np.arange(q)]
            z[places] = coupled(z[places].reshape(-1, p, q), rows, columns).reshape(-1, p * q)
        return z

    def energy(self, labels: Any) -> float:
        """sum_i unary_i(l_i) + sum_ij pairwise_ij(l_i, l_j)."""
        found = checked_states(labels, self.states)
        alone = sum(float(part[label]) for part, label in zip(self.unary, found, strict=True))
        return alone + sum(
            float(part[found[i], found[j]])
            for part, (i, j) in zip(self.pairwise, self.edges, strict=True)
        )

    def round(self, result: Result) -> Labelling:
        """The likeliest state of each node, improved node by node until no change of one helps.

        The result is of the model, or of its `split`.
        """
        parts = parts_of(result, self.sizes)[: self.states.size]
        labels = self.improve(np.array([int(np.argmax(part)) for part in parts]))
        return Labelling(self.energy(labels), float(result.bound), labels)

    def improve(self, labels: Any) -> Indices:
        """Iterated conditional modes (Besag 1986): each node in turn takes its best state."""
        found = checked_states(labels, self.states)
        queue = list(range(found.size))
        waiting = set(queue)
        while queue:
            node = queue.pop()
            waiting.discard(node)
            costs = self.unary[node].astype(np.float64)
            for edge, other, second in self._near[node]:
                part = self.pairwise[edge]
                costs = costs + (part[found[other]] if second else part[:, found[other]])
            best = int(np.argmin(costs))
            if costs[best] < costs[found[node]]:
                found[node] = best
                again = [other for _, other, _ in self._near[node] if other not in waiting]
                queue += again
                waiting.update(again)
        return found

    @cached_property
    def _near(self) -> list[list[tuple[int, int, bool]]]:
        """The edges of each node: which, to whom, and whether the node is its second end."""
        near: list[list[tuple[int, int, bool]]] = [[] for _ in self.unary]
        for edge, (i, j) in enumerate(self.edges.tolist()):
            near[i].append((edge, j, False))
            near[j].append((edge, i, True))
        return near


def map_inference(
    unary: Any, edges: Any, pairwise: Any, *, name: str = "MAP inference"
) -> MapInference:
    """The model of the labels of least energy, sum_i unary_i(l_i) + sum_ij pairwise_ij(l_i, l_j).

    Parameters
    ----------
    unary : the costs of the states of each node: a row a node, or a vector for each.
    edges : pairs of nodes, numbered from 0.
    pairwise : a matrix for each edge, a row for each state of its first node and a column for each
        of its second; or one matrix for all edges.
    """
    costs = [real_array(p, f"unary[{i}]", ndim=1).copy() for i, p in enumerate(_rows(unary))]
    if not costs or min(part.size for part in costs) == 0:
        raise ProblemError("unary must hold the costs of one state or more of one node or more")
    ends = _ends(edges, len(costs))
    return MapInference(costs, ends, _tables(pairwise, ends, costs), name)


def _rows(unary: Any) -> list[Any]:
    """The rows of a table, or what there is for each node."""
    table = np.asarray(unary) if hasattr(unary, "__array__") else unary
    if isinstance(table, str) or not isinstance(table, Iterable) or getattr(table, "ndim", 1) == 0:
        raise ProblemError(f"unary must be a row of costs for each node; got {described(unary)}")
    return list(table)


def _ends(edges: Any, nodes: int) -> Indices:
    wanted = "pairs of nodes, as whole numbers"
    if isinstance(edges, Iterable) and not hasattr(edges, "__array__"):
        edges = list(edges)  # the edges of a NetworkX graph, or whatever gives them
    ends = array_of(edges, "edges", wanted)
    if ends.size == 0:
        return np.zeros((0, 2), dtype=np.intp)
    whole = ends.dtype.kind in "iu"
    if ends.ndim != 2 or ends.shape[1] != 2 or not whole:
        wrong = np.full(ends.shape, not whole)
        raise ProblemError(f"edges must be {wanted}; got {described(edges, wrong)}")
    wrong = ((ends < 0) | (ends >= nodes)).any(axis=1) | (ends[:, 0] == ends[:, 1])
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ProblemError(
            f"edges[{i}] must join two of the {nodes} nodes, numbered from 0; got "
            f"{ends[i].tolist()}"
        )
    return ends.astype(np.intp)


def _tables(pairwise: Any, edges: Indices, unary: Sequence[Array]) -> Sequence[Array]:
    one = _one_table(pairwise)
    if one is not None:
        tables = [real_array(one, "pairwise", ndim=2).copy()] * len(edges)
    elif isinstance(pairwise, Iterable) and not isinstance(pairwise, str):
        tables = [real_array(t, f"pairwise[{i}]", ndim=2).copy() for i, t in enumerate(pairwise)]
    else:
        raise ProblemError(
            f"pairwise must hold a matrix for each of the {len(edges)} edges, or be one for all; "
            f"got {described(pairwise)}"
        )
    if len(tables) != len(edges):
        raise ProblemError(
            f"pairwise must hold a matrix for each of the {len(edges)} edges, or be one for all; "
            f"got {len(tables)}"
        )
    for i, (table, (a, b)) in enumerate(zip(tables, edges, strict=True)):
        wanted = (unary[a].size, unary[b].size)
        if table.shape != wanted:
            raise ProblemError(
                f"pairwise[{i}] must have shape {wanted}, the states of nodes {a} and {b}; got "
                f"{table.shape}"
            )
    return tables


def _one_table(pairwise: Any) -> Any:
    """pairwise as a matrix, if it is one: an array, a table, or a list of rows of numbers."""
    if not isinstance(pairwise, list | tuple) and not hasattr(pairwise, "__array__"):
        return None
    try:
        array = np.asarray(pairwise)
    except ValueError:  # matrices of several shapes
        return None
    return array if array.ndim == 2 else None
