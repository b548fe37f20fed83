"""Graph matching: which vertex of one graph is which of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator

from condal.domains.birkhoff import Birkhoff
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.sparse import require_sound
from condal.maps.operator import Operator
from condal.problem import Problem
from condal.problems.answers import vector_of
from condal.problems.graphs import weights_of
from condal.problems.inputs import require_real
from condal.problems.permutations import checked_permutation
from condal.result import Result
from condal.runtime.arguments import finite_array
from condal.smooth.residuals import LeastSquares

SPARSE = 0.2  # of the entries: a matrix that is fuller is multiplied as a dense one


@dataclass(frozen=True, eq=False)
class Matching:
    """Vertex i of A is vertex permutation[i] of B: `disagreement` is sum (A_ij - B_p(i)p(j))^2.

    No permutation has a disagreement below `bound`, which is proved.
    """

    disagreement: float
    bound: float
    permutation: Indices

    def __repr__(self) -> str:
        return (
            f"Matching(disagreement={self.disagreement:.10g}, none is below {self.bound:.10g}, "
            f"{self.permutation.size} vertices)"
        )


@dataclass(frozen=True, eq=False)
class GraphMatching:
    """minimise |AP - PB|^2 over doubly stochastic P, the hull of the permutations.

    For a permutation it is sum (A_ij - B_p(i)p(j))^2. Where A and B are the same graph in another
    order, and it has no symmetry to speak of (simple eigenvalues, no eigenvector of sum 0), the one
    minimiser is that order (Aflalo, Bronstein and Kimmel 2015).
    """

    A: Any = field(repr=False)
    B: Any = field(repr=False)
    name: str = "graph matching"

    @property
    def n(self) -> int:
        """How many vertices each graph has."""
        return int(self.A.shape[0])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; x is P, row after row."""
        n, A, B = self.n, self.A, self.B

        def apart(x: Array) -> Array:
            P = x.reshape(n, n)
            return np.asarray(A @ P - (B.T @ P.T).T).ravel()

        def adjoint(y: Array) -> Array:
            Y = y.reshape(n, n)
            return np.asarray(A.T @ Y - (B @ Y.T).T).ravel()

        op = LinearOperator((n * n, n * n), matvec=apart, rmatvec=adjoint, dtype=np.float64)
        reach = _norm_bound(A) + _norm_bound(B) or 1.0
        return Problem.of(
            f=LeastSquares(Operator(op, norm=reach), np.zeros(n * n), weight=2.0),
            X=Birkhoff(n),
            name=self.name,
        )

    def disagreement(self, permutation: Any) -> float:
        """sum over i, j of (A_ij - B_p(i)p(j))^2."""
        p = checked_permutation(permutation, self.n)
        apart = self.A - self.B[p][:, p]
        values = apart.data if sp.issparse(apart) else apart.ravel()
        return float(values @ values)

    def round(self, result: Result) -> Matching:
        """The permutation nearest to P, and what is proved of all."""
        P = vector_of(result, self.n**2).reshape(self.n, self.n)
        permutation = linear_sum_assignment(-P)[1]
        # No sum of squares is negative, whatever the proof lost.
        bound = max(0.0, float(result.bound))
        return Matching(self.disagreement(permutation), bound, permutation)


def graph_matching(A: Any, B: Any, *, name: str = "graph matching") -> GraphMatching:
    """The model of matching two graphs of n vertices, given by their matrices of weights.

    The matrices are dense or sparse, n x n; directed graphs and negative weights are allowed. Of a
    NetworkX graph the edge attribute `weight` is taken (1 where it is missing), and the vertices
    are those of `list(graph)`, in that order.
    """
    first, second = _graph(A, "A"), _graph(B, "B")
    if first.shape != second.shape:
        raise ProblemError(
            f"A has {first.shape[0]} vertices and B has {second.shape[0]}: they must agree; add "
            "vertices without edges to the smaller"
        )
    return GraphMatching(first, second, name)


def _graph(given: Any, name: str) -> Any:
    W = weights_of(given, name)
    require_real(W, name)
    if sp.issparse(W):
        require_sound(W, name)
        finite_array(W.tocoo().data, f"the stored entries of {name}")
        found = sp.csr_array(W, dtype=np.float64, copy=True)
    else:
        found = finite_array(W, name, ndim=2).copy()
    if found.shape[0] != found.shape[1] or found.shape[0] == 0:
        raise ProblemError(f"{name} must be square, a row for each vertex; got shape {found.shape}")
    full = found.nnz if sp.issparse(found) else np.count_nonzero(found)
    if full > SPARSE * found.shape[0] ** 2:
        return found.toarray() if sp.issparse(found) else found
    return sp.csr_array(found)


def _norm_bound(W: Any) -> float:
    """An upper bound on |W|: the root of the largest row sum times the largest column sum."""
    sizes = abs(W)
    return float(np.sqrt(sizes.sum(axis=0).max() * sizes.sum(axis=1).max())) * (1 + 1e-12)
