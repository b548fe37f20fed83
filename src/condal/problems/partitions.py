"""Partitions of vertices into groups: y_ij = 1 if i and j share a group, else 0.

The aim is a large sum of B_ij over pairs within groups, B = S - c c' with sparse S: for example
the links within groups minus their expected number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates.checked import rounded_text
from condal.linalg.points import Array
from condal.problems.answers import Drawn, preview
from condal.problems.graphs import named_groups
from condal.problems.labels import agreement
from condal.runtime.time_limit import UNLIMITED, TimeLimit

if TYPE_CHECKING:
    from condal.report.pictures import Picture

MAX_SWEEPS = 100
GAIN_ROUNDING = 1e-12  # relative to the largest weight


@dataclass(frozen=True, eq=False)
class Partition(Drawn):
    """A partition of vertices into groups, with its value and a proved bound.

    Attributes
    ----------
    value : float
        The value of this partition, such as a cut weight or a modularity.
    bound : float
        A proved upper bound on the value of every partition into this number of groups.
    labels : ndarray of int
        The group 0, 1, ... of each vertex.
    model : Communities or MaxKCut, optional
        The model of the graph.
    """

    value: float
    bound: float
    labels: Any
    model: Any = None

    @property
    def groups(self) -> list[list[Any]]:
        """The vertices of each group, by name if the graph has names."""
        names = None if self.model is None else self.model.names
        return named_groups(self.labels, len(self.sizes), names)

    def picture(self) -> Picture:
        from condal.report import pictures

        return pictures.sorted_matrix(
            self.model.W,
            self.labels,
            [f"group {i + 1}" for i in range(len(self.sizes))],
            "The edges between vertices, sorted by group; lines separate the groups.",
        )

    @property
    def sizes(self) -> Any:
        """The number of vertices in each group."""
        return np.bincount(self.labels)

    def agreement(self, labels: Any) -> float:
        """Return the fraction of vertices that other labels put in the same group.

        Groups are matched in the best way, so the names of the labels do not matter.
        """
        return agreement(self.labels, labels)

    def __repr__(self) -> str:
        sizes = preview(self.sizes)
        bound = rounded_text(self.bound, up=True)
        return f"Partition(value={self.value:.10g}, bound={bound}, sizes={sizes})"


def weight_within(S: Any, c: Array, labels: Any) -> float:
    """Return the sum of S_ij - c_i c_j over pairs i, j within groups."""
    entries = S.tocoo()
    inside = labels[entries.row] == labels[entries.col]
    shares = np.bincount(labels, weights=c)
    return float(entries.data[inside].sum() - shares @ shares)


def improve_partition(S: Any, c: Array, labels: Any, k: int, limit: TimeLimit = UNLIMITED) -> Any:
    """Move single vertices to the group of largest gain, until no move gains or the time is up.

    The diagonal of S must be 0, and some of the k groups may be empty. Each sweep computes all
    gains at once, and again one by one for the vertices that may move, because moves change other
    gains.
    """
    labels = np.array(labels)
    shares = np.bincount(labels, weights=c, minlength=k)
    scale = max(float(np.abs(S.data).max(initial=0.0)), float(np.abs(c).max() ** 2))
    for _ in range(MAX_SWEEPS):
        scores = S @ (labels[:, None] == np.arange(k)).astype(np.float64)
        scores -= c[:, None] * (shares - c[:, None] * (labels[:, None] == np.arange(k)))
        own = np.take_along_axis(scores, labels[:, None], axis=1)[:, 0]
        moved = False
        for v in np.flatnonzero(scores.max(axis=1) > own + GAIN_ROUNDING * scale):
            if limit.is_over():
                return labels
            near = slice(S.indptr[v], S.indptr[v + 1])
            links = np.bincount(labels[S.indices[near]], weights=S.data[near], minlength=k)
            shares[labels[v]] -= c[v]
            score = links - c[v] * shares
            best = int(np.argmax(score))
            if score[best] > score[labels[v]] + GAIN_ROUNDING * scale:
                labels[v], moved = best, True
            shares[labels[v]] += c[v]
        if not moved:
            break
    return labels


def renumber(labels: Any) -> Any:
    """Renumber the nonempty groups as 0, 1, ... in the order of their labels."""
    return np.unique(labels, return_inverse=True)[1].ravel()
