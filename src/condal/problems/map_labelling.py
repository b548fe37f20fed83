"""MAP inference: the most probable state of a pairwise Markov random field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains.birkhoff import coupled
from condal.domains.vectors import Simplices
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, Point, dense
from condal.maps.vectors import Matrix
from condal.problem import Problem
from condal.problems.answers import bounded_text
from condal.problems.models import Model, point_of
from condal.result import Result
from condal.runtime.arguments import describe, real_array, refuse_masked, whole_numbers
from condal.sets.boxes import Equal
from condal.smooth.objectives import Linear


@dataclass(frozen=True, eq=False)
class Labelling:
    """A state for each node, with its energy and a proved bound.

    Attributes
    ----------
    energy : float
        The energy of the labels.
    bound : float
        A proved lower bound on the energy of every labelling.
    labels : ndarray of int
        The state of each node.
    """

    energy: float
    bound: float
    labels: Indices

    def __repr__(self) -> str:
        return bounded_text(self, f"nodes={self.labels.size}")


@dataclass(frozen=True, eq=False, repr=False)
class MapInference(Model):
    r"""The linear relaxation of MAP inference over the local polytope.

    .. math::

        \min_x \; \sum_i \langle \mathrm{unary}_i, x_i \rangle
        + \sum_{ij} \langle \mathrm{pairwise}_{ij}, x_{ij} \rangle
        \quad \text{subject to} \quad
        \sum_b x_{ij}(a, b) = x_i(a), \; \sum_a x_{ij}(a, b) = x_j(b),

    with :math:`x_i` a distribution over the states of node i and :math:`x_{ij}` a distribution over
    pairs of states. The relaxation is exact on trees, and wherever its only solution is integral.
    `map_inference` builds the model.

    Parameters
    ----------
    unary : sequence of ndarray
        The costs of the states of each node.
    edges : ndarray of int
        Pairs of nodes, one per row.
    pairwise : sequence of ndarray
        A cost matrix for each edge.
    """

    unary: Sequence[Array] = field(repr=False)
    edges: Indices = field(repr=False)
    pairwise: Sequence[Array] = field(repr=False)
    name: str = "MAP inference"

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.unary)

    @cached_property
    def states(self) -> Indices:
        """The number of states of each node."""
        return np.array([costs.size for costs in self.unary], dtype=np.intp)

    @cached_property
    def sizes(self) -> Indices:
        """The lengths of the parts of x: the x_i, then the x_ij, row by row."""
        return np.concatenate([self.states, np.prod(self.states[self.edges], axis=1)])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation over a product of simplices; x is one vector of all parts."""
        cost = np.concatenate([np.ravel(table) for table in (*self.unary, *self.pairwise)])
        return Problem.of(
            f=Linear(cost),
            X=Simplices(self.sizes),
            A=Matrix(self._agreement),
            K=Equal(np.zeros(self._agreement.shape[0])),
            repair=self.repair,
            name=self.name,
        )

    @cached_property
    def _begins(self) -> Indices:
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def _agreement(self) -> Any:
        """The rows of sum_b x_ij(a, b) - x_i(a) and sum_a x_ij(a, b) - x_j(b), by edge."""
        rows: list[Any] = []
        columns: list[Any] = []
        signs: list[Array] = []
        ends = self.states[self.edges]
        first = np.cumsum(ends.sum(axis=1)) - ends.sum(axis=1)
        for group, (p, q) in self._shapes():
            nodes, places = self._begins[self.edges[group]], self._begins[len(self.states) + group]
            a, b = (index.ravel() for index in np.indices((p, q)))
            entries = places[:, None] + np.arange(p * q)
            for offset, state, count, node in ((0, a, p, nodes[:, 0]), (p, b, q, nodes[:, 1])):
                top = first[group][:, None] + offset
                rows += [(top + state).ravel(), (top + np.arange(count)).ravel()]
                columns += [entries.ravel(), (node[:, None] + np.arange(count)).ravel()]
                signs += [np.ones(entries.size), -np.ones(group.size * count)]
        shape = (int(ends.sum()), int(self.sizes.sum()))
        if not rows:
            return sp.csr_array(shape)
        where = np.concatenate(rows), np.concatenate(columns)
        return sp.csr_array((np.concatenate(signs), where), shape=shape)

    def _shapes(self) -> Iterator[tuple[Indices, tuple[int, int]]]:
        """Yield the edges of each shape, for vectorised treatment."""
        ends = self.states[self.edges]
        for shape in np.unique(ends, axis=0):
            yield np.flatnonzero((ends == shape).all(axis=1)), (int(shape[0]), int(shape[1]))

    def repair(self, x: Point) -> Point:
        """Return x with the x_ij moved to agree with the x_i."""
        z = np.array(dense(x))
        for group, (p, q) in self._shapes():
            places = self._begins[len(self.states) + group][:, None] + np.arange(p * q)
            nodes = self._begins[self.edges[group]]
            rows = z[nodes[:, 0][:, None] + np.arange(p)]
            columns = z[nodes[:, 1][:, None] + np.arange(q)]
            z[places] = coupled(z[places].reshape(-1, p, q), rows, columns).reshape(-1, p * q)
        return z

    def energy(self, labels: Any) -> float:
        """Return sum_i unary_i(l_i) + sum_ij pairwise_ij(l_i, l_j)."""
        states = _checked_states(labels, self.states)
        unary = sum(float(table[label]) for table, label in zip(self.unary, states, strict=True))
        return unary + sum(
            float(table[states[i], states[j]])
            for table, (i, j) in zip(self.pairwise, self.edges, strict=True)
        )

    def round(self, result: Result) -> Labelling:
        """Round a result to the most likely state of each node, improved by `improve`."""
        nodes = np.split(point_of(result, self.sizes.sum()), self._begins[1:])[: self.n]
        labels = self.improve(np.array([int(np.argmax(x_i)) for x_i in nodes]))
        return Labelling(self.energy(labels), float(result.bound), labels)

    def improve(self, labels: Any) -> Indices:
        """Return labels that no change of a single node improves.

        They are reached from the given ones, the state of each node, by iterated conditional modes
        (Besag 1986).
        """
        states = _checked_states(labels, self.states)
        queue = list(range(states.size))
        waiting = set(queue)
        while queue:
            node = queue.pop()
            waiting.discard(node)
            costs = self.unary[node].astype(np.float64)
            for edge, other, second in self._near[node]:
                table = self.pairwise[edge]
                costs = costs + (table[states[other]] if second else table[:, states[other]])
            best = int(np.argmin(costs))
            if costs[best] < costs[states[node]]:
                states[node] = best
                neighbours = [other for _, other, _ in self._near[node] if other not in waiting]
                queue += neighbours
                waiting.update(neighbours)
        return states

    @cached_property
    def _near(self) -> list[list[tuple[int, int, bool]]]:
        """The edges of each node: index, other end, and whether the node is the second end."""
        near: list[list[tuple[int, int, bool]]] = [[] for _ in self.unary]
        for edge, (i, j) in enumerate(self.edges.tolist()):
            near[i].append((edge, j, False))
            near[j].append((edge, i, True))
        return near


