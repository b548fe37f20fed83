"""Lloyd's method for k-means, on points given as rows or by squared distances alone.

Several clusterings are improved together, one row of labels each: a sweep is one product with the
data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from condal.errors import ProblemError
from condal.linalg.lifting import symmetric
from condal.linalg.points import Array
from condal.problems.models import Trials
from condal.runtime.arguments import real_array
from condal.runtime.limits import UNLIMITED, TimeLimit

MAX_SWEEPS = 100
STARTS_AT_ONCE = 100  # a time limit is asked for between these


@dataclass(frozen=True, eq=False)
class PointRows:
    """Points as the rows of R."""

    R: Array

    @property
    def n(self) -> int:
        return len(self.R)

    @cached_property
    def _centred(self) -> Array:
        """The points relative to their mean, which avoids cancellation far from 0."""
        return np.asarray(self.R - self.R.mean(axis=0))

    @cached_property
    def _squares(self) -> Array:
        return np.asarray((self._centred * self._centred).sum(axis=1))

    def to_point(self, i: int) -> Array:
        """Return the squared distances of all points from point i."""
        apart = self._centred - self._centred[i]
        return np.asarray((apart * apart).sum(axis=1))

    def to_centres(self, labels: Any, k: int) -> tuple[Array, Array]:
        """Return squared distances (point, clustering, centre) and the clusterings' costs."""
        member, sizes = _members(labels, k)
        shape = member.shape
        flat = member.reshape(self.n, -1)
        centres = (self._centred.T @ flat) / sizes.ravel()
        squares = (
            self._squares[:, None] - 2 * self._centred @ centres + (centres * centres).sum(axis=0)
        )
        squares = np.maximum(squares, 0.0)
        return squares.reshape(shape), (flat * squares).reshape(shape).sum(axis=(0, 2))


@dataclass(frozen=True, eq=False)
class Distances:
    """Points given by squared distances D, which need not be Euclidean.

    A cluster costs the sum over its pairs of D_ij / (2 size). The squared distance of point i from
    the centre is mean_j D_ij minus the cluster's cost divided by its size, so no centre is needed.
    """

    D: Array

    @property
    def n(self) -> int:
        return len(self.D)

    def to_point(self, i: int) -> Array:
        return self.D[i]

    def to_centres(self, labels: Any, k: int) -> tuple[Array, Array]:
        member, sizes = _members(labels, k)
        means = (self.D @ member.reshape(self.n, -1)).reshape(member.shape) / sizes
        inner = 0.5 * np.einsum("irc,irc->rc", member, means)
        return means - inner / sizes, inner.sum(axis=1)


Cloud: TypeAlias = PointRows | Distances


def squared_distances(points: Array) -> Array:
    """Return |p_i - p_j|^2, exactly symmetric with a zero diagonal."""
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(points, "sqeuclidean")))


def checked_distances(distances: Any) -> Array:
    """Return squared distances that a user gave as a symmetric matrix with a zero diagonal."""
    D = symmetric(real_array(distances, "distances", ndim=2), "distances").dense
    assert D is not None
    noise = 1e-12 * float(np.abs(D).max(initial=0.0))
    D = np.where(np.abs(D) <= noise, 0.0, D)  # rounding errors
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


def best_clustering(cloud: Cloud, k: int, trials: Trials) -> Any:
    """Return the labels of the cheapest of several k-means++ starts, each after Lloyd."""
    best, least, left = None, np.inf, iter(trials)
    while drawn := [kmeans_plus_plus(cloud, k, trials.rng) for _ in islice(left, STARTS_AT_ONCE)]:
        labels, costs = lloyd(cloud, np.stack(drawn), k, trials.limit)
        if best is None or costs.min() < least:
            best, least = labels[int(np.argmin(costs))], costs.min()
    return best


def lloyd(cloud: Cloud, labels: Any, k: int, limit: TimeLimit = UNLIMITED) -> tuple[Any, Array]:
    """Move labels to nearest centres until the costs stop falling; return the best, and costs.

    An empty cluster receives the point that is farthest from its own centre.
    """
    labels = np.array(labels)
    for row in labels:
        _fill_empty(row, np.zeros(row.size), k)
    best, least = labels.copy(), np.full(len(labels), np.inf)
    for _ in range(MAX_SWEEPS):
        distances, costs = cloud.to_centres(labels, k)
        better = costs < least * (1 - 1e-12)
        best[better], least[better] = labels[better], costs[better]
        # With non-Euclidean distances a sweep can raise the cost.
        if limit.is_over() or not better.any():
            break
        labels = np.argmin(distances, axis=2).T
        for r, row in enumerate(labels):
            _fill_empty(row, np.take_along_axis(distances[:, r], row[:, None], axis=1)[:, 0], k)
    return best, least


def cost_of(cloud: Cloud, labels: Any, k: int) -> float:
    """Return the sum of squared distances to the centres."""
    return float(cloud.to_centres(labels[None], k)[1][0])


def kmeans_plus_plus(cloud: Cloud, k: int, rng: np.random.Generator) -> Any:
    """Return the labels of a k-means++ start.

    Each centre is a point drawn in proportion to its squared distance from the earlier centres.
    """
    nearest = cloud.to_point(int(rng.integers(cloud.n))).copy()
    labels = np.zeros(cloud.n, dtype=np.intp)
    for c in range(1, k):
        total = nearest.sum()
        drawn = int(rng.choice(cloud.n, p=nearest / total if total > 0 else None))
        distances = cloud.to_point(drawn)
        labels[distances < nearest] = c
        np.minimum(nearest, distances, out=nearest)
    return labels


def _members(labels: Any, k: int) -> tuple[Array, Array]:
    """Return the membership (point, clustering, cluster) as 0 or 1, and the sizes, at least 1."""
    member = (labels.T[:, :, None] == np.arange(k)).astype(np.float64)
    return member, np.maximum(member.sum(axis=0), 1.0)


def _fill_empty(labels: Any, served: Array, k: int) -> None:
    sizes = np.bincount(labels, minlength=k)
    for empty in np.flatnonzero(sizes == 0):
        taken = int(np.argmax(np.where(sizes[labels] > 1, served, -np.inf)))
        sizes[labels[taken]] -= 1
        labels[taken], sizes[empty] = empty, 1
