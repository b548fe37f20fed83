"""Max-cut of a graph whose rows are owned by ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.io.safe_files import PathLike
from condal.linalg.points import Point
from condal.linalg.symmetric import Symmetric
from condal.methods.state import best_mu, sums_of
from condal.problem import Problem
from condal.problems.cuts import Cut
from condal.problems.models import Trials, point_of, unit_diagonal
from condal.problems.signs import flipped, signs_of
from condal.result import Result
from condal.runtime.limits import UNLIMITED, TimeLimit
from condal_mpi.graphs import GraphModel, graph_rows, in_file_order, read_rows
from condal_mpi.halo import Halo, with_halo
from condal_mpi.maps import DistributedDiagonal
from condal_mpi.matrix import ShardedRows, ShardedTerm, require_symmetric
from condal_mpi.pieces import (
    DistributedEqual,
    DistributedLinear,
    DistributedSpectrahedron,
)
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team


@dataclass(frozen=True, eq=False)
class DistributedMaxCut(GraphModel):
    r"""The relaxation of max-cut on ranks.

    Maximise :math:`\tfrac14 \langle L, x \rangle` subject to :math:`\operatorname{diag} x = 1` and
    x psd, where L is the Laplacian of the weights W.

    Parameters
    ----------
    block : csr_array
        This rank's rows of W, with n columns and without self-loops.
    team : Team
        The ranks.
    name : str
        The name of the problem.
    numbers : ndarray of int, optional
        The numbers of this rank's rows in the graph as the user numbers it, from 0; by default they
        are stored in that order.
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

    def round(
        self,
        result: Result,
        *,
        trials: int | None = None,
        seed: int = 0,
        max_seconds: float | None = None,
    ) -> Cut:
        """Return the best cut of random hyperplanes, each improved by flips of single vertices.

        Parameters
        ----------
        result : Result
            The result of `condal_mpi.solve`.
        trials : int, optional
            The number of hyperplanes; by default that of `condal.problems.MaxCut`.
        seed : int
            The seed of the hyperplanes.
        max_seconds : float, optional
            A time limit: the best cut found by then is returned.

        Returns
        -------
        Cut
            The cut. Every rank has its weight; only the first has the signs of all vertices, in the
            user's order.
        """
        drawn = Trials.of(trials, seed, max_seconds, most=100, n=self.n)
        with self.team.solving():
            return self._rounded(result, drawn)

    def _rounded(self, result: Result, trials: Trials) -> Cut:
        factor = point_of(result, *2 * (self.block.shape[0],)).factor()
        best_weight, best_signs = -np.inf, np.zeros(0)
        for _ in trials:
            sides = signs_of(factor.local @ trials.rng.standard_normal((factor.shape[1], 1)))
            signs = self._flipped(sides, trials.limit)[:, 0]
            s: Any = ShardedArray(signs, self.team)
            weight = s @ (self.cost @ s)
            if weight > best_weight:
                best_weight, best_signs = weight, signs
        all_signs = in_file_order(best_signs.astype(np.int8), self.numbers, self.team)
        return Cut(best_weight, float(result.bound), all_signs)

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
