"""Max-cut and its semidefinite relaxation (Goemans and Williamson 1995)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.answers import GainAnswer, Picture, RoundedAnswer, Rows
from condal.problems.graphs import (
    GraphModel,
    edges_required,
    named_groups,
    quarter_laplacian,
    vertex_names,
)
from condal.problems.models import Rounded, Trials, factor_of, unit_diagonal_program
from condal.problems.signs import best_signs, checked_signs
from condal.result import Result
from condal.runtime.text import number
from condal.smooth.objectives import Linear


@dataclass(frozen=True, eq=False, repr=False)
class TwoSides(RoundedAnswer):
    """A cut of the graph of its model: the vertices of sign +1, and those of sign -1."""

    weight: float
    bound: float
    signs: Array
    model: Any = None

    @property
    def sides(self) -> tuple[list[Any], list[Any]]:
        """The vertices of sign +1 and those of sign -1, by name if the graph has names."""
        ones, others = named_groups(self.signs < 0, 2, self.model)
        return ones, others

    def picture(self) -> Picture:
        from condal.report import pictures

        sides = ("one side", "the other side")
        return pictures.graph(self.model.W, self.signs < 0, sides, "The graph and its cut.")

    def rows(self) -> Rows:
        ones = int((self.signs > 0).sum())
        sides = f"sides of {ones:,} and {self.signs.size - ones:,} vertices"
        return [("cut", f"{number(self.weight)}, {sides}")]

    @property
    def sizes_text(self) -> str:
        ones = int((self.signs > 0).sum())
        return f"sides=({ones}, {self.signs.size - ones})"


@dataclass(frozen=True, eq=False, repr=False)
class Cut(TwoSides, GainAnswer):
    """A cut of a graph, with its weight and a proved bound.

    Attributes
    ----------
    weight : float
        The weight of the edges between the two sides.
    bound : float
        A proved upper bound on the weight of every cut.
    signs : ndarray
        +1 or -1 for each vertex: its side.
    """

    noun = "cut"
    none_text = "no cut of this graph weighs more"

    @property
    def weights(self) -> Any:
        return self.model.weights


class CutModel(GraphModel[Rounded]):
    """A model of cuts: signs s have the weight s'L s / 4, for the Laplacian L."""

    @cached_property
    def _objective(self) -> Linear:
        return Linear(Symmetric(self.n, sparse=(quarter_laplacian(self.W),)))

    def weight(self, signs: Any) -> float:
        """Return the weight of the cut between the vertices of sign +1 and of sign -1."""
        s = checked_signs(signs, self.n)
        return float(0.25 * self.W.sum() - 0.25 * (s @ (self.W @ s)))


@dataclass(frozen=True, eq=False, repr=False)
class MaxCut(CutModel[Cut]):
    r"""The semidefinite relaxation of max-cut [1]_.

    .. math::

        \max_x \; \tfrac14 \langle L, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1, \; x \succeq 0,

    with :math:`L` the Laplacian of the weights :math:`W`. The optimum bounds the weight of every
    cut, :math:`\sum_{i<j} W_{ij} (1 - s_i s_j)/2` for signs :math:`s`. `round` takes the signs of
    100 random hyperplanes, each cut improved by single flips. `max_cut` builds the model.

    References
    ----------
    .. [1] M. X. Goemans and D. P. Williamson, "Improved approximation algorithms for maximum cut
       and satisfiability problems using semidefinite programming", *J. ACM* 42, 1995.
    """

    name: str = field(default="max-cut", kw_only=True)

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its domain is tr x = n."""
        return unit_diagonal_program(self._objective, self.n, name=self.name)

    def _rounded(self, x: Point, trials: Trials) -> Array:
        return best_signs(-self.W, factor_of(x), trials)[1]

    def answer_of(self, found: Any, result: Result) -> Cut:
        return Cut(self.weight(found), float(result.bound), found, self)


def max_cut(W: Any, *, name: str = "max-cut") -> MaxCut:
    """Return the max-cut model of a graph.

    Parameters
    ----------
    W : array, sparse matrix, table of pandas, NetworkX or igraph graph
        Symmetric weights. The edge attribute `weight` of a graph is used (1 if missing), and
        vertices are numbered in the order of `list(graph)`; `Cut.sides` has their names. Weights
        may be negative; self-loops are ignored.

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
    graph = edges_required(W, "W", "every cut has weight 0")
    return MaxCut(graph, name=name, names=vertex_names(W))
