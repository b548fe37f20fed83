"""Max-cut of a graph whose rows are owned by ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.distributed.diagonal import DistributedDiagonal, DistributedEqual, DistributedLinear
from condal.distributed.domain import DistributedSpectrahedron
from condal.distributed.halo import Halo, renumbered
from condal.distributed.matrix import ShardedRows
from condal.distributed.normals import normals
from condal.distributed.reading import read_rows
from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team
from condal.errors import ProblemError
from condal.io.safe_files import PathLike
from condal.linalg.points import Point
from condal.linalg.symmetric import Symmetric
from condal.methods.tree_dual import best_mu, sums_of
from condal.problem import Problem
from condal.problems.answers import generator, point_of, trials_of
from condal.problems.maxcut import Cut
from condal.problems.signs import flipped, signs_of
from condal.problems.unit_diagonal import unit_diagonal
from condal.result import Result

ROUNDING = 1e-12  # of a product: what two sums of the same numbers may differ by


@dataclass(frozen=True, eq=False)
class DistributedMaxCut:
    """maximise (1/4) <L, x> subject to diag x = 1, x psd: L the Laplacian of the weights W.

    `block` is this rank's rows of W, a CSR array of n columns without loops.
    """

    block: Any = field(repr=False)
    team: Team = field(repr=False)
    name: str = "max-cut"

    @property
    def n(self) -> int:
        """How many vertices."""
        return int(self.block.shape[1])

    @property
    def weights(self) -> ShardedArray:
        """Those of the edges, each of them twice."""
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
        """The relaxation, with tr x = n as its domain."""
        begin, end = self.team.range(self.n)
        ones = ShardedArray(np.ones(end - begin), self.team)
        return Problem.of(
            f=DistributedLinear(Symmetric(self.n, sparse=(self.cost,))),
            X=DistributedSpectrahedron.of(self.n, float(self.n), self.team),
            A=DistributedDiagonal(self.n, ones),
            K=DistributedEqual(ones),
            maximise=True,
            repair=self.repair,
            name=self.name,
        )

    def first_dual(self) -> ShardedArray:
        """The dual to begin with, as CGAL does on one machine: see `condal.methods.tree_dual`."""
        sizes, rows = 0.25 * np.abs(self.block.data), self.block.shape[0]
        every: Any = ShardedArray(sizes, self.team)
        mu = best_mu(every, self.n)
        owner = np.repeat(np.arange(rows), np.diff(self.block.indptr))
        degrees = np.asarray(self.block.sum(axis=1)).ravel()
        return ShardedArray(mu + sums_of(mu, sizes, owner, rows) + 0.25 * degrees, self.team)

    def repair(self, x: Point) -> Point:
        """x scaled to diag x = 1."""
        return unit_diagonal(x)

    def round(self, result: Result, *, trials: int | None = None, seed: int = 0) -> Cut:
        """The best of `trials` random hyperplanes, each improved by flips of single vertices; of as
        many as `condal.problems.MaxCut` tries, unless they are given.

        Every rank gets the weight; the first gets the signs of all vertices, the others none.
        """
        with self.team.solving():
            return self._rounded(result, trials_of(trials, 100, self.n), seed)

    def _rounded(self, result: Result, trials: int, seed: int) -> Cut:
        rng, factor = generator(trials, seed), point_of(result, self.block.shape[0]).factor()
        most, best = -np.inf, np.zeros(0)
        for _ in range(trials):
            sides = signs_of(factor.local @ rng.standard_normal((factor.shape[1], 1)))
            signs = self._flipped(sides)[:, 0]
            s: Any = ShardedArray(signs, self.team)
            weight = s @ (self.cost @ s)
            if weight > most:
                most, best = weight, signs
        every = self.team.comm.gather(best.astype(np.int8), root=0)
        return Cut(most, float(result.bound), np.concatenate(every or [np.zeros(0, np.int8)]))

    def _flipped(self, signs: Any) -> Any:
        C, back, halo = self._weighed
        return flipped(
            C,
            signs,
            back=back,
            numbers=halo.columns,
            halo=halo,
            largest=lambda v: np.max(self.team.gathered(v), axis=0),
        )

    @cached_property
    def _weighed(self) -> tuple[Any, Any, Halo]:
        """This rank's rows of -W, its columns numbered anew, their transpose, and the halo."""
        C, halo = renumbered(-self.block, self.team)
        return C, sp.csr_array(C.T), halo


def max_cut(block: Any, team: Team | None = None) -> DistributedMaxCut:
    """The max-cut model of a graph, from the rows of W that this rank owns: begin ... end - 1 of
    `Team().range(n)`, a CSR array of n columns. Self-loops are never cut and count for nothing."""
    team = Team() if team is None else team
    team.require_alike()
    with team.together():
        if not sp.issparse(block):
            raise ProblemError(
                f"the rows of W must be a SciPy sparse array; got {type(block).__name__}"
            )
        begin, end = team.range(block.shape[1])
        if block.shape[0] != end - begin:
            raise ProblemError(
                f"rank {team.rank} owns the rows {begin} to {end - 1} of {block.shape[1]}; got "
                f"{block.shape[0]} rows"
            )
        own = sp.coo_array(block)
        if not np.all(np.isfinite(own.data)):
            raise ProblemError("the weights hold NaN or infinity: clean the data first")
        kept = (own.row.astype(np.int64) + begin != own.col) & (own.data != 0)
        entries = own.data[kept].astype(np.float64), (own.row[kept], own.col[kept])
        W = sp.csr_array(entries, shape=block.shape)
    team.require_same(block.shape[1], "the number of vertices")
    if team.sum(float(W.nnz)) == 0:
        raise ProblemError("the graph has no edges: every cut has weight 0; nothing to solve")
    model = DistributedMaxCut(W, team)
    _require_symmetric(model)
    return model


def read_max_cut(file: PathLike, team: Team | None = None) -> DistributedMaxCut:
    """The max-cut model of the graph in a file, of which each rank reads a part."""
    team = Team() if team is None else team
    with team.solving():
        team.require_alike()
        return max_cut(read_rows(file, team).W, team)


def _require_symmetric(model: DistributedMaxCut) -> None:
    """Raise ProblemError unless u'Lv = v'Lu for two vectors at random: ranks of other graphs, or
    of rows in another order, do not pass."""
    u, v = (normals(model.team, model.n, seed=[which, model.n]) for which in (1, 2))
    Lu, Lv = model.cost @ u, model.cost @ v
    sizes = float(np.linalg.norm(u) * np.linalg.norm(Lv) + np.linalg.norm(v) * np.linalg.norm(Lu))
    if not abs(u @ Lv - v @ Lu) <= ROUNDING * sizes:
        raise ProblemError(
            "the rows of the ranks make no symmetric W: were all of them given their rows of the "
            "same graph?"
        )
