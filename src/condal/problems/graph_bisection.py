"""Graph bisection (equipartition) and its semidefinite relaxation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.certificates.checked import rounded_text
from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Stack
from condal.maps.matrices import Diagonal
from condal.maps.quadratics import Quadratics
from condal.problem import Problem
from condal.problems.answers import (
    excess,
    generator,
    model_text,
    point_of,
    rounding_limit,
    trials_of,
)
from condal.problems.balanced import improve_balanced, median_split
from condal.problems.cuts import TwoSides
from condal.problems.factors import factor_of
from condal.problems.graphs import adjacency, cut_weight, quarter_laplacian, vertex_names
from condal.problems.signs import checked_signs
from condal.result import Result
from condal.runtime.arguments import Seed, require_whole
from condal.sets.boxes import Box, Equal
from condal.smooth.objectives import Linear

IMPROVED_SHARE = 0.1  # of the trials, the lightest cuts: improved by moves
MAX_BATCH_NUMBERS = 2**22  # of the splits that are compared at once


@dataclass(frozen=True, eq=False)
class BalancedCut(TwoSides):
    """A cut into sides of nearly equal size, with its weight and a proved bound.

    Attributes
    ----------
    weight : float
        The weight of the edges between the two sides.
    bound : float
        A proved lower bound on the weight of every cut that is as balanced.
    signs : ndarray
        +1 or -1 for each vertex: its side.
    model : Bisection, optional
        The model of the graph.
    """

    weight: float
    bound: float
    signs: Array
    model: Any = None

    def __repr__(self) -> str:
        ones = int((self.signs > 0).sum())
        return (
            f"BalancedCut(weight={self.weight:.10g}, bound={rounded_text(self.bound, up=False)}, "
            f"sides=({ones}, {self.signs.size - ones}))"
        )


@dataclass(frozen=True, eq=False)
class Bisection:
    r"""The semidefinite relaxation of graph bisection [1]_.

    .. math::

        \min_x \; \tfrac14 \langle L, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1,
        \; \ell^2 \le \langle e e^\top, x \rangle \le u^2, \; x \succeq 0,

    with :math:`L` the Laplacian of the weights :math:`W` and :math:`e` all ones. Signs :math:`s`
    are a cut of weight :math:`\tfrac14 s^\top L s`, and the sizes of its sides differ by
    :math:`|e^\top s|`: at most :math:`u`, the imbalance, and at least :math:`\ell`, which is 1 for
    an odd number of vertices and else 0. So the optimum bounds the weight of every such cut from
    below. For :math:`u = 0` the relaxation has no interior: :math:`x e = 0`. `bisection` builds
    the model.

    Parameters
    ----------
    W : sparse array
        The symmetric weights, with an empty diagonal.
    imbalance : int, optional
        The largest difference u between the sizes of the sides, even if and only if n is.
    name : str, optional
        The name in results and reports.
    names : list, optional
        The names of the vertices, if they are not 0, 1, ...

    References
    ----------
    .. [1] A. Frieze and M. Jerrum, "Improved approximation algorithms for MAX k-CUT and MAX
       BISECTION", *Algorithmica* 18, 1997.
    """

    W: Any = field(repr=False)
    imbalance: int = 0
    name: str = "bisection"
    names: list[Any] | None = field(default=None, repr=False)

    __repr__ = model_text

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.W.shape[0])

    @property
    def weights(self) -> Array:
        """The weights of the edges, each of them twice."""
        return np.asarray(self.W.data)

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its images are diag x and <ee', x>, its domain is tr x = n."""
        n, ones = self.n, np.ones(self.n)
        low, high = np.append(ones, float(n % 2)), np.append(ones, float(self.imbalance) ** 2)
        return Problem.of(
            f=Linear(Symmetric(n, sparse=(quarter_laplacian(self.W),))),
            X=Spectrahedron(n, float(n)),
            A=Stack(Diagonal(n), Quadratics(ones[None, :])),
            K=Equal(low) if np.array_equal(low, high) else Box(low, high),
            name=self.name,
        )

    def weight(self, signs: Any) -> float:
        """Return the weight of the cut between the vertices of sign +1 and of sign -1."""
        return cut_weight(self.W, checked_signs(signs, self.n))

    def excess(self, signs: Any, result: Result) -> float:
        """Return weight / bound - 1, the proved relative excess over the lightest cut.

        Parameters
        ----------
        signs : array_like
            +1 or -1 for each vertex, balanced.
        result : Result
            A result of `condal.solve` for this model.

        Returns
        -------
        float
            The excess; inf if the bound is not positive.
        """
        point_of(result, self.n)
        return excess(self.weight(signs), float(result.bound), "cut")

    def round(
        self,
        result: Result,
        *,
        trials: int | None = None,
        seed: Seed = 0,
        max_seconds: float | None = None,
    ) -> BalancedCut:
        """Round a solution to a balanced cut.

        Each trial splits the vertices at the median of R g, for x = R R' and a random g. The
        lightest tenth of the cuts is improved by moves of vertices between the sides.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.
        trials : int, optional
            The number of random trials, 100, or fewer for more than 10^5 vertices, by default.
        seed : int or Generator, optional
            The seed of the random generator.
        max_seconds : float, optional
            A time limit: the best answer found by then is returned.

        Returns
        -------
        BalancedCut
            The lightest cut of all trials.
        """
        limit, trials = rounding_limit(max_seconds), trials_of(trials, 100, self.n)
        rng = generator(trials, seed)
        factor = factor_of(point_of(result, self.n))
        kept = max(1, int(IMPROVED_SHARE * trials))
        batch = max(1, MAX_BATCH_NUMBERS // self.n)
        best: list[tuple[float, int, Array]] = []
        for begin in range(0, trials, batch):
            if begin and limit.is_over():
                break
            g = rng.standard_normal((min(batch, trials - begin), factor.shape[1]))
            columns = np.column_stack([median_split(values) for values in (factor @ g.T).T])
            inner = np.einsum("ij,ij->j", columns, self.W @ columns)
            best += [(-float(v), begin + k, columns[:, k]) for k, v in enumerate(inner)]
            best = sorted(best, key=lambda cut: cut[:2])[:kept]
        signs = best[0][2]
        for _, _, candidate in best:
            improved = improve_balanced(self.W, candidate, self.imbalance, limit=limit)
            signs = min(signs, improved, key=self.weight)
            if limit.is_over():
                break
        return BalancedCut(self.weight(signs), float(result.bound), signs, self)


def bisection(W: Any, *, imbalance: int | None = None, name: str = "bisection") -> Bisection:
    """Return the model of the lightest cut of a graph into halves.

    Parameters
    ----------
    W : array, sparse matrix, table of pandas, NetworkX or igraph graph
        Symmetric weights. The edge attribute `weight` of a graph is used (1 if missing), and
        vertices are numbered in the order of `list(graph)`; `BalancedCut.sides` has their names.
        Weights may be negative; self-loops are ignored.
    imbalance : int, optional
        The largest difference between the sizes of the two sides; by default 0, or 1 for an odd
        number of vertices.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    Bisection
        The model, for `condal.solve`.

    Raises
    ------
    ProblemError
        If W is not symmetric and real, or has no edges, or if no cut, or every cut, is balanced.

    Examples
    --------
    Two triangles, joined by an edge:

    >>> import condal, networkx
    >>> model = condal.problems.bisection(networkx.barbell_graph(3, 0))
    >>> model.round(condal.solve(model))
    BalancedCut(weight=1, bound=0.9..., sides=(3, 3))
    """
    graph = adjacency(W, "W")
    if graph.nnz == 0:
        raise ProblemError("the graph has no edges: every cut has weight 0; nothing to solve")
    n = int(graph.shape[0])
    most = n % 2 if imbalance is None else imbalance
    require_whole(most, "imbalance", least=0)
    if most < n % 2:
        raise ProblemError(
            f"imbalance must be at least 1 for {n} vertices, an odd number; got {most}"
        )
    if most >= n:
        raise ProblemError(
            f"imbalance must be below the number of vertices, {n}; got {most}: a cut with an empty "
            "side has weight 0"
        )
    return Bisection(graph, int(most) - (int(most) - n) % 2, name, vertex_names(W))
