"""Max-k-cut and its semidefinite relaxation (Frieze and Jerrum 1997)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.problems.graphs import edges_required, vertex_names
from condal.problems.models import Trials, factor_of
from condal.problems.partitions import Pairs, PartitionModel, checked_pairs
from condal.runtime.arguments import require_whole
from condal.smooth.objectives import Linear

MAX_VERTICES_WITH_BOUNDS = 2000  # on the entries of x, by default


@dataclass(frozen=True, eq=False, repr=False)
class MaxKCut(PartitionModel):
    r"""The semidefinite relaxation of max-k-cut [1]_.

    .. math::

        \max_x \; \tfrac{k-1}{2k} \langle L, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1,
        \; x_{ij} \ge -\tfrac{1}{k-1}, \; x \succeq 0,

    with :math:`L` the Laplacian of the weights. The optimum bounds the weight between the groups of
    every partition into k groups.

    Each of the 50 trials of `round` draws k random vectors and assigns a vertex to the one nearest
    to its row of a factor of x; moves of single vertices improve the partition. `max_k_cut` builds
    the model.

    References
    ----------
    .. [1] A. Frieze and M. Jerrum, "Improved approximation algorithms for MAX k-CUT and MAX
       BISECTION", *Algorithmica* 18, 1997.
    """

    k: int = field(repr=False)
    name: str = field(default="max-k-cut", kw_only=True)

    most_trials = 50
    quality_text = "the weight of the edges between groups"

    @property
    def _f(self) -> Linear:
        degrees = np.asarray(self.W.sum(axis=1)).ravel()
        half = 0.5 * (self.k - 1) / self.k
        C = Symmetric(self.n, sparse=(sp.csr_array(-half * self.W),), diagonal=half * degrees)
        return Linear(C.merged())

    @cached_property
    def _links(self) -> tuple[Any, Array]:
        return sp.csr_array(-self.W), np.zeros(self.n)

    def _draw(self, x: Point, trials: Trials) -> Callable[[], Any]:
        R, rng = factor_of(x), trials.rng
        return lambda: np.argmax(R @ rng.standard_normal((R.shape[1], self.k)), axis=1)

    def value(self, labels: Any) -> float:
        return self.weight(labels)

    def weight(self, labels: Any) -> float:
        """Return the weight of the edges between the groups."""
        return 0.5 * (float(self.W.sum()) + self._within(labels))


def max_k_cut(
    graph: Any, k: Any, *, pairs: Pairs | None = None, name: str = "max-k-cut"
) -> MaxKCut:
    r"""Return the max-k-cut model of a graph.

    Parameters
    ----------
    graph : array, sparse matrix, table of pandas, NetworkX or igraph graph
        Symmetric weights, as for `max_cut`; `Partition.groups` has the names of the vertices.
    k : int
        The number of groups, at least 2; k = 2 is max-cut.
    pairs : {"none", "edges", "all"}, optional
        The pairs with :math:`x_{ij} \ge -1/(k-1)`: "edges" (default up to 2,000 vertices), "all"
        for the best bound on small graphs, or "none" (default for more), which still rounds well
        but gives a weak bound for k > 2.

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
    W = edges_required(graph, "graph", "every cut has weight 0")
    require_whole(k, "k", least=2)
    if pairs is None:
        pairs = "edges" if W.shape[0] <= MAX_VERTICES_WITH_BOUNDS else "none"
    names = vertex_names(graph)
    return MaxKCut(W, int(k), checked_pairs(k, pairs), name=name, names=names)
