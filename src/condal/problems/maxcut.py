"""Max-cut and its semidefinite relaxation (Goemans and Williamson 1995)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.entries import Diagonal
from condal.problem import Problem
from condal.problems.answers import generator, point_of, trials_of
from condal.problems.factors import factor_of
from condal.problems.graphs import adjacency
from condal.problems.signs import best_signs, checked_signs
from condal.problems.unit_diagonal import unit_diagonal
from condal.result import Result
from condal.sets.boxes import Equal
from condal.smooth.linear import Linear


@dataclass(frozen=True, eq=False)
class Cut:
    """Two sides of a graph: `signs` is +1 or -1 a vertex, `weight` that of the edges between.

    No cut has a weight above `bound`, which is proved.
    """

    weight: float
    bound: float
    signs: Array

    def __repr__(self) -> str:
        ones = int((self.signs > 0).sum())
        return (
            f"Cut(weight={self.weight:.10g}, none is above {self.bound:.10g}, sides of {ones} and "
            f"{self.signs.size - ones})"
        )


@dataclass(frozen=True, eq=False)
class MaxCut:
    """maximise (1/4) <L, x> subject to diag x = 1, x psd: L the Laplacian of the weights W.

    Its value is an upper bound on every cut: sum over edges of W_ij (1 - s_i s_j)/2.
    """

    W: Any = field(repr=False)
    name: str = "max-cut"

    @property
    def n(self) -> int:
        """How many vertices."""
        return int(self.W.shape[0])

    @property
    def weights(self) -> Array:
        """Those of the edges, each of them twice."""
        return np.asarray(self.W.data)

    @cached_property
    def problem(self) -> Problem:
        """The relaxation, with tr x = n as its domain."""
        degrees = np.asarray(self.W.sum(axis=1)).ravel()
        laplacian = sp.dia_array((degrees[None, :], [0]), shape=self.W.shape).tocsr() - self.W
        return Problem.of(
            f=Linear(Symmetric(self.n, sparse=(sp.csr_array(0.25 * laplacian),))),
            X=Spectrahedron(self.n, trace=float(self.n)),
            A=Diagonal(self.n),
            K=Equal(np.ones(self.n)),
            maximise=True,
            repair=self.repair,
            name=self.name,
        )

    def repair(self, x: Point) -> Point:
        """x scaled to diag x = 1."""
        return unit_diagonal(x)

    def weight(self, signs: Any) -> float:
        """The weight of the cut between the vertices of sign +1 and those of sign -1."""
        s = checked_signs(signs, self.n)
        return float(0.25 * self.W.sum() - 0.25 * (s @ (self.W @ s)))

    def round(self, result: Result, *, trials: int | None = None, seed: int = 0) -> Cut:
        """The best of `trials` random hyperplanes, each improved by flips of single vertices.

        `trials` are 100, or fewer of more than 10^5 vertices, unless they are given.
        """
        trials = trials_of(trials, 100, self.n)
        rng = generator(trials, seed)
        factor = factor_of(point_of(result, self.n))
        signs = best_signs(-self.W, factor, trials=trials, rng=rng)[1]
        return Cut(self.weight(signs), float(result.bound), signs)


def max_cut(W: Any, *, name: str = "max-cut") -> MaxCut:
    """The max-cut model of a graph: a symmetric matrix of weights, or a NetworkX graph.

    Self-loops are never cut and count for nothing; weights may be negative. Of a NetworkX graph the
    edge attribute `weight` is taken (1 where it is missing), and the vertices are those of
    `list(graph)`, in that order.
    """
    graph = adjacency(W, "W")
    if graph.nnz == 0:
        raise ProblemError("the graph has no edges: every cut has weight 0; nothing to solve")
    return MaxCut(graph, name)
