"""{x psd : diag x = 1, x_ij >= -1/(k - 1)}, which contains every partition into k groups.

A partition is the point with 1 within its groups and -1/(k - 1) between them, the Gram matrix of
the vertices of a simplex (Frieze and Jerrum 1997). For any number of groups, k = inf and x >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import LowRank, Point, dense
from condal.maps.combined import Stack
from condal.maps.entries import Entries
from condal.maps.matrices import Diagonal
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.graphs import edges
from condal.problems.inputs import require_choice
from condal.problems.unit_diagonal import unit_diagonal
from condal.runtime.arguments import require_whole
from condal.runtime.memory import TRIANGLE_MATRICES, require_matrices
from condal.sets.boxes import Box, Equal
from condal.sets.separable import Separable
from condal.types import LinearMap, Provable, Smooth

Pairs: TypeAlias = Literal["none", "edges", "all"]


@dataclass(frozen=True, eq=False)
class Groups:
    """The set, with x_ij >= low imposed on `pairs` of vertices: none, the edges, or all."""

    W: Any = field(repr=False)
    k: int | None
    pairs: Pairs

    @property
    def n(self) -> int:
        return int(self.W.shape[0])

    @property
    def low(self) -> float:
        """-1/(k - 1); 0 for any number of groups."""
        return 0.0 if self.k is None else -1.0 / (self.k - 1)

    @property
    def X(self) -> Spectrahedron:
        """{x psd : tr x = n}."""
        return Spectrahedron(self.n, trace=float(self.n))

    @cached_property
    def _free(self) -> bool:
        """Whether diag x = 1 is the only constraint: for k = 2 it implies x_ij >= -1."""
        return self.pairs == "none" or self.k == 2

    @cached_property
    def A(self) -> LinearMap:
        """The diagonal of x, and its bounded entries."""
        if self._free:
            return Diagonal(self.n)
        if self.pairs == "all":
            what, advice = f"pairs='all' of {self.n} vertices", "use pairs='edges'"
            require_matrices(TRIANGLE_MATRICES, self.n, what, advice=advice)
            return Triangle(self.n)
        return Stack(Diagonal(self.n), Entries(self.n, *edges(self.W)))

    @cached_property
    def K(self) -> Provable:
        """1 on the diagonal, at least `low` for the bounded entries."""
        ones = Equal(np.ones(self.n))
        if self._free:
            return ones
        if self.pairs == "all":
            least = np.full((self.n, self.n), self.low)
            np.fill_diagonal(least, 1.0)
            return Box(self.A(least), np.where(self.A(np.eye(self.n)) > 0, 1.0, np.inf))
        m = self.A.size - self.n
        return Separable(ones, Box(np.full(m, self.low), np.full(m, np.inf)))

    def problem(self, f: Smooth, name: str) -> Problem:
        """Return the problem: maximise f over the set."""
        return Problem.of(
            f=f, X=self.X, A=self.A, K=self.K, maximise=True, repair=self.repair, name=name
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


def checked_groups(W: Any, k: Any, pairs: Any, *, least: int = 2) -> Groups:
    """Return the set for these vertices; raise ProblemError for a bad k or pairs."""
    if k is not None:
        require_whole(k, "k", least=least)
        k = int(k)
    require_choice(pairs, "pairs", get_args(Pairs))
    if k is None and pairs != "all":
        raise ProblemError(
            "any number of groups (k = None) needs x >= 0 for all pairs; pass pairs='all' or give k"
        )
    return Groups(W, k, pairs)
