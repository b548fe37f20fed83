"""Communities of a graph, as of the stochastic block model, by semidefinite programming."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.answers import generator, point_of
from condal.problems.factors import leading
from condal.problems.graphs import adjacency
from condal.problems.groups import Groups, Pairs, checked_groups
from condal.problems.inputs import require_choice
from condal.problems.labels import checked_labels
from condal.problems.lloyd import PointRows, best_clustering
from condal.problems.partitions import Partition, numbered, settle, within
from condal.result import Result
from condal.runtime.arguments import require_positive
from condal.smooth.linear import Linear

Null: TypeAlias = Literal["uniform", "degrees"]


@dataclass(frozen=True, eq=False)
class Communities:
    """maximise <W - c c', x> subject to diag x = 1 and, for some pairs, x_ij >= -1/(k - 1), x psd.

    c c' is the weight that is expected of a pair if there are no groups: the same for all pairs, or
    in proportion to their degrees. A partition is 1 within its groups, -1/(k - 1) between them, and
    its quality the share of all weight that lies within groups beyond what is expected there, which
    is called modularity for degrees. The optimum bounds that of every partition into k groups.
    """

    W: Any = field(repr=False)
    c: Array = field(repr=False)
    groups: Groups = field(repr=False)
    name: str = "communities"

    @property
    def n(self) -> int:
        """How many vertices."""
        return self.groups.n

    @property
    def k(self) -> int | None:
        """How many groups; None for any number."""
        return self.groups.k

    @cached_property
    def problem(self) -> Problem:
        """The program, with tr x = n as its domain."""
        return Problem.of(
            f=Linear(Symmetric(self.n, sparse=(self.W,), pairs=((-self.c, self.c),))),
            X=self.groups.X,
            A=self.groups.A,
            K=self.groups.K,
            maximise=True,
            repair=self.groups.repair,
            name=self.name,
        )

    def quality(self, labels: Any) -> float:
        """sum over i, j of one group of W_ij - c_i c_j, as a part of all weight."""
        whole = checked_labels(labels, self.n, self.k)
        return within(self.W, self.c, whole) / float(self.W.sum())

    def quality_bound(self, result: Result) -> float:
        """What is proved of the quality of every partition: it is not above this."""
        point_of(result, self.n)
        total = float(self.W.sum())
        if self.k is None:
            return result.bound / total
        whole = total - float(self.c.sum()) ** 2  # the objective at J, of all in one group
        return ((self.k - 1) * result.bound + whole) / (self.k * total)

    def round(self, result: Result, *, trials: int = 20, seed: int = 0) -> Partition:
        """The best of `trials` clusterings of the rows of x, improved by moves of single vertices.

        For k groups these are of the rows of its leading factor, by k-means; else a vertex is drawn
        and takes all to which x is nearer to 1 than to 0, until all are taken.
        """
        rng, x = generator(trials, seed), point_of(result, self.n)
        bound = self.quality_bound(result)
        rows = None if self.k is None else PointRows(leading(x, max(1, self.k - 1)))
        found: list[Partition] = []
        for _ in range(trials):
            if rows is None:
                labels = _taken(x, rng)
            else:
                labels = best_clustering(rows, min(self.k or 1, self.n), rng)
            groups = self.k or int(labels.max()) + 2  # one more, for vertices that fit nowhere
            labels = numbered(settle(self.W, self.c, labels, groups))
            found.append(Partition(self.quality(labels), bound, labels))
        return max(found, key=lambda one: one.value)


def communities(
    graph: Any,
    k: Any = 2,
    *,
    null: Null = "uniform",
    resolution: float = 1.0,
    pairs: Pairs | None = None,
    name: str = "communities",
) -> Communities:
    """The model of the communities of a graph: a symmetric matrix of weights, or a NetworkX graph.

    Parameters
    ----------
    graph : weights must not be negative; loops count for nothing.
    k : how many groups there are to be, or at most; None for any number.
    null : what is expected of a pair if there are no groups: "uniform", as the stochastic block
        model has it, or by "degrees", so that the quality is modularity.
    resolution : a factor on what is expected; above 1 the groups that are sought get smaller.
    pairs : of which vertices x_ij >= -1/(k - 1) is asked: of "none" by default, so that graphs of
        any size can be solved; of those that "edges" join, or of "all", the only choice for k =
        None, for the best bound on small graphs.
    """
    W = adjacency(graph)
    if W.nnz == 0:
        raise ProblemError("the graph has no edges: it has no communities; nothing to solve")
    if W.data.min() < 0:
        raise ProblemError(
            f"weights must not be negative; got {W.data.min():g}: a weight says how strongly two "
            "vertices belong together"
        )
    require_choice(null, "null", get_args(Null))
    require_positive(resolution, "resolution")
    degrees = np.asarray(W.sum(axis=1)).ravel()
    share = degrees if null == "degrees" else np.full(W.shape[0], degrees.mean())
    c = share * np.sqrt(resolution / degrees.sum())
    pairs = ("all" if k is None else "none") if pairs is None else pairs
    return Communities(W, c, checked_groups(W, k, pairs), name)


def _taken(x: Point, rng: np.random.Generator) -> Any:
    """Groups of the vertices to which x, of a vertex drawn among those left, is above 1/2."""
    full = dense(x)
    labels = np.full(len(full), -1)
    for v in rng.permutation(len(full)):
        if labels[v] < 0:
            near = (full[v] > 0.5) & (labels < 0)
            near[v] = True
            labels[near] = labels.max() + 1
    return labels
