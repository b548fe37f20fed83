"""Graph matching: find which vertex of one graph corresponds to which of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from condal.certificates.checked import rounded_text
from condal.domains.birkhoff import Birkhoff
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.maps.operator import Operator
from condal.problem import Problem
from condal.problems.answers import model_text, vector_of
from condal.problems.graphs import square_weights
from condal.problems.permutations import checked_permutation
from condal.result import Result
from condal.runtime.memory import require_matrices
from condal.smooth.residuals import LeastSquares

MATRICES = 8  # n x n, at least, that a solve holds of the images of P
MAX_SPARSE_DENSITY = 0.2  # density above which a matrix is stored dense


@dataclass(frozen=True, eq=False)
class Matching:
    r"""A matching of two graphs, with its disagreement and a proved bound.

    Attributes
    ----------
    disagreement : float
        :math:`\sum_{ij} (A_{ij} - B_{p(i)p(j)})^2`.
    bound : float
        A proved lower bound on the disagreement of every permutation.
    permutation : ndarray of int
        Vertex i of A corresponds to vertex permutation[i] of B.
    """

    disagreement: float
    bound: float
    permutation: Indices

    def __repr__(self) -> str:
        bound = rounded_text(self.bound, up=False)
        return (
            f"Matching(disagreement={self.disagreement:.10g}, bound={bound}, "
            f"vertices={self.permutation.size})"
        )


@dataclass(frozen=True, eq=False)
class GraphMatching:
    r"""The convex relaxation of graph matching over doubly stochastic matrices.

    .. math::

        \min_P \; \|A P - P B\|_F^2
        \quad \text{subject to} \quad P \ge 0, \; P 1 = 1, \; P^T 1 = 1.

    For a permutation the objective is :math:`\sum_{ij} (A_{ij} - B_{p(i)p(j)})^2`. If B is a
    reordering of A, and A has simple eigenvalues and no eigenvector of sum 0, that order is the
    only minimiser [1]_. `graph_matching` builds the model.

    Parameters
    ----------
    A, B : ndarray or sparse array
        The weights of both graphs, n x n.
    name : str, optional
        The name in results and reports.

    References
    ----------
    .. [1] Y. Aflalo, A. Bronstein and R. Kimmel, "On convex relaxation of graph isomorphism",
       *PNAS* 112, 2015.
    """

    A: Any = field(repr=False)
    B: Any = field(repr=False)
    name: str = "graph matching"

    __repr__ = model_text

    @property
    def n(self) -> int:
        """The number of vertices of each graph."""
        return int(self.A.shape[0])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; x is P, row by row."""
        n, A, B = self.n, self.A, self.B
        what, advice = f"the matching of {n} vertices", "use a larger machine"
        require_matrices(MATRICES, n, what, advice=advice)

        def difference(x: Array) -> Array:
            P = x.reshape(n, n)
            return np.asarray(A @ P - (B.T @ P.T).T).ravel()

        def adjoint(y: Array) -> Array:
            Y = y.reshape(n, n)
            return np.asarray(A.T @ Y - (B @ Y.T).T).ravel()

        op = LinearOperator((n * n, n * n), matvec=difference, rmatvec=adjoint, dtype=np.float64)
        norm = _norm_bound(A) + _norm_bound(B) or 1.0
        return Problem.of(
            f=LeastSquares(Operator(op, norm=norm), np.zeros(n * n), weight=2.0),
            X=Birkhoff(n),
            name=self.name,
        )

    def disagreement(self, permutation: Any) -> float:
        """Return sum_ij (A_ij - B_p(i)p(j))^2."""
        p = checked_permutation(permutation, self.n)
        difference = self.A - self.B[p][:, p]
        values = difference.data if sp.issparse(difference) else difference.ravel()
        return float(values @ values)

    def round(self, result: Result) -> Matching:
        """Round to the permutation nearest to P.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.

        Returns
        -------
        Matching
            The permutation, its disagreement and the proved bound.
        """
        from scipy.optimize import linear_sum_assignment

        P = vector_of(result, self.n**2).reshape(self.n, self.n)
        permutation = linear_sum_assignment(-P)[1]
        # No sum of squares is negative, but a weak proof may give a negative bound.
        bound = max(0.0, float(result.bound))
        return Matching(self.disagreement(permutation), bound, permutation)


def graph_matching(A: Any, B: Any, *, name: str = "graph matching") -> GraphMatching:
    """Return the model of matching two graphs of n vertices.

    Parameters
    ----------
    A, B : array, sparse matrix or NetworkX graph, n x n
        The weights; directed graphs and negative weights are allowed. The edge attribute `weight`
        of a NetworkX graph is used (1 if missing), and vertices are numbered in the order of
        `list(graph)`.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    GraphMatching
        The model, for `condal.solve`.

    Raises
    ------
    ProblemError
        If the graphs differ in size, or a matrix is not square, real and finite.

    Examples
    --------
    >>> import condal, numpy
    >>> A = numpy.array([[0, 1, 2, 0], [1, 0, 4, 0], [2, 4, 0, 5], [0, 0, 5, 0]])
    >>> p = [2, 0, 3, 1]
    >>> B = numpy.empty_like(A)
    >>> B[numpy.ix_(p, p)] = A
    >>> model = condal.problems.graph_matching(A, B)
    >>> model.round(condal.solve(model)).permutation.tolist()
    [2, 0, 3, 1]
    """
    first, second = _graph(A, "A"), _graph(B, "B")
    if first.shape != second.shape:
        raise ProblemError(
            f"A has {first.shape[0]} vertices and B has {second.shape[0]}: they must agree; add "
            "vertices without edges to the smaller"
        )
    return GraphMatching(first, second, name)


def _graph(given: Any, name: str) -> Any:
    """Return the weights as CSR or dense, whichever suits their density."""
    W = square_weights(given, name)
    entries = W.nnz if sp.issparse(W) else np.count_nonzero(W)
    if entries > MAX_SPARSE_DENSITY * W.shape[0] ** 2:
        return W.toarray() if sp.issparse(W) else W
    return sp.csr_array(W)


def _norm_bound(W: Any) -> float:
    """Return the root of the largest row sum times the largest column sum, at least |W|."""
    sizes = abs(W)
    return float(np.sqrt(sizes.sum(axis=0).max() * sizes.sum(axis=1).max())) * (1 + 1e-12)
