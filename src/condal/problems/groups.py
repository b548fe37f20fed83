"""{x psd : diag x = 1, x_ij >= -1/(k - 1)}, which holds every partition into k groups.

A partition is the point that is 1 within its groups and -1/(k - 1) between them, the Gram matrix
of the corners of a simplex (Frieze and Jerrum 1997); k = inf, of any number of groups, has x >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from condal.domains import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import LowRank, Point, dense
from condal.maps import Diagonal, Entries, Stack, Triangle
from condal.problems.graphs import edges
from condal.problems.inputs import require_choice
from condal.problems.unit_diagonal import unit_diagonal
from condal.runtime.arguments import require_whole
from condal.sets import Box, Equal, Separable
from condal.types import LinearMap, Provable

Pairs: TypeAlias = Literal["none", "edges", "all"]


@dataclass(frozen=True, eq=False)
class Groups:
    """The set, with x_ij >= low asked for `pairs` of vertices alone: none, the edges, or all."""

    W: Any = field(repr=False)
    k: int | None
    pairs: Pairs

    @property
    def n(self) -> int:
        """How many vertices."""
        return int(self.W.shape[0])

    @property
    def low(self) -> float:
        """-1/(k - 1); 0 for any number of groups."""
        return 0.0 if self.k is None else -1.0 / (self.k - 1)

    @property
    def X(self) -> Spectrahedron:
        """tr x = n."""
        return Spectrahedron(self.n, trace=float(self.n))

    @cached_property
    def _free(self) -> bool:
        """Whether diag x = 1 is all that is asked: two unit vectors have no product below -1."""
        return self.pairs == "none" or self.k == 2

    @cached_property
    def A(self) -> LinearMap:
        """The diagonal, and the entries that are bounded."""
        if self._free:
            return Diagonal(self.n)
        if self.pairs == "all":
            return Triangle(self.n)
        return Stack(Diagonal(self.n), Entries(self.n, *edges(self.W)))

    @cached_property
    def K(self) -> Provable:
        """1 on the diagonal, at least `low` off it."""
        ones = Equal(np.ones(self.n))
        if self._free:
            return ones
        if self.pairs == "all":
            least = np.full((self.n, self.n), self.low)
            np.fill_diagonal(least, 1.0)
            return Box(self.A(least), np.where(self.A(np.eye(self.n)) > 0, 1.0, np.inf))
        m = self.A.size - self.n
        return Separable(ones, Box(np.full(m, self.low), np.full(m, np.inf)))

    def repair(self, x: Point) -> Point:
        """x with a unit diagonal, and as much of J added as lifts every bounded entry to `low`."""
        near = unit_diagonal(x)
        if self._free:
            return near
        assert not isinstance(near, tuple)
        if self.pairs == "all":
            least = float(np.min(dense(near)))
        else:
            least = float(Entries(self.n, *edges(self.W))(near).min())
        if least >= self.low:  # which may be 1: x = J
            return near
        share = (self.low - least) / (1.0 - least)
        if isinstance(near, LowRank):
            U = np.column_stack([near.U, np.ones(self.n)])
            return LowRank(U, np.append((1 - share) * near.weights, share))
        return np.asarray((1 - share) * near + share)


def checked_groups(W: Any, k: Any, pairs: Any, *, least: int = 2) -> Groups:
    """The set for these vertices; ProblemError unless k and pairs are what they may be."""
    if k is not None:
        require_whole(k, "k", least=least)
        k = int(k)
    require_choice(pairs, "pairs", get_args(Pairs))
    if k is None and pairs != "all":
        raise ProblemError(
            "for any number of groups (k = None) x >= 0 is needed for all pairs: pass pairs='all', "
            "or give k"
        )
    return Groups(W, k, pairs)
