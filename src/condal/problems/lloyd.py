"""k-means by Lloyd's method: of points, a row each, or from squared distances alone.

Several clusterings go together, a row of labels each, so that a sweep is one product with the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from condal.linalg.points import Array

MAX_SWEEPS = 100


class Cloud(Protocol):
    """n points, of which squared distances are known."""

    @property
    def n(self) -> int:
        """How many."""
        ...

    def to_point(self, i: int) -> Array:
        """The squared distances of all from one."""
        ...

    def to_centres(self, labels: Any, k: int) -> tuple[Array, Array]:
        """Squared distances, point by clustering by centre, and the cost of each clustering."""
        ...


@dataclass(frozen=True, eq=False)
class PointRows:
    """Points as the rows of R."""

    R: Array

    @property
    def n(self) -> int:
        """How many."""
        return len(self.R)

    @cached_property
    def _centred(self) -> Array:
        """About their mean, so that no digits are lost where they are far from 0."""
        return np.asarray(self.R - self.R.mean(axis=0))

    @cached_property
    def _squares(self) -> Array:
        return np.asarray((self._centred * self._centred).sum(axis=1))

    def to_point(self, i: int) -> Array:
        """|r_j - r_i|^2 for all j."""
        apart = self._centred - self._centred[i]
        return np.asarray((apart * apart).sum(axis=1))

    def to_centres(self, labels: Any, k: int) -> tuple[Array, Array]:
        """|r - c|^2 for the means c of the clusters; rounding may not make it negative."""
        member, sizes = _members(labels, k)
        shape = member.shape
        flat = member.reshape(self.n, -1)
        centres = (self._centred.T @ flat) / sizes.ravel()
        far = self._squares[:, None] - 2 * self._centred @ centres + (centres * centres).sum(axis=0)
        far = np.maximum(far, 0.0)
        return far.reshape(shape), (flat * far).reshape(shape).sum(axis=(0, 2))


@dataclass(frozen=True, eq=False)
class Distances:
    """Points of squared distances D, which need not be in a Euclidean space.

    The cost of a cluster is the sum over its pairs of D_ij / (2 size), and the squared distance of
    a point i from its centre is mean_j D_ij less the cluster's cost over its size: no centre is
    needed.
    """

    D: Array

    @property
    def n(self) -> int:
        """How many."""
        return len(self.D)

    def to_point(self, i: int) -> Array:
        """D_ji for all j."""
        return self.D[i]

    def to_centres(self, labels: Any, k: int) -> tuple[Array, Array]:
        """As above, of all clusters at once."""
        member, sizes = _members(labels, k)
        means = (self.D @ member.reshape(self.n, -1)).reshape(member.shape) / sizes
        inner = 0.5 * np.einsum("irc,irc->rc", member, means)
        return means - inner / sizes, inner.sum(axis=1)


def best_clustering(cloud: Cloud, k: int, rng: np.random.Generator, *, starts: int = 1) -> Any:
    """The labels of the cheapest of several starts by k-means++, each improved by Lloyd."""
    labels, costs = lloyd(cloud, np.stack([spread(cloud, k, rng) for _ in range(starts)]), k)
    return labels[int(np.argmin(costs))]


def lloyd(cloud: Cloud, labels: Any, k: int) -> tuple[Any, Array]:
    """Each row of labels moved to nearest centres until its cost rests; the best seen, its cost.

    No cluster is left empty: the point that its centre serves worst is given to it.
    """
    labels = np.array(labels)
    for row in labels:
        _fill_empty(row, np.zeros(row.size), k)
    best, least = labels.copy(), np.full(len(labels), np.inf)
    for _ in range(MAX_SWEEPS):
        distances, costs = cloud.to_centres(labels, k)
        better = costs < least * (1 - 1e-12)
        best[better], least[better] = labels[better], costs[better]
        if not better.any():  # for distances that no points have, a sweep may even cost
            break
        labels = np.argmin(distances, axis=2).T
        for r, row in enumerate(labels):
            _fill_empty(row, np.take_along_axis(distances[:, r], row[:, None], axis=1)[:, 0], k)
    return best, least


def cost_of(cloud: Cloud, labels: Any, k: int) -> float:
    """The sum of the squared distances to the centres."""
    return float(cloud.to_centres(labels[None], k)[1][0])


def spread(cloud: Cloud, k: int, rng: np.random.Generator) -> Any:
    """k-means++: each centre a point drawn in proportion to its squared distance from those before
    it; the labels are those of the nearest."""
    nearest = cloud.to_point(int(rng.integers(cloud.n))).copy()
    labels = np.zeros(cloud.n, dtype=np.intp)
    for c in range(1, k):
        total = nearest.sum()
        drawn = int(rng.choice(cloud.n, p=nearest / total if total > 0 else None))
        far = cloud.to_point(drawn)
        labels[far < nearest] = c
        np.minimum(nearest, far, out=nearest)
    return labels


def _members(labels: Any, k: int) -> tuple[Array, Array]:
    """1 where a point is of a cluster, point by clustering by cluster; and their sizes, or 1."""
    member = (labels.T[:, :, None] == np.arange(k)).astype(np.float64)
    return member, np.maximum(member.sum(axis=0), 1.0)


def _fill_empty(labels: Any, served: Array, k: int) -> None:
    sizes = np.bincount(labels, minlength=k)
    for empty in np.flatnonzero(sizes == 0):
        taken = int(np.argmax(np.where(sizes[labels] > 1, served, -np.inf)))
        sizes[labels[taken]] -= 1
        labels[taken], sizes[empty] = empty, 1
