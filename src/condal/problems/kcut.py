"""Max-k-cut and its semidefinite relaxation (Frieze and Jerrum 1997)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.answers import generator, point_of
from condal.problems.factors import factor_of
from condal.problems.graphs import adjacency
from condal.problems.groups import Groups, Pairs, checked_groups
from condal.problems.labels import checked_labels
from condal.problems.partitions import Partition, numbered, settle, within
from condal.result import Result
from condal.runtime.arguments import require_whole
from condal.smooth.linear import Linear

LARGEST = 2000  # vertices up to which bounds on the entries of x are asked for by default


@dataclass(frozen=True, eq=False)
class MaxKCut:
    """maximise (k - 1)/(2k) <L, x> subject to diag x = 1, x_ij >= -1/(k - 1), x psd.

    L is the Laplacian of the weights W. The value bounds the weight of the edges between the groups
    of every partition into k groups.
    """

    W: Any = field(repr=False)
    groups: Groups = field(repr=False)
    name: str = "max-k-cut"

    @property
    def n(self) -> int:
        """How many vertices."""
        return self.groups.n

    @property
    def k(self) -> int:
        """How many groups."""
        assert self.groups.k is not None
        return self.groups.k

    @cached_property
    def problem(self) -> Problem:
        """The relaxation, with tr x = n as its domain."""
        degrees = np.asarray(self.W.sum(axis=1)).ravel()
        half = 0.5 * (self.k - 1) / self.k
        C = Symmetric(self.n, sparse=(sp.csr_array(-half * self.W),), diagonal=half * degrees)
        return Problem.of(
            f=Linear(C.merged()),
            X=self.groups.X,
            A=self.groups.A,
            K=self.groups.K,
            maximise=True,
            repair=self.groups.repair,
            name=self.name,
        )

    def weight(self, labels: Any) -> float:
        """The weight of the edges between the groups."""
        whole = checked_labels(labels, self.n, self.k)
        return 0.5 * (float(self.W.sum()) - within(self.W, np.zeros(self.n), whole))

    def round(self, result: Result, *, trials: int = 50, seed: int = 0) -> Partition:
        """The best of `trials` choices of k random vectors, a vertex to the one nearest its row of
        the factor, each improved by moves of single vertices."""
        rng, R = generator(trials, seed), factor_of(point_of(result, self.n))
        against, nothing = sp.csr_array(-self.W), np.zeros(self.n)
        found: list[Partition] = []
        for _ in range(trials):
            labels = np.argmax(R @ rng.standard_normal((R.shape[1], self.k)), axis=1)
            labels = numbered(settle(against, nothing, labels, self.k))
            found.append(Partition(self.weight(labels), float(result.bound), labels))
        return max(found, key=lambda one: one.value)


def max_k_cut(
    graph: Any, k: Any, *, pairs: Pairs | None = None, name: str = "max-k-cut"
) -> MaxKCut:
    """The max-k-cut model of a graph: a symmetric matrix of weights, or a NetworkX graph.

    Parameters
    ----------
    k : how many groups, at least 2; for k = 2 this is max-cut.
    pairs : of which vertices x_ij >= -1/(k - 1) is asked: of those that "edges" join, by default up
        to 2,000 vertices; of "all", for the best bound on small graphs; or of "none", the default
        for more vertices, which still rounds well, but bounds little for k > 2.
    """
    W = adjacency(graph)
    if W.nnz == 0:
        raise ProblemError("the graph has no edges: every cut has weight 0; nothing to solve")
    require_whole(k, "k", least=2)
    pairs = ("edges" if W.shape[0] <= LARGEST else "none") if pairs is None else pairs
    return MaxKCut(W, checked_groups(W, k, pairs), name)
