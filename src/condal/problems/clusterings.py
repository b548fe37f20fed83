"""k-means and its semidefinite relaxation (Peng and Wei 2007)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point, dense
from condal.maps.combined import Stack
from condal.maps.matrices import RowSums
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.answers import CostAnswer, Picture, Rows, preview
from condal.problems.lloyd import (
    Cloud,
    Distances,
    PointRows,
    best_clustering,
    checked_distances,
    cost_of,
    lloyd,
    squared_distances,
)
from condal.problems.models import CostModel, Trials
from condal.result import Result
from condal.runtime.arguments import checked_labels, real_array, require_whole
from condal.runtime.limits import require_matrices
from condal.runtime.text import number, sizes
from condal.sets.boxes import Equal, NonNegative
from condal.sets.separable import Separable
from condal.smooth.objectives import Linear

if TYPE_CHECKING:
    from condal.problems.cluster_duals import ClusterPairs

MATRICES = 5  # n x n, at least, that a solve holds: D, its scaled copy, and images of x >= 0
FIRST_STARTS = 10  # of Lloyd's method, before any solve
MAX_ENTRIES_SIDE = 7000  # n above which pairs of clusters replace the entries of x


@dataclass(frozen=True, eq=False, repr=False)
class Clustering(CostAnswer):
    """A clustering into k clusters, with its cost and a proved bound.

    Attributes
    ----------
    cost : float
        The sum of squared distances of the points to their centres.
    bound : float
        A proved lower bound on the cost of every clustering into k clusters.
    labels : ndarray of int
        The cluster 0, ..., k - 1 of each point.
    centres : ndarray or None
        One row per cluster; None if only distances were given.
    """

    cost: float
    bound: float
    labels: Any
    centres: Array | None
    model: Any = None

    first_integer = 1
    noun = "clustering"

    def picture(self) -> Picture:
        from condal.report import pictures

        if self.model.points is None:
            raise ProblemError("only the distances of the points were given: nothing to draw")
        names = [f"cluster {i + 1}" for i in range(self.model.k)]
        caption = "The points by cluster, in the plane of their largest spread."
        return pictures.scatter(self.model.points, self.labels, names, caption)

    def rows(self) -> Rows:
        cost = f"{number(self.cost)}, the sum of squared distances to the centres"
        return [("clusters", f"{sizes(np.bincount(self.labels))} points"), ("cost", cost)]

    @property
    def sizes_text(self) -> str:
        return f"sizes={preview(np.bincount(self.labels))}"


@dataclass(frozen=True, eq=False, repr=False)
class KMeans(CostModel[Clustering]):
    r"""The semidefinite relaxation of k-means [1]_.

    .. math::

        \min_x \; \tfrac12 \langle D, x \rangle \quad \text{subject to} \quad x 1 = 1, \; x \ge 0,
        \; \operatorname{tr} x = k, \; x \succeq 0,

    with :math:`D` the squared distances. A clustering is the feasible point :math:`\sum_C 1_C 1_C^T
    / |C|`, and its cost is its objective: the optimum is a lower bound on the cost of every
    clustering into k clusters.

    Each of the 10 trials of `round` is a k-means++ start on the points, denoised by x [2]_: the
    rows of x average the points of a cluster. If only distances are known, it starts on the rows of
    x. Lloyd's method improves the best one. The clustering at which `condal.solve` begins is one of
    the candidates. `k_means` builds the model.

    `k_means` leaves D out for more than 7,000 points. Then one inequality for each pair of clusters
    replaces x >= 0. That relaxation is weaker, and needs memory for the points alone. It proves a
    clustering optimal if the clusters are separated [3]_.

    Parameters
    ----------
    D : ndarray or None
        The squared distances, n x n.
    k : int
        The number of clusters.
    points : ndarray, optional
        The points, if they are known.

    References
    ----------
    .. [1] J. Peng and Y. Wei, "Approximating k-means-type clustering via semidefinite programming",
       *SIAM Journal on Optimization* 18, 2007.
    .. [2] D. G. Mixon, S. Villar and R. Ward, "Clustering subgaussian mixtures by semidefinite
       programming", *Inf. Inference* 6, 2017.
    .. [3] T. Iguchi, D. G. Mixon, J. Peterson and S. Villar, "Probably certifiably correct k-means
       clustering", *Mathematical Programming* 165, 2017.
    """

    D: Array | None = field(repr=False)
    k: int
    points: Array | None = field(default=None, repr=False)
    name: str = "k-means"

    most_trials = 10
    rounded_to = "clustering"
    least_cost = 0.0

    @property
    def n(self) -> int:
        """The number of points."""
        return self._cloud.n

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its images are the n row sums of x, then the n(n + 1)/2 entries of x, or
        without D the sums over pairs of clusters."""
        n = self.n
        C = self._pairs.half_distances() if self.D is None else 0.5 * self.D
        entries = self._pairs.forms() if self.D is None else Triangle(n)
        return Problem.of(
            f=Linear(C),
            X=Spectrahedron(n, trace=float(self.k)),
            A=Stack(RowSums(n), entries),
            K=Separable(Equal(np.ones(n)), NonNegative(entries.size)),
            propose=self.propose,
            name=self.name,
        )

    def first_pair(self) -> tuple[Point, Array]:
        """Return a clustering by Lloyd's method and its dual, where `condal.solve` begins."""
        return self._pair_of(self._first_clustering)

    def propose(self, x: Point) -> tuple[Point, Array]:
        """Return the first clustering, or the one that x rounds to if it costs less, and its dual.

        Without D, the multipliers of another clustering have no rows in the problem.
        """
        if self.D is None:
            return self.first_pair()
        rounded = self._near(x, Trials(4, np.random.default_rng(0)))
        return self._pair_of(min(self._first_clustering, rounded, key=self.cost))

    def _pair_of(self, labels: Any) -> tuple[Point, Array]:
        member = (labels[:, None] == np.arange(self.k)).astype(np.float64)
        sizes = np.maximum(member.sum(axis=0), 1.0)
        key = labels.tobytes()
        y = self._duals.get(key)
        if y is None:
            y = self.dual(labels)
            self._duals.clear()
            self._duals[key] = y
        return LowRank(member / np.sqrt(sizes), np.ones(self.k)), y

    def dual(self, labels: Any) -> Array:
        """Return y = (u, A W), which proves a well separated clustering optimal.

        Without D, the problem has multipliers for one clustering, which this returns whatever the
        labels.
        """
        labels = self._checked(labels)
        if self.D is None:
            return self._pairs.dual()
        from condal.problems.cluster_duals import dual_of

        return dual_of(self.D, labels, self.k)

    @cached_property
    def _cloud(self) -> Cloud:
        if self.points is not None:
            return PointRows(self.points)
        assert self.D is not None
        return Distances(self.D)

    @cached_property
    def _pairs(self) -> ClusterPairs:
        """The pairs of clusters whose inequalities replace x >= 0 without D."""
        from condal.problems.cluster_duals import ClusterPairs

        assert self.points is not None
        return ClusterPairs(self.points - self.points.mean(axis=0), self._first_clustering, self.k)

    @cached_property
    def _first_clustering(self) -> Any:
        """The best of a few clusterings of the points, without any solve."""
        return best_clustering(self._cloud, self.k, Trials(FIRST_STARTS, np.random.default_rng(0)))

    @cached_property
    def _duals(self) -> dict[bytes, Array]:
        """The last dual by its labels, as most proposals are the same clustering."""
        return {}

    def cost(self, answer: Any) -> float:
        cloud = self._cloud if self.D is None else Distances(self.D)
        return cost_of(cloud, self._checked(answer), self.k)

    def _rounded(self, x: Point, trials: Trials) -> Any:
        labels = self._near(x, trials)
        if not trials.limit.is_over():
            labels = min(labels, self._first_clustering, key=self.cost)
        return labels

    def answer_of(self, found: Any, result: Result) -> Clustering:
        cost, centres = self.cost(found), None
        if self.points is not None:
            centres = np.full((self.k, self.points.shape[1]), np.nan)
            for cluster in np.unique(found):
                centres[cluster] = self.points[found == cluster].mean(axis=0)
        return Clustering(cost, self.bound_of(result), found, centres, self)

    def _near(self, x: Point, trials: Trials) -> Any:
        """Return the best clustering that x shows."""
        if self.points is None:
            denoised = dense(x)
        else:  # relative to their mean, because row sums of x are 1 only within the tolerance
            centred = self.points - self.points.mean(axis=0)
            denoised = _product(x, centred)
        labels = best_clustering(PointRows(denoised), self.k, trials)
        return lloyd(self._cloud, labels[None], self.k, trials.limit)[0][0]

    def _checked(self, labels: Any) -> Any:
        return checked_labels(labels, self.n, self.k, "point")


