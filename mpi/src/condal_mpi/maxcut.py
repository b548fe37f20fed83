"""Max-cut of a graph whose rows are owned by ranks."""

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
from condal.result import Result
from condal.runtime.limits import UNLIMITED, TimeLimit
from condal_mpi.graphs import GraphModel, graph_rows, read_rows
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
