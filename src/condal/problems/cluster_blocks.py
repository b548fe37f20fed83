"""The multipliers of x >= 0 that a clustering proposes, entry by entry.

With V = D/2 + (u 1' + 1 u')/2 + W, the bound is k lambda_min(V) - sum u. This u makes the indicator
of each cluster an eigenvector of its own block of V, all with one eigenvalue lam. Then W <= 0
removes the positive entries between clusters. If these are all entries between clusters, V is block
diagonal, lam is its smallest eigenvalue, and the bound equals the cost. If small negative entries
remain, W leaves some positive entries too, so that the indicators stay eigenvectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.linalg.eigen import Automatic
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.maps.triangle import Triangle
from condal.problems.lloyd import Distances, cost_of

# Multiples of the least lam of the blocks; if W cannot remove all entries, a lower lam costs less.
EIGENVALUE_FACTORS = (1.0, 1.03, 1.1, 1.3)
HOPELESS = 0.9  # of the cost: a bound below it will not come near the cost


def dual_of(D: Array, labels: Any, k: int) -> Array:
    """Return y = (u, A W) of the clustering with these labels, whole numbers from 0."""
    n = len(D)
    C, mean, sizes = 0.5 * D, np.empty(n), np.empty(n)
    inner, within = np.empty(n), []
    for c in np.unique(labels):
        members = np.flatnonzero(labels == c)
        block = C[np.ix_(members, members)]
        mean[members], sizes[members] = block.mean(axis=1), members.size
        inner[members] = block.mean()
        within.append(_least_within(block, mean[members]))
    cost = cost_of(Distances(D), labels, k)
    between, best = labels[:, None] != labels, (-np.inf, np.zeros(0))
    for factor in EIGENVALUE_FACTORS:
        u = factor * min(within) / sizes - 2 * mean + inner
        V = C + 0.5 * (u[:, None] + u)
        left = _centred(np.where(between, np.minimum(V, 0.0), 0.0), labels, sizes)
        W = np.where(between, np.minimum(left - V, 0.0), 0.0)
        least = Automatic().smallest(Symmetric(n, dense=V + W)).value
        y = np.append(u, Triangle(n)(W))
        best = max(best, (k * least - u.sum(), y), key=lambda pair: pair[0])
        if best[0] < HOPELESS * cost:
            break  # the clusters overlap, and another factor will not separate them
    return best[1]


def _centred(N: Array, labels: Any, sizes: Array) -> Array:
    """Remove the mean of each row and column within each block of N, and rescale.

    A block with a single entry keeps its value.
    """
    Q = (labels[:, None] == np.unique(labels)) / np.sqrt(sizes)[:, None]
    half = N - Q @ (Q.T @ N)
    scale = sizes / np.maximum(sizes - 1, 1)
    return np.asarray(scale[:, None] * (half - (half @ Q) @ Q.T) * scale)


def _least_within(block: Array, mean: Array) -> float:
    """Return the smallest eigenvalue of the block on vectors of sum 0, at most 0."""
    centred = block - mean[:, None] - mean + mean.mean()
    return float(min(eigh(centred, eigvals_only=True, subset_by_index=[0, 0])[0], 0.0))
