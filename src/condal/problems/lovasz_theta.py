"""Lovasz's theta of a graph, and theta+ with x >= 0 (Schrijver 1979)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.maps.entries import Entries
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.graphs import GraphModel, adjacency, edges, vertex_names
from condal.problems.models import Trials, factor_of, point_of
from condal.problems.stable_sets import StableSet, improve_stable_set, take_in_order
from condal.result import Result
from condal.runtime.arguments import require_flag, whole_numbers
from condal.runtime.limits import TRIANGLE_MATRICES, require_matrices
from condal.sets.boxes import Box, Equal
from condal.smooth.objectives import Linear

NOISE_THRESHOLDS = (1e-5, 1e-3, 1e-1)  # of 1/n, the mean of diag x; smaller rows may be noise
COMPLEMENT_MATRICES = 3  # n x n, at least, of the adjacency and its complement
COMPLEMENT_SUFFIX = " of the complement"
SUM_ROUNDING = 1e-9  # relative error of a sum of n^2 numbers, before it is rounded up


@dataclass(frozen=True, eq=False, repr=False)
class Theta(GraphModel[StableSet]):
    r"""Lovasz's theta function [1]_.

    .. math::

        \max_x \; \langle J, x \rangle
        \quad \text{subject to} \quad x_{ij} = 0 \text{ for every edge } ij,
        \; \operatorname{tr} x = 1, \; x \succeq 0,

    with :math:`J` all ones. A stable set :math:`S` is the feasible point :math:`1_S 1_S^T / |S|` of
    value :math:`|S|`, so the optimum bounds the size of every stable set. Theta of the complement
    is a lower bound on the number of colours. `theta_plus` adds :math:`x \ge 0` [2]_, for a bound
    that is never worse.

    Each of the 100 trials of `round` chooses vertices greedily, and improves the set by exchanges.
    The first takes them in the order of diag x, the others in the order of :math:`R g` for
    :math:`x = R R^T` and a random :math:`g`, which starts near one of the sets that x averages.
    `theta` builds the model.

    Parameters
    ----------
    theta_plus : bool, optional
        Whether x >= 0 is imposed.
    of_complement : bool, optional
        Whether W is the complement of the graph of the user, whose cliques are the stable sets.

    References
    ----------
    .. [1] L. Lovasz, "On the Shannon capacity of a graph", *IEEE Trans. Inf. Theory* 25, 1979.
    .. [2] A. Schrijver, "A comparison of the Delsarte and Lovasz bounds", *IEEE Trans. Inf. Theory*
       25, 1979.
    """

    theta_plus: bool = False
    of_complement: bool = field(default=False, repr=False, kw_only=True)
    name: str = field(default="theta", kw_only=True)

    @cached_property
    def problem(self) -> Problem:
        """The program; its images are x_ij for the edges, or the triangle of x for theta+."""
        n, ones = self.n, np.ones(self.n)
        A: Any = None
        K: Any = None
        if self.theta_plus:
            what, advice = f"theta+ of {n} vertices", "use theta, without theta_plus"
            require_matrices(TRIANGLE_MATRICES, n, what, advice=advice)
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
        """The model of the complement graph, which has an edge where this graph has none.

        Its theta is at most the number of colours of this graph. The product of both thetas is at
        least n, and equal to n for vertex-transitive graphs.
        """
        what, advice = f"the complement of {self.n} vertices", "use a larger machine"
        require_matrices(COMPLEMENT_MATRICES, self.n, what, advice=advice)
        joined = self.W.toarray() != 0
        np.fill_diagonal(joined, True)
        of_complement = not self.of_complement
        name = self.name.removesuffix(COMPLEMENT_SUFFIX) + COMPLEMENT_SUFFIX * of_complement
        pattern = sp.csr_array(np.where(joined, 0.0, 1.0))
        return replace(self, W=pattern, name=name, of_complement=of_complement)

    def feasible(self, result: Result) -> Array:
        r"""Return an exactly feasible point near that of the result.

        Entries on edges are set to 0, a multiple of I makes x psd, and x is scaled to the best D x
        D with D diagonal and trace 1. This is done for x itself and, for several thresholds, for x
        with a unit diagonal without the rows whose diagonal entry is below the threshold, which may
        be noise. The best point is returned. Its :math:`\langle J, \cdot \rangle` is a lower bound
        on theta.
        """
        full = dense(point_of(result, self.n, self.n)).copy()
        full[self.W.toarray() != 0] = 0.0
        if self.theta_plus:
            full = np.maximum(full, 0.0)
        diagonal = np.diagonal(full)
        candidates = [_best_scaling(_psd(full))]
        for share in NOISE_THRESHOLDS:
            rows = np.flatnonzero(diagonal > share / self.n)
            if rows.size:
                block = full[np.ix_(rows, rows)]
                root = np.sqrt(diagonal[rows])
                whole = np.zeros_like(full)
                scaled = _best_scaling(_psd(block / np.multiply.outer(root, root)))
                whole[np.ix_(rows, rows)] = scaled
                candidates.append(whole)
        return max(candidates, key=np.sum)

    def _rounded(self, x: Point, trials: Trials) -> Any:
        R = factor_of(x)
        best = np.zeros(self.n, dtype=bool)
        for trial in trials:
            scores = (
                (R * R).sum(axis=1) if trial == 0 else R @ trials.rng.standard_normal(R.shape[1])
            )
            greedy = take_in_order(self.W, np.argsort(-scores, kind="stable"))
            chosen = improve_stable_set(self.W, greedy, trials.limit)
            best = max(best, chosen, key=np.count_nonzero)
        return best

    def answer_of(self, found: Any, result: Result) -> StableSet:
        if found.shape != (self.n,) or not np.isin(found, (0, 1)).all():
            raise ProblemError(f"labels must be {self.n} numbers, each 0 or 1")
        vertices = np.flatnonzero(found)
        colours = vertices.size if self.of_complement else None
        answer = StableSet(vertices.size, float(result.bound), vertices, self, colours)
        if not self.is_stable(vertices):
            raise ProblemError(f"the vertices are not a {answer.noun}")
        return answer

    def coloured(self, answer: StableSet, result: Result) -> StableSet:
        """Return a clique with the best proved bound on the number of colours of its graph: its
        vertices need different colours, and theta is a lower bound, too."""
        value = float(self.feasible(result).sum())
        colours = max(answer.size, math.ceil(value * (1 - SUM_ROUNDING)))
        return replace(answer, colours=colours)

    def is_stable(self, vertices: Any) -> bool:
        """Return whether no two of the vertices are adjacent."""
        wanted = f"whole numbers from 0 to {self.n - 1}"
        chosen = np.zeros(self.n, dtype=bool)
        chosen[whole_numbers(vertices, "vertices", wanted, below=self.n)] = True
        return bool((self.W[chosen][:, chosen]).nnz == 0)


def theta(graph: Any, *, theta_plus: bool = False, name: str = "theta") -> Theta:
    """Return the theta model of a graph.

    Parameters
    ----------
    graph : array, sparse matrix, table of pandas, NetworkX or igraph graph
        A symmetric matrix whose nonzero entries are the edges; self-loops are ignored.
        `StableSet.names` has the names of the vertices.
    theta_plus : bool, optional
        Whether x >= 0 is imposed on all n(n + 1)/2 entries; for small graphs.

    Raises
    ------
    ProblemError
        If the graph is not a symmetric real matrix or an undirected graph.

    Examples
    --------
    Theta of a cycle of five vertices is the square root of 5:

    >>> import condal, networkx
    >>> model = condal.problems.theta(networkx.cycle_graph(5))
    >>> result = condal.solve(model, tol=1e-4)
    >>> f"{result.bound:.2f}"
    '2.24'
    >>> model.round(result).size
    2
    """
    require_flag(theta_plus, "theta_plus")
    W = adjacency(graph)
    pattern = sp.csr_array((W != 0).astype(np.float64))
    return Theta(pattern, bool(theta_plus), name=name, names=vertex_names(graph))


def _psd(z: Array) -> Array:
    """Return z plus the least multiple of I, with room for rounding, that makes it psd."""
    n = len(z)
    values = eigh(z, eigvals_only=True)
    room = 1e-14 * n * max(float(np.abs(values).max()), 1.0 / n)
    return z + (room + max(0.0, -float(values[0]))) * np.eye(n)


def _best_scaling(z: Array) -> Array:
    """Return D z D, D diagonal, of trace 1 and largest sum, for a psd z of positive diagonal.

    With a unit diagonal it is z_ij u_i u_j for the leading eigenvector u, whose sum is u'z u. u has
    no negative entries if z has none.
    """
    last, root = len(z) - 1, np.sqrt(np.diagonal(z))
    unit = z / np.multiply.outer(root, root)
    np.fill_diagonal(unit, 1.0)
    u = eigh(unit, subset_by_index=[last, last])[1][:, 0]
    u = np.abs(u) if unit.min() >= 0 else u
    return np.asarray(unit * np.multiply.outer(u, u))
