"""Max-cut and its semidefinite relaxation (Goemans and Williamson 1995)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains import Spectrahedron
from condal.errors import ProblemError
from condal.maps import Diagonal
from condal.operators import Symmetric
from condal.points import Array, Point
from condal.problem import Problem
from condal.problems.answers import point_of
from condal.problems.graphs import adjacency
from condal.problems.unit_diagonal import factor_of, unit_diagonal
from condal.result import Result
from condal.sets import Equal
from condal.smooth import Linear


@dataclass(frozen=True, eq=False)
class Cut:
    """Two sides of a graph: `signs` is +1 or -1 a vertex, `weight` that of the edges between."""

    weight: float
    signs: Array

    def __repr__(self) -> str:
        ones = int((self.signs > 0).sum())
        return f"Cut(weight={self.weight:.10g}, sides of {ones} and {self.signs.size - ones})"


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
        s = np.asarray(signs, dtype=np.float64)
        if s.shape != (self.n,) or not np.all(np.abs(s) == 1.0):
            raise ProblemError(f"signs must be {self.n} numbers, each +1 or -1; got {signs!r}")
        return float(0.25 * self.W.sum() - 0.25 * (s @ (self.W @ s)))

    def round(self, result: Result, trials: int = 100, seed: int = 0) -> Cut:
        """The best of `trials` random hyperplanes, each improved by flips of single vertices."""
        if trials < 1:
            raise ProblemError(f"trials must be at least 1; got {trials}")
        factor = factor_of(point_of(result, self.n))
        rng = np.random.default_rng(seed)
        best: Cut | None = None
        for begin in range(0, trials, 32):
            planes = rng.standard_normal((factor.shape[1], min(32, trials - begin)))
            sides = np.where(factor @ planes >= 0, 1.0, -1.0)
            sides = _flip(self.W, sides)
            weights = [self.weight(s) for s in sides.T]
            top = int(np.argmax(weights))
            if best is None or weights[top] > best.weight:
                best = Cut(weights[top], sides[:, top].copy())
        assert best is not None
        return best


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


def _flip(graph: Any, sides: Array) -> Array:
    """One-flip local search, a column a start: flip the vertex that gains most until none gains."""
    gains = sides * (graph @ sides)  # what a flip of each vertex adds to the cut
    indptr, indices, data = graph.indptr, graph.indices, graph.data
    rounding = 1e-12 * float(np.abs(data).max(initial=0.0))
    for s, gain in zip(sides.T, gains.T.copy(), strict=True):
        while True:
            i = int(np.argmax(gain))
            if gain[i] <= rounding:
                break
            s[i] = -s[i]
            gain[i] = -gain[i]
            near = slice(indptr[i], indptr[i + 1])
            neighbours = indices[near]
            gain[neighbours] += 2 * data[near] * s[neighbours] * s[i]
    return sides
