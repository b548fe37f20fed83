"""k-means and its semidefinite relaxation (Peng and Wei 2007)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.eigen import Automatic
from condal.linalg.points import Array, LowRank, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.linalg.symmetrize import symmetric
from condal.maps.combined import Stack
from condal.maps.entries import RowSums
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.answers import excess, generator, point_of
from condal.problems.inputs import real_array
from condal.problems.labels import checked_labels
from condal.problems.lloyd import Distances, PointRows, best_clustering, cost_of, lloyd
from condal.result import Result
from condal.runtime.arguments import require_whole
from condal.sets.boxes import Equal
from condal.sets.orthants import NonNegative
from condal.sets.separable import Separable
from condal.smooth.linear import Linear

# lam as a multiple of what the blocks need: where W cannot remove all, a lower one costs less.
BELOW = (1.0, 1.03, 1.1, 1.3)


@dataclass(frozen=True, eq=False)
class Clustering:
    """k clusters: `labels` is 0..k-1 a point, `cost` the sum of squared distances to the centres.

    No clustering into k costs less than `bound`, which is proved. `centres` has a row a cluster;
    None where only distances are known.
    """

    cost: float
    bound: float
    labels: Any
    centres: Array | None

    def __repr__(self) -> str:
        counts = np.bincount(self.labels)
        sizes = ", ".join(map(str, counts[:12])) + ", ..." * (len(counts) > 12)
        return (
            f"Clustering(cost={self.cost:.10g}, none is below {self.bound:.10g}, clusters of "
            f"{sizes})"
        )


@dataclass(frozen=True, eq=False)
class KMeans:
    """minimise (1/2) <D, x> subject to x 1 = 1, x >= 0, tr x = k, x psd: D squared distances.

    A clustering is the feasible point sum_C 1_C 1_C' / |C|, and its cost is its objective: the
    optimum is a lower bound on the cost of every clustering into k clusters.
    """

    D: Array = field(repr=False)
    k: int
    points: Array | None = field(default=None, repr=False)
    name: str = "k-means"

    @property
    def n(self) -> int:
        """How many points."""
        return len(self.D)

    @cached_property
    def problem(self) -> Problem:
        """The relaxation: the images are the n row sums and the n(n + 1)/2 entries of x."""
        n = self.n
        return Problem.of(
            f=Linear(0.5 * self.D),
            X=Spectrahedron(n, trace=float(self.k)),
            A=Stack(RowSums(n), Triangle(n)),
            K=Separable(Equal(np.ones(n)), NonNegative(Triangle(n).size)),
            propose=self.propose,
            name=self.name,
        )

    def propose(self, x: Point) -> tuple[Point, Array]:
        """The clustering that x rounds to, and a dual that proves it optimal if well separated."""
        labels = self._rounded(x, np.random.default_rng(0), starts=4)
        member = (labels[:, None] == np.arange(self.k)).astype(np.float64)
        sizes = member.sum(axis=0)
        return LowRank(member / np.sqrt(sizes), np.ones(self.k)), self.dual(labels)

    def dual(self, labels: Any) -> Array:
        """y = (u, A W) that proves the clustering optimal if its clusters are well separated.

        With V = D/2 + (u 1' + 1 u')/2 + W, the bound is k lambda_min(V) - sum u. The u here makes
        every indicator of a cluster an eigenvector of its own block of V, of one eigenvalue lam;
        W <= 0 then removes what is positive between clusters. If that is everything, then V is
        block diagonal, lam is its smallest eigenvalue, and the bound is the cost; if little that is
        negative is left, W leaves positive entries too, so that the indicators stay eigenvectors.
        """
        labels = self._checked(labels)
        C, mean, sizes = 0.5 * self.D, np.empty(self.n), np.empty(self.n)
        inner, within = np.empty(self.n), []
        for c in np.unique(labels):
            here = np.flatnonzero(labels == c)
            block = C[np.ix_(here, here)]
            mean[here], sizes[here] = block.mean(axis=1), here.size
            inner[here] = block.mean()
            within.append(_least_within(block, mean[here]))
        between, best = labels[:, None] != labels, (-np.inf, np.zeros(0))
        for below in BELOW:
            u = below * min(within) / sizes - 2 * mean + inner
            V = C + 0.5 * (u[:, None] + u)
            left = _centred(np.where(between, np.minimum(V, 0.0), 0.0), labels, sizes)
            W = np.where(between, np.minimum(left - V, 0.0), 0.0)
            least = Automatic().smallest(Symmetric(self.n, dense=V + W)).value
            y = np.append(u, Triangle(self.n)(W))
            best = max(best, (self.k * least - u.sum(), y), key=lambda pair: pair[0])
        return best[1]

    def cost(self, labels: Any) -> float:
        """The k-means cost of a clustering: any labels, at most k different ones."""
        return cost_of(Distances(self.D), self._checked(labels), self.k)

    def excess(self, labels: Any, result: Result) -> float:
        """cost(labels) / bound - 1: the clustering is proved to cost at most this much too much.

        0.02 means at most 2% above the best clustering into k clusters; inf that nothing is proved.
        """
        point_of(result, self.n)
        # No cost is negative, whatever rounding or a proof lost.
        return excess(max(0.0, self.cost(labels)), max(0.0, float(result.bound)), "clustering")

    def round(self, result: Result, *, trials: int = 10, seed: int = 0) -> Clustering:
        """The points denoised by x, clustered as the best of `trials` starts by k-means++ does,
        and improved by Lloyd on the points themselves.

        Mixon, Villar and Ward (2017): near the centre of a cluster lie its points averaged by the
        rows of x. Where only distances are known, the rows of x themselves are clustered.
        """
        rng = generator(trials, seed)
        labels = self._rounded(point_of(result, self.n), rng, starts=trials)
        centres = None
        if self.points is not None:
            centres = np.stack([self.points[labels == c].mean(axis=0) for c in range(self.k)])
        bound = max(0.0, float(result.bound))  # no cost is negative
        return Clustering(cost_of(Distances(self.D), labels, self.k), bound, labels, centres)

    def _rounded(self, x: Point, rng: np.random.Generator, *, starts: int) -> Any:
        full = dense(x)
        # About their mean: the rows of x add up to 1 only within the tolerance.
        denoised = full if self.points is None else full @ (self.points - self.points.mean(axis=0))
        labels = best_clustering(PointRows(denoised), self.k, rng, starts=starts)
        return lloyd(Distances(self.D), labels[None], self.k)[0][0]

    def _checked(self, labels: Any) -> Any:
        return checked_labels(labels, self.n, self.k, "point")


def k_means(
    points: Any = None, k: Any = None, *, distances: Any = None, name: str = "k-means"
) -> KMeans:
    """The k-means model of points, a row each, or of their SQUARED distances.

    Parameters
    ----------
    points : an n x d array.
    k : how many clusters, from 1 to n.
    distances : an n x n array of squared distances instead of points: symmetric, not negative,
        with a zero diagonal. They need not come from points in a Euclidean space.
    """
    if (points is None) == (distances is None):
        raise ProblemError(
            "k_means takes either points or distances (their squared distances); got "
            + ("neither" if points is None else "both")
        )
    if points is not None:
        rows = real_array(points, "points", ndim=2).copy()
        if rows.shape[0] == 0:
            raise ProblemError("points has no rows: there is nothing to cluster")
        with np.errstate(over="ignore"):
            D = squared_distances(rows)
        if not np.isfinite(D).all():
            raise ProblemError(
                "the squared distances of the points are beyond what double precision holds: "
                "scale the points, for example by their largest entry"
            )
    else:
        rows, D = None, _checked_distances(distances)
    require_whole(k, "k")
    if k > len(D):
        raise ProblemError(
            f"k = {k} clusters of {len(D)} points: some would be empty; k must be at most {len(D)}"
        )
    return KMeans(D, int(k), rows, name)


def squared_distances(points: Array) -> Array:
    """|p_i - p_j|^2, exactly symmetric with a zero diagonal."""
    return np.asarray(squareform(pdist(points, "sqeuclidean")))


def _checked_distances(distances: Any) -> Array:
    D = symmetric(real_array(distances, "distances", ndim=2), "distances").dense
    assert D is not None
    noise = 1e-12 * float(np.abs(D).max(initial=0.0))
    D = np.where(np.abs(D) <= noise, 0.0, D)  # what rounding left of 0
    if D.min() < 0:
        i, j = (int(i) for i in np.argwhere(D < 0)[0])
        raise ProblemError(
            f"distances must not be negative; got {D[i, j]:g} at ({i}, {j}): they are squared "
            "distances, not inner products"
        )
    if np.diagonal(D).any():
        i = int(np.flatnonzero(np.diagonal(D))[0])
        raise ProblemError(
            f"distances must have a zero diagonal; got {D[i, i]:g} at ({i}, {i}): a point is at no "
            "distance from itself"
        )
    return D


def _centred(N: Array, labels: Any, sizes: Array) -> Array:
    """N with the mean of each row and column of each block removed, and about its own size again.

    A single entry of a block keeps its value.
    """
    Q = (labels[:, None] == np.unique(labels)) / np.sqrt(sizes)[:, None]
    half = N - Q @ (Q.T @ N)
    scale = sizes / np.maximum(sizes - 1, 1)
    return np.asarray(scale[:, None] * (half - (half @ Q) @ Q.T) * scale)


def _least_within(block: Array, mean: Array) -> float:
    """The smallest eigenvalue of the block on vectors of sum 0, or 0 if that is positive."""
    centred = block - mean[:, None] - mean + mean.mean()
    return float(min(eigh(centred, eigvals_only=True, subset_by_index=[0, 0])[0], 0.0))
