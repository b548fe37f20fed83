"""Models of partitions: max-k-cut (Frieze and Jerrum 1997), and communities as in the stochastic
block model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.problems.graphs import edges_required, vertex_names
from condal.problems.lloyd import PointRows, best_clustering
from condal.problems.models import Trials, factor_of, leading_factor, point_of
from condal.problems.partitions import Pairs, PartitionModel, checked_pairs
from condal.result import Result
from condal.runtime.arguments import require_choice, require_positive, require_whole
from condal.smooth.objectives import Linear

Null: TypeAlias = Literal["uniform", "degrees"]
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


@dataclass(frozen=True, eq=False, repr=False)
class Communities(PartitionModel):
    r"""The semidefinite relaxation of community detection.

    .. math::

        \max_x \; \langle W - c c^T, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1, \; x \succeq 0,
        \; x_{ij} \ge -\tfrac{1}{k - 1} \text{ for some pairs},

    with :math:`c_i c_j` the expected weight of a pair without communities: equal for all pairs, or
    proportional to the degrees. A partition is the point with 1 within its groups and
    :math:`-1/(k-1)` between them. Its quality is the fraction of all weight that lies within groups
    in excess of the expected weight; with degrees it is the modularity. The optimum bounds the
    quality of every partition into k groups.

    For k groups, each of the 20 trials of `round` clusters the rows of the leading factor of x by
    k-means. For any number of groups, a drawn vertex takes all remaining vertices whose entry of x
    is nearer to 1 than to 0. Moves of single vertices improve the partition. `communities` builds
    the model.

    Parameters
    ----------
    c : ndarray
        The vector of the expected weights.
    """

    c: Array = field(repr=False)
    name: str = field(default="communities", kw_only=True)

    most_trials = 20
    quality_text = "weight within groups above the expected"

    @property
    def _f(self) -> Linear:
        return Linear(Symmetric(self.n, sparse=(self.W,), pairs=((-self.c, self.c),)))

    @property
    def _links(self) -> tuple[Any, Array]:
        return self.W, self.c

    def _draw(self, x: Point, trials: Trials) -> Callable[[], Any]:
        if self.k is None:
            return lambda: _grouped_by_draws(x, trials.rng)
        rows = PointRows(leading_factor(x, max(1, self.k - 1)))
        k, one = min(self.k, self.n), replace(trials, count=1)
        return lambda: best_clustering(rows, k, one)

    def value(self, labels: Any) -> float:
        return self.quality(labels)

    def value_bound(self, result: Result) -> float:
        return self.quality_bound(result)

    def quality(self, labels: Any) -> float:
        """Return the sum of W_ij - c_i c_j within groups, relative to the total weight."""
        return self._within(labels) / float(self.W.sum())

    def quality_bound(self, result: Result) -> float:
        """Return the proved upper bound on the quality of every partition."""
        point_of(result, self.n, self.n)
        total = float(self.W.sum())
        if self.k is None:
            return result.bound / total
        whole = total - float(self.c.sum()) ** 2  # the objective at J, where all share one group
        return ((self.k - 1) * result.bound + whole) / (self.k * total)


def communities(
    graph: Any,
    k: Any = 2,
    *,
    null: Null = "degrees",
    resolution: float = 1.0,
    pairs: Pairs | None = None,
    name: str = "communities",
) -> Communities:
    r"""Return the community model of a graph.

    Parameters
    ----------
    graph : array, sparse matrix, table of pandas, NetworkX or igraph graph
        Symmetric weights, as for `max_cut` but not negative; `Partition.groups` has the names of
        the vertices.
    k : int or None, optional
        The largest number of groups; None for any number.
    null : {"degrees", "uniform"}, optional
        The expected weight of a pair without communities: proportional to "degrees" (default),
        which makes the quality the modularity, or "uniform" as in the stochastic block model.
    resolution : float, optional
        A factor on the expected weights; values above 1 favour smaller groups.
    pairs : {"none", "edges", "all"}, optional
        The pairs with :math:`x_{ij} \ge -1/(k-1)`: "none" (default) works for graphs of any size,
        "edges" are the pairs joined by an edge, and "all" gives the best bound on small graphs; it
        is the only choice for k = None.

    Raises
    ------
    ProblemError
        If the graph has no edges or a negative weight, or an option is not allowed.

    Examples
    --------
    Two cliques of four vertices, joined by one edge:

    >>> import condal, networkx
    >>> graph = networkx.barbell_graph(4, 0)
    >>> model = condal.problems.communities(graph, 2)
    >>> partition = model.round(condal.solve(model))
    >>> partition.sizes.tolist(), round(partition.value, 4)
    ([4, 4], 0.4231)
    """
    W = edges_required(graph, "graph", "it has no communities")
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
    if k is not None:
        require_whole(k, "k", least=2)
        k = int(k)
    pairs = ("all" if k is None else "none") if pairs is None else pairs
    return Communities(W, k, checked_pairs(k, pairs), c, name=name, names=vertex_names(graph))


def _grouped_by_draws(x: Point, rng: np.random.Generator) -> Any:
    """Group the undrawn vertices whose entry of x with a randomly drawn vertex exceeds 1/2."""
    full = dense(x)
    labels = np.full(len(full), -1)
    for v in rng.permutation(len(full)):
        if labels[v] < 0:
            near = (full[v] > 0.5) & (labels < 0)
            near[v] = True
            labels[near] = labels.max() + 1
    return labels