def map_inference(
    unary: Any, edges: Any, pairwise: Any, *, name: str = "MAP inference"
) -> MapInference:
    r"""Return the model of the labels of least energy.

    .. math::

        \min_l \; \sum_i \mathrm{unary}_i(l_i) + \sum_{ij} \mathrm{pairwise}_{ij}(l_i, l_j)

    Parameters
    ----------
    unary : array_like or sequence of array_like
        The costs of the states of each node, one row per node.
    edges : iterable of pairs
        Pairs of nodes, numbered from 0.
    pairwise : array_like or sequence of array_like
        A matrix for each edge, or one for all: rows are the states of the first node, columns those
        of the second.

    Raises
    ------
    ProblemError
        If the shapes do not fit, or an edge does not join two nodes.

    Examples
    --------
    A chain of three nodes that prefers equal states:

    >>> import condal
    >>> model = condal.problems.map_inference(
    ...     [[0.0, 1.0], [0.4, 0.0], [0.0, 1.0]], [(0, 1), (1, 2)], [[0.0, 0.5], [0.5, 0.0]]
    ... )
    >>> labelling = model.round(condal.solve(model))
    >>> labelling.labels.tolist(), labelling.energy
    ([0, 0, 0], 0.4)
    """
    costs = [real_array(p, f"unary[{i}]", ndim=1).copy() for i, p in enumerate(_rows(unary))]
    if not costs or min(states.size for states in costs) == 0:
        raise ProblemError("unary must hold the costs of one state or more of one node or more")
    ends = _ends(edges, len(costs))
    return MapInference(costs, ends, _tables(pairwise, ends, costs), name)