def k_means(
    points: Any = None, k: Any = None, *, distances: Any = None, name: str = "k-means"
) -> KMeans:
    """Return the k-means model of points, or of their squared distances.

    Parameters
    ----------
    points : array_like, n x d, optional
        One point per row.
    k : int
        The number of clusters, from 1 to n.
    distances : array_like, n x n, optional
        SQUARED distances instead of points: symmetric, not negative, with a zero diagonal. They
        need not be Euclidean.

    Raises
    ------
    ProblemError
        If both or neither of points and distances are given, or if they or k are not valid.

    Examples
    --------
    >>> import condal
    >>> model = condal.problems.k_means([[0.0], [1.0], [10.0], [12.0]], 2)
    >>> clustering = model.round(condal.solve(model))
    >>> clustering.cost, sorted(clustering.centres.ravel().tolist())
    (2.5, [0.5, 11.0])
    """
    if (points is None) == (distances is None):
        raise ProblemError(
            "k_means takes either points or distances (their squared distances); got "
            + ("neither" if points is None else "both")
        )
    if points is not None:
        rows = real_array(points, "points", ndim=2, squared=True).copy()
        if rows.shape[0] == 0:
            raise ProblemError("points has no rows: there is nothing to cluster")
        D = squared_distances(rows) if len(rows) <= MAX_ENTRIES_SIDE else None
    else:
        n = max(getattr(distances, "shape", (0,)), default=0)
        advice = "cluster a sample of the points, or use a larger machine"
        require_matrices(MATRICES, n, f"k-means of {n} points", advice=advice)
        rows, D = None, checked_distances(distances)
    require_whole(k, "k")
    model = KMeans(D, int(k), rows, name)
    if k > model.n:
        raise ProblemError(
            f"k = {k} clusters of {model.n} points: some would be empty; k must be at most "
            f"{model.n}"
        )
    return model


def _product(x: Point, v: Array) -> Array:
    """x v, without a dense x where it has factors."""
    return (x.U * x.weights) @ (x.U.T @ v) if isinstance(x, LowRank) else np.asarray(dense(x) @ v)
