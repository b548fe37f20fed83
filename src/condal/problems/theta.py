"""Lovasz's theta of a graph, and theta+, the same with x >= 0 (Schrijver 1979)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from condal.domains import Spectrahedron
from condal.errors import ProblemError
from condal.maps import Entries, Triangle
from condal.operators import Symmetric
from condal.points import Array, LowRank, Point, dense, require_whole
from condal.problem import Problem
from condal.problems.answers import point_of
from condal.problems.graphs import adjacency, edges
from condal.problems.stable import improve, take_in_order
from condal.result import Result
from condal.sets import Box, Equal
from condal.smooth import Linear

NEGLIGIBLE = 1e-5  # of the mean of diag x, 1/n


@dataclass(frozen=True, eq=False)
class StableSet:
    """Vertices of which no two are joined by an edge, in rising order."""

    size: int
    vertices: Any

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.vertices[:12])) + ", ..." * (self.size > 12)
        return f"StableSet(size={self.size}, vertices {shown})"


@dataclass(frozen=True, eq=False)
class Theta:
    """maximise <J, x> subject to x_ij = 0 for every edge ij, tr x = 1, x psd; J all ones.

    A stable set S is the feasible point 1_S 1_S' / |S|, of value |S|: the optimum bounds the size
    of every stable set. Of the complement of a graph it bounds from below the number of colours
    that the graph needs. `theta_plus` asks for x >= 0 too, for a bound that is never worse.
    """

    W: Any = field(repr=False)
    theta_plus: bool = False
    name: str = "theta"

    @property
    def n(self) -> int:
        """How many vertices."""
        return int(self.W.shape[0])

    @cached_property
    def problem(self) -> Problem:
        """The program: its images are x_ij for the edges, or the triangle of x for theta+."""
        n, ones = self.n, np.ones(self.n)
        A: Any = None
        K: Any = None
        if self.theta_plus:
            A = Triangle(n)
            K = Box(np.zeros(A.size), np.where(A(self.W.toarray()) != 0, 0.0, np.inf))
        elif self.W.nnz:
            A = Entries(n, *edges(self.W))
            K = Equal(np.zeros(A.size))
        return Problem.of(
            f=Linear(Symmetric(n, pairs=((ones, ones),))),
            X=Spectrahedron(n, trace=1.0),
            A=A,
            K=K,
            maximise=True,
            name=self.name,
        )

    @property
    def complement(self) -> Theta:
        """The model of the graph with an edge where this one has none.

        theta of it is at most the number of colours of this graph; its product with theta of this
        one is n if every vertex looks like every other, and no less in any case.
        """
        joined = self.W.toarray() != 0
        np.fill_diagonal(joined, True)
        W = sp.csr_array(np.where(joined, 0.0, 1.0))
        return Theta(W, self.theta_plus, f"{self.name} of the complement")

    def feasible(self, result: Result) -> Array:
        """A point of the program near that of the result: no x_ij is left on an edge, exactly.

        x with 0 there, scaled to a unit diagonal, and moved towards I until it is psd; of all
        points D x D with D diagonal and the trace 1 it is the best. <J, .> of it is a lower bound
        on theta, and so, of the complement, on the number of colours.
        """
        full = dense(point_of(result, self.n)).copy()
        full[self.W.toarray() != 0] = 0.0
        if self.theta_plus:
            full = np.maximum(full, 0.0)
        # Rows of next to nothing are noise, which the scaling would make large.
        small = np.diagonal(full) <= NEGLIGIBLE / self.n
        full[small], full[:, small] = 0.0, 0.0
        full[small, small] = 1.0
        root = np.sqrt(np.diagonal(full))
        full /= np.multiply.outer(root, root)
        values, vectors = eigh(full)
        u = np.abs(vectors[:, -1]) if self.theta_plus else vectors[:, -1]
        shift = max(0.0, -float(values[0]) + 1e-14 * self.n)
        full[np.diag_indices(self.n)] += shift
        return np.asarray(full * np.multiply.outer(u, u) / (1 + shift))

    def round(self, result: Result, *, trials: int = 100, seed: int = 0) -> StableSet:
        """The largest of `trials` stable sets taken greedily by x, each improved by exchanges.

        The first is taken in the order of diag x, the others of x r for random r: a start that lies
        near one of the sets that x is an average of.
        """
        require_whole(trials, "trials")
        require_whole(seed, "seed", least=0)
        x = point_of(result, self.n)
        rng = np.random.default_rng(seed)
        best = np.zeros(self.n, dtype=bool)
        for trial in range(trials):
            scores = _diagonal(x) if trial == 0 else _drawn(x, rng)
            chosen = improve(self.W, take_in_order(self.W, np.argsort(-scores, kind="stable")))
            best = max(best, chosen, key=np.count_nonzero)
        vertices = np.flatnonzero(best)
        return StableSet(int(vertices.size), vertices)

    def is_stable(self, vertices: Any) -> bool:
        """Whether no two of the vertices are joined."""
        chosen = np.zeros(self.n, dtype=bool)
        chosen[np.asarray(vertices, dtype=np.intp)] = True
        return bool((self.W[chosen][:, chosen]).nnz == 0)


def theta(graph: Any, *, theta_plus: bool = False, name: str = "theta") -> Theta:
    """The theta model of a graph: a symmetric matrix, or a NetworkX graph.

    Parameters
    ----------
    graph : an edge is an entry that is not 0, whatever its value; loops count for nothing.
    theta_plus : with x >= 0 as well, all n(n + 1)/2 entries of it: for small graphs.
    """
    if not isinstance(theta_plus, bool):
        raise ProblemError(f"theta_plus must be True or False; got {theta_plus!r}")
    return Theta(adjacency(graph), theta_plus, name)


def _diagonal(x: Point) -> Array:
    if isinstance(x, LowRank):
        return np.einsum("ij,ij,j->i", x.U, x.U, x.weights)
    return np.asarray(np.diagonal(dense(x)))


def _drawn(x: Point, rng: np.random.Generator) -> Array:
    """R g for x = R R' and a random g, or x g: near a stable set, large on it and of one sign."""
    if isinstance(x, LowRank):
        image = x.factor() @ rng.standard_normal(x.rank)
    else:
        image = dense(x) @ rng.standard_normal(len(dense(x)))
    return np.asarray(image)
