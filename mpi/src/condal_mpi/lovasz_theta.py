"""Lovasz's theta of a graph whose rows are owned by ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from condal.io.safe_files import PathLike
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.models import Trials
from condal.problems.stable_sets import StableSet
from condal.result import Result
from condal_mpi.edges import Edges
from condal_mpi.graphs import GraphModel, graph_rows
from condal_mpi.halo import Halo, with_halo
from condal_mpi.maps import DistributedEntries
from condal_mpi.maxcut import read_max_cut
from condal_mpi.pieces import (
    DistributedEqual,
    DistributedLinear,
    DistributedSpectrahedron,
    OnesTerm,
)
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team

FREE, TAKEN, OUT = 0, 1, 2


@dataclass(frozen=True, eq=False, repr=False)
class DistributedTheta(GraphModel[StableSet]):
    r"""Lovasz's theta on ranks: a bound on the size of every stable set of a graph.

    Maximise :math:`\langle J, x \rangle` subject to :math:`x_{ij} = 0` for every edge ij,
    :math:`\operatorname{tr} x = 1` and x psd, with :math:`J` all ones.

    Parameters
    ----------
    block, team, name, numbers
        As of `GraphModel`; the block holds rows of the adjacency matrix.
    """

    name: str = "theta"

    @cached_property
    def problem(self) -> Problem:
        """The program; its images are x_ij for the edges, of which each rank has about as many."""
        begin, end = self.team.range(self.n)
        ones = ShardedArray(np.ones(end - begin), self.team)
        edges = Edges.of(self.block, self.team)
        first, last = self.team.range(edges.count)
        each, zeros = (ShardedArray(np.full(last - first, c), self.team) for c in (1.0, 0.0))
        return Problem.of(
            f=DistributedLinear(Symmetric(self.n, [OnesTerm(1.0, ones, self.n)])),
            X=DistributedSpectrahedron.of(self.n, 1.0, self.team),
            A=DistributedEntries(self.n, each, edges),
            K=DistributedEqual(zeros),
            maximise=True,
            name=self.name,
        )

    def _trial(self, R: Array, trial: int, trials: Trials) -> tuple[float, Any]:
        """Return the stable set of greedy choices in the order of diag x, or for trials after the
        first in that of R g for a random g."""
        g = trials.rng.standard_normal(R.shape[1])
        taken = self._greedy((R * R).sum(axis=1) if trial == 0 else R @ g)
        return self.team.sum(float(taken.sum())), taken

    def answer_of(self, found: tuple[float, Any], result: Result) -> StableSet:
        size, taken = found
        return StableSet(int(size), float(result.bound), np.flatnonzero(taken))

    def _greedy(self, scores: Array) -> Any:
        """Return which of this rank's vertices are taken, if each is taken in the order of falling
        scores unless a neighbour is: those whose score is the largest around are taken at once."""
        graph, halo = self._rows
        rows, columns = self._entries
        key, number = halo(scores), halo.columns
        ahead = (key[columns] > key[rows]) | (
            (key[columns] == key[rows]) & (number[columns] < number[rows])
        )
        state = np.full(graph.shape[0], FREE)
        while self.team.sum(float((state == FREE).sum())):
            around = halo(state)[columns]
            waits = np.bincount(rows[ahead & (around == FREE)], minlength=state.size) > 0
            state[(state == FREE) & ~waits] = TAKEN
            taken = np.bincount(rows[halo(state)[columns] == TAKEN], minlength=state.size) > 0
            state[(state == FREE) & taken] = OUT
        return state == TAKEN

    @cached_property
    def _rows(self) -> tuple[Any, Halo]:
        return with_halo(self.block, self.team)

    @cached_property
    def _entries(self) -> tuple[Any, Any]:
        graph, _ = self._rows
        return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices


def theta(block: Any, team: Team | None = None) -> DistributedTheta:
    """Build the theta model of a graph from the rows that this rank owns.

    Parameters
    ----------
    block : sparse matrix
        The rows begin ... end - 1 of the adjacency matrix, where ``begin, end = Team().range(n)``,
        with n columns. The nonzero entries are the edges; self-loops are ignored.
    team : Team, optional
        The ranks; by default all.

    Returns
    -------
    DistributedTheta
        The model.
    """
    team = Team() if team is None else team
    W = graph_rows(block, team, "theta is the number of vertices")
    W.data[:] = 1.0
    return DistributedTheta(W, team)


def read_theta(file: PathLike, team: Team | None = None) -> DistributedTheta:
    """Read this rank's rows from a folder of shards and build the theta model of the graph.

    Parameters
    ----------
    file : str or os.PathLike
        The folder that `condal convert` made; weights are ignored.
    team : Team, optional
        The ranks; by default all.

    Returns
    -------
    DistributedTheta
        The model.
    """
    team = Team() if team is None else team
    graph = read_max_cut(file, team)
    return replace(theta(graph.block, team), numbers=graph.numbers)
