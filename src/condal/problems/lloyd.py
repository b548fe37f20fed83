"""k-means by Lloyd's method, from squared distances alone.

The cost of a cluster is the sum over its pairs of D_ij / (2 size), and the squared distance of a
point i from its centre is mean_j D_ij less the cluster's cost over its size: no centre is needed.
Several clusterings go together, a row each, so that a sweep is one product with D.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.points import Array

MAX_SWEEPS = 100


def best_clustering(D: Array, k: int, *, restarts: int, seed: int) -> Any:
    """The labels of the cheapest of several starts by k-means++, each improved by Lloyd."""
    rng = np.random.default_rng(seed)
    starts = np.stack([_nearest(D, _spread_out(D, k, rng)) for _ in range(restarts)])
    labels, costs = lloyd(D, starts, k)
    return labels[int(np.argmin(costs))]


def lloyd(D: Array, labels: Any, k: int) -> tuple[Any, Array]:
    """Each row of labels moved to nearest centres until its cost rests; the best seen, its cost.

    No cluster is left empty: the point that its centre serves worst is given to it.
    """
    labels = np.array(labels)
    for row in labels:
        _fill_empty(row, np.zeros(row.size), k)
    best, least = labels.copy(), np.full(len(labels), np.inf)
    for _ in range(MAX_SWEEPS):
        distances, costs = _to_centres(D, labels, k)
        better = costs < least * (1 - 1e-12)
        best[better], least[better] = labels[better], costs[better]
        if not better.any():  # for distances that no points have, a sweep may even cost
            break
        labels = np.argmin(distances, axis=2).T
        for r, row in enumerate(labels):
            _fill_empty(row, np.take_along_axis(distances[:, r], row[:, None], axis=1)[:, 0], k)
    return best, least


def cost_of(D: Array, labels: Any, k: int) -> float:
    """sum over clusters of sum over their pairs of D_ij / (2 size)."""
    return float(_to_centres(D, labels[None], k)[1][0])


def _to_centres(D: Array, labels: Any, k: int) -> tuple[Array, Array]:
    """Squared distances, point by clustering by centre, and the cost of each clustering."""
    rows, n = labels.shape
    member = (labels.T[:, :, None] == np.arange(k)).astype(np.float64)
    sizes = np.maximum(member.sum(axis=0), 1.0)
    means = (D @ member.reshape(n, rows * k)).reshape(n, rows, k) / sizes
    inner = 0.5 * np.einsum("irc,irc->rc", member, means)
    return means - inner / sizes, inner.sum(axis=1)


def _spread_out(D: Array, k: int, rng: np.random.Generator) -> Any:
    """k-means++: each centre a point drawn in proportion to its distance from those before it."""
    chosen = [int(rng.integers(len(D)))]
    nearest = D[chosen[0]].copy()
    while len(chosen) < k:
        total = nearest.sum()
        weights = nearest / total if total > 0 else None
        chosen.append(int(rng.choice(len(D), p=weights)))
        np.minimum(nearest, D[chosen[-1]], out=nearest)
    return np.array(chosen)


def _nearest(D: Array, centres: Any) -> Any:
    return np.argmin(D[:, centres], axis=1)


def _fill_empty(labels: Any, served: Array, k: int) -> None:
    sizes = np.bincount(labels, minlength=k)
    for empty in np.flatnonzero(sizes == 0):
        taken = int(np.argmax(np.where(sizes[labels] > 1, served, -np.inf)))
        sizes[labels[taken]] -= 1
        labels[taken], sizes[empty] = empty, 1
