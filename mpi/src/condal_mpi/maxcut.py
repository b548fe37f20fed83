"""Max-cut and Lovasz's theta of a graph whose rows are owned by ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.io.safe_files import PathLike
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.methods.state import best_mu, sums_of
from condal.problem import Problem
from condal.problems.cuts import Cut
from condal.problems.models import Trials, unit_diagonal
from condal.problems.signs import flipped, signs_of
from condal.problems.stable_sets import StableSet
from condal.result import Result
from condal.runtime.limits import UNLIMITED, TimeLimit
from condal_mpi.edges import Edges
from condal_mpi.graphs import GraphModel, graph_rows, read_rows
from condal_mpi.halo import Halo, with_halo
from condal_mpi.maps import DistributedDiagonal, DistributedEntries
from condal_mpi.matrix import ShardedRows, ShardedTerm, require_symmetric
from condal_mpi.pieces import (
    DistributedEqual,
    DistributedLinear,
    DistributedSpectrahedron,
    OnesTerm,
)
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team


@dataclass(frozen=True, eq=False, repr=False)
class DistributedMaxCut(GraphModel[Cut]):
    r"""The relaxation of max-cut on ranks.

    Maximise :math:`\tfrac14 \langle L, x \rangle` subject to :math:`\operatorname{diag} x = 1` and
    x psd, where L is the Laplacian of the weights W.

    Parameters
    ----------
    block, team, name, numbers
        As of `GraphModel`; the block holds rows of W.
    """

    name: str = "max-cut"

    @property
    def weights(self) -> ShardedArray:
        """The weights of the edges, each of them twice."""
        return ShardedArray(self.block.data, self.team)

    @cached_property
    def cost(self) -> ShardedRows:
        """L / 4."""
        begin, end = self.team.range(self.n)
        degrees, own = np.asarray(self.block.sum(axis=1)).ravel(), np.arange(end - begin)
        diagonal = sp.csr_array((degrees, (own, begin + own)), shape=self.block.shape)
        return ShardedRows(sp.csr_array(0.25 * (diagonal - self.block)), self.team)

    @cached_property
    def problem(self) -> Problem:
        """The relaxation, with the domain tr x = n."""
        begin, end = self.team.range(self.n)
        ones = ShardedArray(np.ones(end - begin), self.team)
        return Problem.of(
            f=DistributedLinear(Symmetric(self.n, [ShardedTerm(self.cost)])),
            X=DistributedSpectrahedron.of(self.n, float(self.n), self.team),
            A=DistributedDiagonal(self.n, ones),
            K=DistributedEqual(ones),
            maximise=True,
            repair=self.repair,
            name=self.name,
        )

    def first_dual(self) -> ShardedArray:
        """Return the dual of `condal.methods.state.tree_dual`, that CGAL starts from."""
        sizes, rows = 0.25 * np.abs(self.block.data), self.block.shape[0]
        sharded: Any = ShardedArray(sizes, self.team)
        mu = best_mu(sharded, self.n)
        owner = np.repeat(np.arange(rows), np.diff(self.block.indptr))
        degrees = np.asarray(self.block.sum(axis=1)).ravel()
        return ShardedArray(mu + sums_of(mu, sizes, owner, rows) + 0.25 * degrees, self.team)

    def repair(self, x: Point) -> Point:
        """Return x scaled to diag x = 1."""
        return unit_diagonal(x)

    def _trial(self, R: Array, trial: int, trials: Trials) -> tuple[float, Any]:
        """Return the cut of a random hyperplane, improved by flips of single vertices."""
        sides = signs_of(R @ trials.rng.standard_normal((R.shape[1], 1)))
        signs = self._flipped(sides, trials.limit)[:, 0]
        s: Any = ShardedArray(signs, self.team)
        return s @ (self.cost @ s), signs.astype(np.int8)

    def answer_of(self, found: tuple[float, Any], result: Result) -> Cut:
        weight, signs = found
        return Cut(weight, float(result.bound), signs)

    def _flipped(self, signs: Any, limit: TimeLimit = UNLIMITED) -> Any:
        C, back, halo = self._adjacency
        return flipped(
            C,
            signs,
            back=back,
            numbers=halo.columns,
            halo=halo,
            largest=lambda v: np.max(self.team.gathered(v), axis=0),
            limit=limit,
        )

    @cached_property
    def _adjacency(self) -> tuple[Any, Any, Halo]:
        """This rank's rows of -W with with_halo columns, their transpose, and the halo."""
        C, halo = with_halo(-self.block, self.team)
        return C, sp.csr_array(C.T), halo


def max_cut(block: Any, team: Team | None = None) -> DistributedMaxCut:
    """Build the max-cut model of a graph from the rows of W that this rank owns.

    Parameters
    ----------
    block : sparse matrix
        The rows begin ... end - 1 of W, where ``begin, end = Team().range(n)``, with n columns.
        Self-loops are never cut and are dropped.
    team : Team, optional
        The ranks; by default all.

    Returns
    -------
    DistributedMaxCut
        The model.
    """
    team = Team() if team is None else team
    W = graph_rows(block, team, "every cut has weight 0")
    model = DistributedMaxCut(W, team)
    require_symmetric(model.cost, "W", "graph")
    return model


def read_max_cut(file: PathLike, team: Team | None = None) -> DistributedMaxCut:
    """Read a graph, of which each rank reads its own rows, and build its max-cut model.

    Parameters
    ----------
    file : str or os.PathLike
        A folder of shards, which `condal convert` made.
    team : Team, optional
        The ranks; by default all.

    Returns
    -------
    DistributedMaxCut
        The model.
    """
    team = Team() if team is None else team
    with team.solving():
        team.require_alike()
        rows = read_rows(file, team)
        return replace(max_cut(rows.W, team), numbers=rows.numbers)


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
