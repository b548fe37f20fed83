"""Max-cut and its semidefinite relaxation (Goemans and Williamson 1995)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.answers import (
    Drawn,
    generator,
    model_text,
    point_of,
    rounding_limit,
    trials_of,
)
from condal.problems.factors import factor_of
from condal.problems.graphs import (
    adjacency,
    cut_weight,
    named_groups,
    quarter_laplacian,
    vertex_names,
)
from condal.problems.signs import best_signs, checked_signs
from condal.problems.unit_diagonal import unit_diagonal, unit_diagonal_program
from condal.result import Result
from condal.runtime.arguments import Seed
from condal.smooth.objectives import Linear

if TYPE_CHECKING:
    from condal.report.pictures import Picture


class TwoSides(Drawn):
    """A cut of the graph of its model: the vertices of sign +1, and those of sign -1."""

    signs: Array

    @property
    def sides(self) -> tuple[list[Any], list[Any]]:
        """The vertices of sign +1 and those of sign -1, by name if the graph has names."""
        names = None if self.model is None else self.model.names
        ones, others = named_groups(self.signs < 0, 2, names)
        return ones, others

    def picture(self) -> Picture:
        from condal.report import pictures

        sides = ("one side", "the other side")
        return pictures.graph(self.model.W, self.signs < 0, sides, "The graph and its cut.")


@dataclass(frozen=True, eq=False)
class Cut(TwoSides):
    """A cut of a graph, with its weight and a proved bound.

    Attributes
    ----------
    weight : float
        The weight of the edges between the two sides.
    bound : float
        A proved upper bound on the weight of every cut.
    signs : ndarray
        +1 or -1 for each vertex: its side.
    model : MaxCut, optional
        The model of the graph.
    """

    weight: float
    bound: float
    signs: Array
    model: Any = None

    def __repr__(self) -> str:
        from condal.certificates.checked import rounded_text

        ones = int((self.signs > 0).sum())
        bound = rounded_text(self.bound, up=True)
        return (
            f"Cut(weight={self.weight:.10g}, bound={bound}, "
            f"sides=({ones}, {self.signs.size - ones}))"
        )


@dataclass(frozen=True, eq=False)
class MaxCut:
    r"""The semidefinite relaxation of max-cut [1]_.

    .. math::

        \max_x \; \tfrac14 \langle L, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1, \; x \succeq 0,

    with :math:`L` the Laplacian of the weights :math:`W`. The optimum bounds the weight of every
    cut, :math:`\sum_{i<j} W_{ij} (1 - s_i s_j)/2` for signs :math:`s`. `max_cut` builds the model.

    Parameters
    ----------
    W : sparse array
        The symmetric weights, with an empty diagonal.
    name : str, optional
        The name in results and reports.
    names : list, optional
        The names of the vertices, if they are not 0, 1, ...

    References
    ----------
    .. [1] M. X. Goemans and D. P. Williamson, "Improved approximation algorithms for maximum cut
       and satisfiability problems using semidefinite programming", *J. ACM* 42, 1995.
    """

    W: Any = field(repr=False)
    name: str = "max-cut"
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
        """The relaxation; its domain is tr x = n."""
        f = Linear(Symmetric(self.n, sparse=(quarter_laplacian(self.W),)))
        X = Spectrahedron(self.n, float(self.n))
        return unit_diagonal_program(f, X, self.n, name=self.name)

    def repair(self, x: Point) -> Point:
        """Return x scaled to diag x = 1."""
        return unit_diagonal(x)

    def weight(self, signs: Any) -> float:
        """Return the weight of the cut between the vertices of sign +1 and of sign -1."""
        return cut_weight(self.W, checked_signs(signs, self.n))

    def round(
        self,
        result: Result,
        *,
        trials: int | None = None,
        seed: Seed = 0,
        max_seconds: float | None = None,
    ) -> Cut:
        """Round a solution to a cut by random hyperplanes, each cut improved by single flips.

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
        Cut
            The best cut of all trials.
        """
        limit, trials = rounding_limit(max_seconds), trials_of(trials, 100, self.n)
        rng = generator(trials, seed)
        factor = factor_of(point_of(result, self.n))
        signs = best_signs(-self.W, factor, trials=trials, rng=rng, limit=limit)[1]
        return Cut(self.weight(signs), float(result.bound), signs, self)


def max_cut(W: Any, *, name: str = "max-cut") -> MaxCut:
    """Return the max-cut model of a graph.

    Parameters
    ----------
    W : array, sparse matrix, table of pandas, NetworkX or igraph graph
        Symmetric weights. The edge attribute `weight` of a graph is used (1 if missing), and
        vertices are numbered in the order of `list(graph)`; `Cut.sides` has their names. Weights
        may be negative; self-loops are ignored.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    MaxCut
        The model, for `condal.solve`.

    Raises
    ------
    ProblemError
        If W is not symmetric and real, or has no edges.

    Examples
    --------
    A cycle of five vertices, whose largest cut has four edges:

    >>> import condal, networkx
    >>> model = condal.problems.max_cut(networkx.cycle_graph(5))
    >>> model.round(condal.solve(model))
    Cut(weight=4, bound=4.52..., sides=(..., ...))
    """
    graph = adjacency(W, "W")
    if graph.nnz == 0:
        raise ProblemError("the graph has no edges: every cut has weight 0; nothing to solve")
    return MaxCut(graph, name, vertex_names(W))
