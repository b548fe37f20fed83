"""Partitions of vertices into groups: y_ij = 1 where i and j are of one group, else 0.

What is sought is a large sum of B_ij over the pairs within groups, B = S - c c' with S sparse: the
links within groups, less what would be expected, or less what is to lie between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.problems.labels import agreement

MAX_SWEEPS = 100
NOTHING = 1e-12  # of the largest weight: a gain that is rounding


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of vertices: `labels` is 0, 1, ... a vertex, `value` what the groups are good for.

    No partition into so many groups has a value above `bound`, which is proved.
    """

    value: float
    bound: float
    labels: Any

    @property
    def sizes(self) -> Any:
        """How many vertices each group has."""
        return np.bincount(self.labels)

    def agreement(self, labels: Any) -> float:
        """The share of vertices that other labels put in the same group, by the best matching."""
        return agreement(self.labels, labels)

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.sizes[:12])) + ", ..." * (len(self.sizes) > 12)
        quality = f"value={self.value:.10g}, none is above {self.bound:.10g}"
        return f"Partition({quality}, groups of {sizes})"


def within(S: Any, c: Array, labels: Any) -> float:
    """sum over i, j of one group of S_ij - c_i c_j."""
    entries = S.tocoo()
    inside = labels[entries.row] == labels[entries.col]
    shares = np.bincount(labels, weights=c)
    return float(entries.data[inside].sum() - shares @ shares)


def settle(S: Any, c: Array, labels: Any, k: int) -> Any:
    """The labels after moves of single vertices, each to the group that gains most, to the end.

    The diagonal of S must be 0; of k groups some may be empty. All gains are computed at once, and
    again one by one for the vertices that may move, which change each other's.
    """
    labels = np.array(labels)
    shares = np.bincount(labels, weights=c, minlength=k)
    scale = max(float(np.abs(S.data).max(initial=0.0)), float(np.abs(c).max() ** 2))
    for _ in range(MAX_SWEEPS):
        scores = S @ (labels[:, None] == np.arange(k)).astype(np.float64)
        scores -= c[:, None] * (shares - c[:, None] * (labels[:, None] == np.arange(k)))
        own = np.take_along_axis(scores, labels[:, None], axis=1)[:, 0]
        moved = False
        for v in np.flatnonzero(scores.max(axis=1) > own + NOTHING * scale):
            near = slice(S.indptr[v], S.indptr[v + 1])
            links = np.bincount(labels[S.indices[near]], weights=S.data[near], minlength=k)
            shares[labels[v]] -= c[v]
            score = links - c[v] * shares
            best = int(np.argmax(score))
            if score[best] > score[labels[v]] + NOTHING * scale:
                labels[v], moved = best, True
            shares[labels[v]] += c[v]
        if not moved:
            break
    return labels


def numbered(labels: Any) -> Any:
    """The labels with the groups that have vertices as 0, 1, ..., in the order of their labels."""
    return np.unique(labels, return_inverse=True)[1].ravel()
