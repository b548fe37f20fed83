"""Lovasz's theta of a graph, and theta+, the same with x >= 0 (Schrijver 1979)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, dense
from condal.linalg.symmetric import Symmetric
from condal.maps.entries import Entries
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.answers import generator, point_of, trials_of
from condal.problems.factors import factor_of
from condal.problems.graphs import adjacency, edges
from condal.problems.inputs import array_of, described, require_flag
from condal.problems.stable import improve, take_in_order
from condal.result import Result
from condal.sets.boxes import Box, Equal
from condal.smooth.linear import Linear

NEGLIGIBLE = (1e-5, 1e-3, 1e-1)  # of the mean of diag x, 1/n: rows that may be noise
COMPLEMENT = " of the complement"  # of the name of a model


@dataclass(frozen=True, eq=False)
class StableSet:
    """Vertices of which no two are joined by an edge, in rising order.

    No such set has a size above `bound`, which is proved.
    """

    size: int
    bound: float
    vertices: Any

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.vertices[:12])) + ", ..." * (self.size > 12)
        return f"StableSet(size={self.size}, none is above {self.bound:.10g}, vertices {shown})"


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
        one is n if every vertex looks like every other, and no less in any case. Its complement is
        the graph again.
        """
        joined = self.W.toarray() != 0
        np.fill_diagonal(joined, True)
        back = self.name.endswith(COMPLEMENT)
        name = self.name.removesuffix(COMPLEMENT) if back else self.name + COMPLEMENT
        return Theta(sp.csr_array(np.where(joined, 0.0, 1.0)), self.theta_plus, name)

    def feasible(self, result: Result) -> Array:
        """A point of the program near that of the result: no x_ij is left on an edge, exactly.

        x with 0 there is made psd by a multiple of I and scaled, rows and columns alike, to the
        best D x D, D diagonal, of trace 1. That is done as it stands; and, for several thresholds,
        with a unit diagonal before I is added, without the rows that have less than the threshold,
        which may be noise. The best is returned: never less than the multiple of I alone would
        make. <J, .> of it is a lower bound on theta, and so, of the complement, on the number of
        colours.
        """
        full = dense(point_of(result, self.n)).copy()
        full[self.W.toarray() != 0] = 0.0
        if self.theta_plus:
            full = np.maximum(full, 0.0)
        diagonal = np.diagonal(full)
        found = [_best_scaling(_psd(full))]
        for share in NEGLIGIBLE:
            kept = np.flatnonzero(diagonal > share / self.n)
            if kept.size:
                block = full[np.ix_(kept, kept)]
                root = np.sqrt(diagonal[kept])
                whole = np.zeros_like(full)
                part = _best_scaling(_psd(block / np.multiply.outer(root, root)))
                whole[np.ix_(kept, kept)] = part
                found.append(whole)
        return max(found, key=np.sum)

    def round(self, result: Result, *, trials: int | None = None, seed: int = 0) -> StableSet:
        """The largest of `trials` stable sets taken greedily by x, each improved by exchanges.

        The first is taken in the order of diag x, the others of R g for x = R R' and a random g: a
        start that lies near one of the sets that x is an average of. `trials` are 100, or fewer of
        more than 10^5 vertices, unless they are given.
        """
        trials = trials_of(trials, 100, self.n)
        rng = generator(trials, seed)
        R = factor_of(point_of(result, self.n))
        best = np.zeros(self.n, dtype=bool)
        for trial in range(trials):
            scores = (R * R).sum(axis=1) if trial == 0 else R @ rng.standard_normal(R.shape[1])
            chosen = improve(self.W, take_in_order(self.W, np.argsort(-scores, kind="stable")))
            best = max(best, chosen, key=np.count_nonzero)
        vertices = np.flatnonzero(best)
        return StableSet(int(vertices.size), float(result.bound), vertices)

    def is_stable(self, vertices: Any) -> bool:
        """Whether no two of the vertices are joined."""
        wanted = f"whole numbers from 0 to {self.n - 1}"
        found = array_of(vertices, "vertices", wanted)
        whole = found.dtype.kind in "iu" or found.size == 0
        wrong = (found < 0) | (found >= self.n) if whole else np.ones(found.shape, dtype=bool)
        if found.ndim != 1 or wrong.any():
            raise ProblemError(f"vertices must be {wanted}; got {described(vertices, wrong)}")
        chosen = np.zeros(self.n, dtype=bool)
        chosen[found.astype(np.intp)] = True
        return bool((self.W[chosen][:, chosen]).nnz == 0)


def theta(graph: Any, *, theta_plus: bool = False, name: str = "theta") -> Theta:
    """The theta model of a graph: a symmetric matrix, or a NetworkX graph.

    Parameters
    ----------
    graph : an edge is an entry that is not 0, whatever its value; loops count for nothing.
    theta_plus : with x >= 0 as well, all n(n + 1)/2 entries of it: for small graphs.
    """
    require_flag(theta_plus, "theta_plus")
    W = adjacency(graph)
    return Theta(sp.csr_array((W != 0).astype(np.float64)), bool(theta_plus), name)


def _psd(z: Array) -> Array:
    """z and the least multiple of I, and of rounding, that makes it psd."""
    n = len(z)
    values = eigh(z, eigvals_only=True)
    room = 1e-14 * n * max(float(np.abs(values).max()), 1.0 / n)
    return z + (room + max(0.0, -float(values[0]))) * np.eye(n)


def _best_scaling(z: Array) -> Array:
    """The D z D, D diagonal, of trace 1 with the largest sum, for a psd z of positive diagonal.

    With a unit diagonal it is z_ij u_i u_j for a unit vector u, of sum u'z u: the leading
    eigenvector, which has no negative entries if z has none.
    """
    last, root = len(z) - 1, np.sqrt(np.diagonal(z))
    unit = z / np.multiply.outer(root, root)
    np.fill_diagonal(unit, 1.0)
    u = eigh(unit, subset_by_index=[last, last])[1][:, 0]
    u = np.abs(u) if unit.min() >= 0 else u
    return np.asarray(unit * np.multiply.outer(u, u))
