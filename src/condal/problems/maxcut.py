"""Max-cut and its semidefinite relaxation (Goemans and Williamson 1995)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from condal.domains import Spectrahedron
from condal.errors import ProblemError
from condal.maps import Diagonal
from condal.operators import Symmetric
from condal.points import Array, LowRank, Point, dense
from condal.problem import Problem
from condal.problems.answers import point_of
from condal.result import Result
from condal.sets import Equal
from condal.smooth import Linear
from condal.symmetry import symmetric


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
        """D^(-1/2) x D^(-1/2) with D = diag x: feasible; a row of zeros becomes a unit vector."""
        if isinstance(x, LowRank):
            diagonal = np.maximum(Diagonal(self.n)(x), 0.0)
            lost = diagonal <= 1e-300
            U = x.U / np.sqrt(np.where(lost, 1.0, diagonal))[:, None]
            U[lost] = 0.0
            heaviest = int(np.argmax(x.weights))
            U[lost, heaviest] = 1.0 / np.sqrt(x.weights[heaviest])
            return LowRank(U, x.weights)
        full = dense(x)
        diagonal = np.diagonal(full)
        lost = diagonal <= 1e-300
        root = np.sqrt(np.where(lost, 1.0, diagonal))
        repaired = full / np.multiply.outer(root, root)
        repaired[lost] = 0.0
        repaired[:, lost] = 0.0
        repaired[np.diag_indices(self.n)] = 1.0
        return np.asarray(repaired)

    def weight(self, signs: Any) -> float:
        """The weight of the cut between the vertices of sign +1 and those of sign -1."""
        s = np.asarray(signs, dtype=np.float64)
        if s.shape != (self.n,) or not np.all(np.abs(s) == 1.0):
            raise ProblemError(f"signs must be {self.n} numbers, each +1 or -1; got {signs!r}")
        loops = float(self.W.diagonal().sum())
        return float(0.25 * (self.W.sum() - loops) - 0.25 * (s @ (self.W @ s) - loops))

    def round(self, result: Result, trials: int = 100, seed: int = 0) -> Cut:
        """The best of `trials` random hyperplanes, each improved by flips of single vertices."""
        if trials < 1:
            raise ProblemError(f"trials must be at least 1; got {trials}")
        factor = _factor(point_of(result, self.n))
        rng = np.random.default_rng(seed)
        graph = sp.csr_array(self.W - sp.dia_array((self.W.diagonal()[None, :], [0]), self.W.shape))
        best: Cut | None = None
        for begin in range(0, trials, 32):
            planes = rng.standard_normal((factor.shape[1], min(32, trials - begin)))
            sides = np.where(factor @ planes >= 0, 1.0, -1.0)
            sides = _flip(graph, sides)
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
    if hasattr(W, "adjacency") and hasattr(W, "number_of_nodes"):
        W = _from_networkx(W)
    if sp.issparse(W) or isinstance(W, np.ndarray | list | tuple):
        checked = symmetric(W if sp.issparse(W) else np.asarray(W), "W")
        graph = checked.sparse[0] if checked.sparse else sp.csr_array(checked.dense)
        if graph.nnz == 0:
            raise ProblemError("the graph has no edges: every cut has weight 0; nothing to solve")
        return MaxCut(graph, name)
    raise ProblemError(
        "W must be a SciPy sparse matrix, a NumPy array or a NetworkX graph; "
        f"got {type(W).__name__}"
    )


def _from_networkx(graph: Any) -> Any:
    if graph.is_directed():
        raise ProblemError(
            "the graph is directed; pass an undirected one: graph.to_undirected() keeps one weight "
            "of each pair, A + A' of its adjacency matrix adds them"
        )
    if graph.number_of_nodes() == 0:
        raise ProblemError("the graph has no vertices: nothing to solve")
    import networkx as nx

    return nx.to_scipy_sparse_array(graph, dtype=np.float64, weight="weight")


def _factor(x: Point) -> Array:
    """R with x = R R', for rounding."""
    if isinstance(x, LowRank):
        return x.factor()
    values, vectors = eigh(dense(x))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


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
