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
from condal.problems.answers import generator, in_time, model_text, point_of, rounding_limit
from condal.problems.factors import factor_of
from condal.problems.graphs import adjacency, vertex_names
from condal.problems.groups import Groups, Pairs, checked_groups
from condal.problems.labels import checked_labels
from condal.problems.partitions import Partition, improve_partition, renumber, weight_within
from condal.result import Result
from condal.runtime.arguments import Seed, require_whole
from condal.smooth.objectives import Linear

MAX_VERTICES_WITH_BOUNDS = 2000  # on the entries of x, by default


@dataclass(frozen=True, eq=False)
class MaxKCut:
    r"""The semidefinite relaxation of max-k-cut [1]_.

    .. math::

        \max_x \; \tfrac{k-1}{2k} \langle L, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1,
        \; x_{ij} \ge -\tfrac{1}{k-1}, \; x \succeq 0,

    with :math:`L` the Laplacian of the weights. The optimum bounds the weight between the groups of
    every partition into k groups. `max_k_cut` builds the model.

    Parameters
    ----------
    W : sparse array
        The symmetric weights, with an empty diagonal.
    groups : Groups
        The feasible set.
    name : str, optional
        The name in results and reports.
    names : list, optional
        The names of the vertices, if they are not 0, 1, ...

    References
    ----------
    .. [1] A. Frieze and M. Jerrum, "Improved approximation algorithms for MAX k-CUT and MAX
       BISECTION", *Algorithmica* 18, 1997.
    """

    W: Any = field(repr=False)
    groups: Groups = field(repr=False)
    name: str = "max-k-cut"
    names: list[Any] | None = field(default=None, repr=False)

    __repr__ = model_text

    @property
    def n(self) -> int:
        """The number of vertices."""
        return self.groups.n

    @property
    def k(self) -> int:
        """The number of groups."""
        assert self.groups.k is not None
        return self.groups.k

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its domain is tr x = n."""
        degrees = np.asarray(self.W.sum(axis=1)).ravel()
        half = 0.5 * (self.k - 1) / self.k
        C = Symmetric(self.n, sparse=(sp.csr_array(-half * self.W),), diagonal=half * degrees)
        return self.groups.problem(Linear(C.merged()), self.name)

    def weight(self, labels: Any) -> float:
        """Return the weight of the edges between the groups."""
        whole = checked_labels(labels, self.n, self.k)
        return 0.5 * (float(self.W.sum()) - weight_within(self.W, np.zeros(self.n), whole))

    def round(
        self,
        result: Result,
        *,
        trials: int = 50,
        seed: Seed = 0,
        max_seconds: float | None = None,
    ) -> Partition:
        """Round a solution to a partition, improved by moves of single vertices.

        Each trial draws k random vectors and assigns a vertex to the one nearest to its row of the
        factor.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.
        trials : int, optional
            The number of random trials, 50 by default.
        seed : int or Generator, optional
            The seed of the random generator.
        max_seconds : float, optional
            A time limit: the best answer found by then is returned.

        Returns
        -------
        Partition
            The partition of the largest weight.
        """
        limit = rounding_limit(max_seconds)
        rng, R = generator(trials, seed), factor_of(point_of(result, self.n))
        against, nothing = sp.csr_array(-self.W), np.zeros(self.n)
        partitions: list[Partition] = []
        for _ in in_time(trials, limit):
            labels = np.argmax(R @ rng.standard_normal((R.shape[1], self.k)), axis=1)
            labels = renumber(improve_partition(against, nothing, labels, self.k, limit))
            partitions.append(Partition(self.weight(labels), float(result.bound), labels, self))
        return max(partitions, key=lambda partition: partition.value)


def max_k_cut(
    graph: Any, k: Any, *, pairs: Pairs | None = None, name: str = "max-k-cut"
) -> MaxKCut:
    r"""Return the max-k-cut model of a graph.

    Parameters
    ----------
    graph : array, sparse matrix, table of pandas, NetworkX or igraph graph
        Symmetric weights. The edge attribute `weight` of a graph is used (1 if missing), and
        vertices are numbered in the order of `list(graph)`; `Partition.groups` has their names.
    k : int
        The number of groups, at least 2; k = 2 is max-cut.
    pairs : {"none", "edges", "all"}, optional
        The pairs with :math:`x_{ij} \ge -1/(k-1)`: "edges" (default up to 2,000 vertices), "all"
        for the best bound on small graphs, or "none" (default for more), which still rounds well
        but gives a weak bound for k > 2.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    MaxKCut
        The model, for `condal.solve`.

    Raises
    ------
    ProblemError
        If the graph is not symmetric or has no edges, or an option is not allowed.

    Examples
    --------
    >>> import condal, networkx
    >>> model = condal.problems.max_k_cut(networkx.complete_graph(6), 3)
    >>> model.round(condal.solve(model))
    Partition(value=12, bound=12..., sizes=[2, 2, 2])
    """
    W = adjacency(graph)
    if W.nnz == 0:
        raise ProblemError("the graph has no edges: every cut has weight 0; nothing to solve")
    require_whole(k, "k", least=2)
    pairs = (
        ("edges" if W.shape[0] <= MAX_VERTICES_WITH_BOUNDS else "none") if pairs is None else pairs
    )
    return MaxKCut(W, checked_groups(W, k, pairs), name, vertex_names(graph))
