"""Communities of a graph by semidefinite programming, as in the stochastic block model."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.answers import generator, in_time, model_text, point_of, rounding_limit
from condal.problems.factors import leading_factor
from condal.problems.graphs import adjacency, vertex_names
from condal.problems.groups import Groups, Pairs, checked_groups
from condal.problems.inputs import require_choice
from condal.problems.labels import checked_labels
from condal.problems.lloyd import PointRows, best_clustering
from condal.problems.partitions import Partition, improve_partition, renumber, weight_within
from condal.result import Result
from condal.runtime.arguments import Seed, require_positive
from condal.smooth.objectives import Linear

Null: TypeAlias = Literal["uniform", "degrees"]


@dataclass(frozen=True, eq=False)
class Communities:
    r"""The semidefinite relaxation of community detection.

    .. math::

        \max_x \; \langle W - c c^T, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1, \; x \succeq 0,
        \; x_{ij} \ge -\tfrac{1}{k - 1} \text{ for some pairs},

    with :math:`c_i c_j` the expected weight of a pair without communities: equal for all pairs, or
    proportional to the degrees. A partition is the point with 1 within its groups and
    :math:`-1/(k-1)` between them. Its quality is the fraction of all weight that lies within groups
    in excess of the expected weight; with degrees it is the modularity. The optimum bounds the
    quality of every partition into k groups. `communities` builds the model.

    Parameters
    ----------
    W : sparse array
        The symmetric weights, with an empty diagonal.
    c : ndarray
        The vector of the expected weights.
    groups : Groups
        The feasible set.
    name : str, optional
        The name in results and reports.
    names : list, optional
        The names of the vertices, if they are not 0, 1, ...
    """

    W: Any = field(repr=False)
    c: Array = field(repr=False)
    groups: Groups = field(repr=False)
    name: str = "communities"
    names: list[Any] | None = field(default=None, repr=False)

    __repr__ = model_text

    @property
    def n(self) -> int:
        """The number of vertices."""
        return self.groups.n

    @property
    def k(self) -> int | None:
        """The number of groups; None for any number."""
        return self.groups.k

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its domain is tr x = n."""
        C = Symmetric(self.n, sparse=(self.W,), pairs=((-self.c, self.c),))
        return self.groups.problem(Linear(C), self.name)

    def quality(self, labels: Any) -> float:
        """Return the sum of W_ij - c_i c_j within groups, relative to the total weight."""
        whole = checked_labels(labels, self.n, self.k)
        return weight_within(self.W, self.c, whole) / float(self.W.sum())

    def quality_bound(self, result: Result) -> float:
        """Return the proved upper bound on the quality of every partition."""
        point_of(result, self.n)
        total = float(self.W.sum())
        if self.k is None:
            return result.bound / total
        whole = total - float(self.c.sum()) ** 2  # the objective at J, where all share one group
        return ((self.k - 1) * result.bound + whole) / (self.k * total)

    def round(
        self,
        result: Result,
        *,
        trials: int = 20,
        seed: Seed = 0,
        max_seconds: float | None = None,
    ) -> Partition:
        """Round a solution to a partition, improved by moves of single vertices.

        For k groups, each trial clusters the rows of the leading factor of x by k-means. For any
        number of groups, a drawn vertex takes all remaining vertices whose entry of x is nearer to
        1 than to 0.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.
        trials : int, optional
            The number of random trials, 20 by default.
        seed : int or Generator, optional
            The seed of the random generator.
        max_seconds : float, optional
            A time limit: the best answer found by then is returned.

        Returns
        -------
        Partition
            The partition of the best quality.
        """
        limit = rounding_limit(max_seconds)
        rng, x = generator(trials, seed), point_of(result, self.n)
        bound = self.quality_bound(result)
        rows = None if self.k is None else PointRows(leading_factor(x, max(1, self.k - 1)))
        partitions: list[Partition] = []
        for _ in in_time(trials, limit):
            if rows is None:
                labels = _grouped_by_draws(x, rng)
            else:
                labels = best_clustering(rows, min(self.k or 1, self.n), rng, limit=limit)
            groups = self.k or int(labels.max()) + 2  # one more for vertices that fit no group
            labels = renumber(improve_partition(self.W, self.c, labels, groups, limit))
            partitions.append(Partition(self.quality(labels), bound, labels, self))
        return max(partitions, key=lambda partition: partition.value)


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
        Symmetric weights. The edge attribute `weight` of a graph is used (1 if missing), and
        vertices are numbered in the order of `list(graph)`; `Partition.groups` has their names.
        Weights must not be negative; self-loops are ignored.
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
    name : str, optional
        The name in results and reports.

    Returns
    -------
    Communities
        The model, for `condal.solve`.

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
    return Communities(W, c, checked_groups(W, k, pairs), name, vertex_names(graph))


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
