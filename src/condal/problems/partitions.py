"""Partitions of vertices into groups: y_ij = 1 where i and j are of one group, else 0.

What is sought is a large sum of B_ij over the pairs within groups, B = S - c c' with S sparse: the
links within groups, less what would be expected, or less what is to lie between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from condal.errors import ProblemError
from condal.points import Array

MAX_SWEEPS = 100
MAX_STEPS = 50  # of Lloyd's
NOTHING = 1e-12  # of the largest weight: a gain that is rounding


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of vertices: `labels` is 0, 1, ... a vertex, `value` what the groups are good for."""

    value: float
    labels: Any

    @property
    def sizes(self) -> Any:
        """How many vertices each group has."""
        return np.bincount(self.labels)

    def agreement(self, labels: Any) -> float:
        """The share of vertices that other labels put in the same group, by the best matching."""
        return agreement(self.labels, labels)

    def __repr__(self) -> str:
        return f"Partition(value={self.value:.10g}, groups of {', '.join(map(str, self.sizes))})"


def agreement(a: Any, b: Any) -> float:
    """The share of vertices on which two labellings agree, names of groups apart."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise ProblemError(
            f"labels to compare must be two lists of one length, a label a vertex; got shapes "
            f"{a.shape} and {b.shape}"
        )
    _, i = np.unique(a, return_inverse=True)
    _, j = np.unique(b, return_inverse=True)
    table = np.zeros((int(i.max()) + 1, int(j.max()) + 1))
    np.add.at(table, (i, j), 1.0)
    return float(table[linear_sum_assignment(-table)].sum() / a.size)


def checked_labels(labels: Any, n: int, k: int | None) -> Any:
    """labels as whole numbers 0, 1, ...; ProblemError unless there is one a vertex, at most k."""
    found = np.asarray(labels)
    if found.shape != (n,) or found.dtype.kind not in "biuSU":
        raise ProblemError(
            f"labels must be {n} whole numbers or names, one a vertex; got shape {found.shape} of "
            f"{found.dtype}"
        )
    names, whole = np.unique(found, return_inverse=True)
    if k is not None and names.size > k:
        raise ProblemError(f"labels has {names.size} different values, but the model has k = {k}")
    return whole.ravel()


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


def cluster_rows(R: Array, k: int, rng: np.random.Generator) -> Any:
    """Labels of the rows of R by k-means: centres drawn far apart, then Lloyd's steps."""
    centres = R[rng.integers(len(R))][None]
    for _ in range(k - 1):
        far = _distances(R, centres).min(axis=1)
        chances = far / far.sum() if far.sum() > 0 else None
        centres = np.vstack([centres, R[rng.choice(len(R), p=chances)]])
    labels = np.argmin(_distances(R, centres), axis=1)
    for _ in range(MAX_STEPS):
        member = (labels[:, None] == np.arange(k)).astype(np.float64)
        sizes = member.sum(axis=0)
        # A group that has lost its rows keeps its centre.
        means = member.T @ R / np.maximum(sizes, 1.0)[:, None]
        centres = np.where(sizes[:, None] > 0, means, centres)
        before, labels = labels, np.argmin(_distances(R, centres), axis=1)
        if np.array_equal(before, labels):
            break
    return labels


def _distances(R: Array, centres: Array) -> Array:
    """Squared, a row of R a row; rounding may not make them negative."""
    far = (R * R).sum(axis=1)[:, None] - 2 * R @ centres.T + (centres * centres).sum(axis=1)
    return np.asarray(np.maximum(far, 0.0))
