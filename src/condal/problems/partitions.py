"""Partitions of vertices into groups, and the spectrahedron that contains them all.

A partition into k groups is the point with 1 within its groups and -1/(k - 1) between them, the
Gram matrix of the vertices of a simplex (Frieze and Jerrum 1997). For any number of groups, k = inf
and x >= 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point, dense
from condal.maps.combined import Stack
from condal.maps.entries import Entries
from condal.maps.matrices import Diagonal
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.answers import Figures, Picture, RoundedAnswer, Rows, finite, preview
from condal.problems.graphs import GraphModel, edges, named_groups
from condal.problems.models import Trials, unit_diagonal
from condal.result import Result
from condal.runtime.arguments import checked_labels, require_choice
from condal.runtime.limits import TRIANGLE_MATRICES, UNLIMITED, TimeLimit, require_matrices
from condal.runtime.text import number, sizes
from condal.sets.boxes import Box, Equal
from condal.sets.separable import Separable
from condal.smooth.objectives import Linear
from condal.types import LinearMap, Provable

Pairs: TypeAlias = Literal["none", "edges", "all"]

MAX_SWEEPS = 100
GAIN_ROUNDING = 1e-12  # relative to the largest weight


@dataclass(frozen=True, eq=False, repr=False)
class Partition(RoundedAnswer):
    """A partition of vertices into groups, with its value and a proved bound.

    Attributes
    ----------
    value : float
        The value of this partition, such as a cut weight or a modularity.
    bound : float
        A proved upper bound on the value of every partition into this number of groups.
    labels : ndarray of int
        The group 0, 1, ... of each vertex.
    """

    value: float
    bound: float
    labels: Any
    model: Any = None

    first_integer = 1

    @property
    def groups(self) -> list[list[Any]]:
        """The vertices of each group, by name if the graph has names."""
        return named_groups(self.labels, len(self.sizes), self.model)

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
        from scipy.optimize import linear_sum_assignment

        other = checked_labels(labels, self.labels.size, None)
        table = np.zeros((int(self.labels.max()) + 1, int(other.max()) + 1))
        np.add.at(table, (self.labels, other), 1.0)
        return float(table[linear_sum_assignment(-table)].sum() / other.size)

    def rows(self) -> Rows:
        return [
            ("groups", f"{sizes(self.sizes)} vertices"),
            ("quality", f"{number(self.value)}, {self.model.quality_text}"),
        ]

    @property
    def none_text(self) -> str:
        groups = "any number of" if self.model.k is None else self.model.k
        return f"no partition into {groups} groups has a higher quality"

    def figures(self) -> Figures:
        return {"quality": self.value, "quality_bound": finite(self.bound)}

    @property
    def sizes_text(self) -> str:
        return f"sizes={preview(self.sizes)}"


@dataclass(frozen=True, eq=False, repr=False)
class PartitionModel(GraphModel[Partition]):
    r"""A model over :math:`\{x \succeq 0 : \operatorname{diag} x = 1, x_{ij} \ge -1/(k - 1)\}`.

    Parameters
    ----------
    k : int or None
        The number of groups; None for any number.
    pairs : {"none", "edges", "all"}
        The pairs of vertices with :math:`x_{ij} \ge -1/(k-1)`.
    """

    k: int | None = field(repr=False)
    pairs: Pairs = field(repr=False)

    quality_text = "the value of the partition"

    @property
    def low(self) -> float:
        """-1/(k - 1); 0 for any number of groups."""
        return 0.0 if self.k is None else -1.0 / (self.k - 1)

    @cached_property
    def _free(self) -> bool:
        """Whether diag x = 1 is the only constraint: for k = 2 it implies x_ij >= -1."""
        return self.pairs == "none" or self.k == 2

    @cached_property
    def _A(self) -> LinearMap:
        """The diagonal of x, and its bounded entries."""
        if self._free:
            return Diagonal(self.n)
        if self.pairs == "all":
            what, advice = f"pairs='all' of {self.n} vertices", "use pairs='edges'"
            require_matrices(TRIANGLE_MATRICES, self.n, what, advice=advice)
            return Triangle(self.n)
        return Stack(Diagonal(self.n), Entries(self.n, *edges(self.W)))

    @cached_property
    def _K(self) -> Provable:
        """1 on the diagonal, at least `low` for the bounded entries."""
        ones = Equal(np.ones(self.n))
        if self._free:
            return ones
        if self.pairs == "all":
            least = np.full((self.n, self.n), self.low)
            np.fill_diagonal(least, 1.0)
            return Box(self._A(least), np.where(self._A(np.eye(self.n)) > 0, 1.0, np.inf))
        m = self._A.size - self.n
        return Separable(ones, Box(np.full(m, self.low), np.full(m, np.inf)))

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its domain is tr x = n."""
        return Problem.of(
            f=self._f,
            X=Spectrahedron(self.n, float(self.n)),
            A=self._A,
            K=self._K,
            maximise=True,
            repair=self.repair,
            name=self.name,
        )

    def repair(self, x: Point) -> Point:
        """Return x with a unit diagonal, mixed with J so that bounded entries reach `low`."""
        near = unit_diagonal(x)
        if self._free:
            return near
        assert not isinstance(near, tuple)
        if self.pairs == "all":
            least = float(np.min(dense(near)))
        else:
            least = float(Entries(self.n, *edges(self.W))(near).min())
        if least >= self.low:  # `least` is 1 for x = J
            return near
        share = (self.low - least) / (1.0 - least)
        if isinstance(near, LowRank):
            U = np.column_stack([near.U, np.ones(self.n)])
            return LowRank(U, np.append((1 - share) * near.weights, share))
        return np.asarray((1 - share) * near + share)

    @property
    @abstractmethod
    def _f(self) -> Linear:
        """The objective."""

    @property
    @abstractmethod
    def _links(self) -> tuple[Any, Array]:
        """S and c: a good partition has large S_ij - c_i c_j within its groups."""

    @abstractmethod
    def _draw(self, x: Point, trials: Trials) -> Callable[[], Any]:
        """Return a function that draws the labels of a partition near x."""

    @abstractmethod
    def value(self, labels: Any) -> float:
        """Return the value of a partition, such as its weight."""

    def value_bound(self, result: Result) -> float:
        """Return a proved upper bound on the value of every partition."""
        return float(result.bound)

    def _within(self, labels: Any) -> float:
        """Return the sum of S_ij - c_i c_j over pairs i, j within groups."""
        whole, (S, c) = checked_labels(labels, self.n, self.k), self._links
        entries = S.tocoo()
        inside = whole[entries.row] == whole[entries.col]
        shares = np.bincount(whole, weights=c)
        return float(entries.data[inside].sum() - shares @ shares)

    def _rounded(self, x: Point, trials: Trials) -> Any:
        draw, (S, c) = self._draw(x, trials), self._links
        found: list[Any] = []
        for _ in trials:
            labels = draw()
            groups = self.k or int(labels.max()) + 2  # one more for vertices that fit no group
            labels = improve_partition(S, c, labels, groups, trials.limit)
            found.append(np.unique(labels, return_inverse=True)[1].ravel())  # without empty groups
        return max(found, key=self.value)

    def answer_of(self, found: Any, result: Result) -> Partition:
        return Partition(self.value(found), self.value_bound(result), found, self)


def checked_pairs(k: int | None, pairs: Any) -> Pairs:
    """Return pairs; raise ProblemError unless they are allowed for k groups."""
    require_choice(pairs, "pairs", get_args(Pairs))
    if k is None and pairs != "all":
        raise ProblemError(
            "any number of groups (k = None) needs x >= 0 for all pairs; pass pairs='all' or give k"
        )
    return pairs


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