def _rows(unary: Any) -> list[Any]:
    """Return the rows of a table, or the vector of each node."""
    refuse_masked(unary, "unary")
    table = np.asarray(unary) if hasattr(unary, "__array__") else unary
    if isinstance(table, str) or not isinstance(table, Iterable) or getattr(table, "ndim", 1) == 0:
        raise ProblemError(f"unary must be a row of costs for each node; got {describe(unary)}")
    return list(table)


def _ends(edges: Any, nodes: int) -> Indices:
    if isinstance(edges, Iterable) and not hasattr(edges, "__array__"):
        edges = list(edges)  # such as the edges of a NetworkX graph
    if (isinstance(edges, list) and not edges) or getattr(edges, "size", 1) == 0:
        return np.zeros((0, 2), dtype=np.intp)
    ends = whole_numbers(edges, "edges", "pairs of nodes, as whole numbers", shape=(None, 2))
    wrong = ((ends < 0) | (ends >= nodes)).any(axis=1) | (ends[:, 0] == ends[:, 1])
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ProblemError(
            f"edges[{i}] must join two of the {nodes} nodes, numbered from 0; got "
            f"{ends[i].tolist()}"
        )
    return ends


def _tables(pairwise: Any, edges: Indices, unary: Sequence[Array]) -> Sequence[Array]:
    single = _one_table(pairwise)
    if single is not None:
        tables = [real_array(single, "pairwise", ndim=2).copy()] * len(edges)
    else:
        is_list = isinstance(pairwise, Iterable) and not isinstance(pairwise, str)
        listed = list(pairwise) if is_list else []
        if not is_list or len(listed) != len(edges):
            raise ProblemError(
                f"pairwise must hold a matrix for each of the {len(edges)} edges, or be one for "
                f"all; got {len(listed) if is_list else describe(pairwise)}"
            )
        tables = [real_array(t, f"pairwise[{i}]", ndim=2).copy() for i, t in enumerate(listed)]
    for i, (table, (a, b)) in enumerate(zip(tables, edges, strict=True)):
        wanted = (unary[a].size, unary[b].size)
        if table.shape != wanted:
            raise ProblemError(
                f"pairwise[{i}] must have shape {wanted}, the states of nodes {a} and {b}; got "
                f"{table.shape}"
            )
    return tables


def _one_table(pairwise: Any) -> Any:
    """Return pairwise as a matrix if it is a single one; else None."""
    refuse_masked(pairwise, "pairwise")
    if not isinstance(pairwise, list | tuple) and not hasattr(pairwise, "__array__"):
        return None
    try:
        array = np.asarray(pairwise)
    except ValueError:  # matrices of several shapes
        return None
    return array if array.ndim == 2 else None


def _checked_states(labels: Any, states: Indices) -> Indices:
    """Return labels unchanged, or raise ProblemError if one is not a state of its node."""
    wanted = f"{states.size} whole numbers, the state of each node"
    given = whole_numbers(labels, "labels", wanted, shape=states.shape)
    wrong = (given < 0) | (given >= states)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ProblemError(f"node {i} has {states[i]} states, from 0; got {given[i]}")
    return given
