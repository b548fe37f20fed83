"""Graph bisection (equipartition) and its semidefinite relaxation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, Point
from condal.maps.combined import Stack
from condal.maps.matrices import Diagonal
from condal.maps.quadratics import Quadratics
from condal.problem import Problem
from condal.problems.answers import CostAnswer, whole
from condal.problems.cuts import CutModel, TwoSides
from condal.problems.graphs import edges_required, vertex_names
from condal.problems.models import CostModel, Trials, factor_of
from condal.result import Result
from condal.runtime.arguments import require_whole
from condal.runtime.limits import UNLIMITED, TimeLimit
from condal.sets.boxes import Box, Equal

MAX_IDLE_MOVES = 200  # of a pass, after the lightest cut so far
GAIN_ROUNDING = 1e-12  # relative to the largest weight
IMPROVED_SHARE = 0.1  # of the trials, the lightest cuts: improved by moves
MAX_BATCH_NUMBERS = 2**22  # of the splits that are compared at once


@dataclass(frozen=True, eq=False, repr=False)
class BalancedCut(TwoSides, CostAnswer):
    """A cut into sides of nearly equal size, with its weight and a proved bound.

    Attributes
    ----------
    weight : float
        The weight of the edges between the two sides.
    bound : float
        A proved lower bound on the weight of every cut that is as balanced.
    signs : ndarray
        +1 or -1 for each vertex: its side.
    """

    noun = figure = "cut"

    @property
    def whole(self) -> bool:
        return whole(self.model.weights)

    @property
    def none_text(self) -> str:
        apart = self.model.imbalance
        sides = f"sides that differ by at most {apart}" if apart else "halves"
        return f"no cut into {sides} is lighter"


@dataclass(frozen=True, eq=False, repr=False)
class Bisection(CutModel[BalancedCut], CostModel[BalancedCut]):
    r"""The semidefinite relaxation of graph bisection [1]_.

    .. math::

        \min_x \; \tfrac14 \langle L, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1,
        \; \ell^2 \le \langle e e^\top, x \rangle \le u^2, \; x \succeq 0,

    with :math:`L` the Laplacian of the weights :math:`W` and :math:`e` all ones. Signs :math:`s`
    are a cut of weight :math:`\tfrac14 s^\top L s`, and the sizes of its sides differ by
    :math:`|e^\top s|`: at most :math:`u`, the imbalance, and at least :math:`\ell`, which is 1 for
    an odd number of vertices and else 0. So the optimum bounds the weight of every such cut from
    below. For :math:`u = 0` the relaxation has no interior: :math:`x e = 0`.

    Each of the 100 trials of `round` splits the vertices at the median of :math:`R g`, for
    :math:`x = R R^T` and a random :math:`g`. The lightest tenth of the cuts is improved by moves of
    vertices between the sides. `bisection` builds the model.

    Parameters
    ----------
    imbalance : int, optional
        The largest difference u between the sizes of the sides, even if and only if n is.

    References
    ----------
    .. [1] A. Frieze and M. Jerrum, "Improved approximation algorithms for MAX k-CUT and MAX
       BISECTION", *Algorithmica* 18, 1997.
    """

    imbalance: int = 0
    name: str = field(default="bisection", kw_only=True)

    rounded_to = "cut"

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its images are diag x and <ee', x>, its domain is tr x = n."""
        n, ones = self.n, np.ones(self.n)
        low, high = np.append(ones, float(n % 2)), np.append(ones, float(self.imbalance) ** 2)
        return Problem.of(
            f=self._objective,
            X=Spectrahedron(n, float(n)),
            A=Stack(Diagonal(n), Quadratics(ones[None, :])),
            K=Equal(low) if np.array_equal(low, high) else Box(low, high),
            name=self.name,
        )

    def cost(self, answer: Any) -> float:
        return self.weight(answer)

    def _rounded(self, x: Point, trials: Trials) -> Array:
        factor = factor_of(x)
        kept = max(1, int(IMPROVED_SHARE * trials.count))
        batch = max(1, MAX_BATCH_NUMBERS // self.n)
        best: list[tuple[float, int, Array]] = []
        for begin in range(0, trials.count, batch):
            if begin and trials.limit.is_over():
                break
            g = trials.rng.standard_normal((min(batch, trials.count - begin), factor.shape[1]))
            columns = np.column_stack([median_split(values) for values in (factor @ g.T).T])
            inner = np.einsum("ij,ij->j", columns, self.W @ columns)
            best += [(-float(v), begin + k, columns[:, k]) for k, v in enumerate(inner)]
            best = sorted(best, key=lambda cut: cut[:2])[:kept]
        signs = best[0][2]
        for _, _, candidate in best:
            improved = improve_balanced(self.W, candidate, self.imbalance, limit=trials.limit)
            signs = min(signs, improved, key=self.weight)
            if trials.limit.is_over():
                break
        return signs

    def answer_of(self, found: Any, result: Result) -> BalancedCut:
        cut = BalancedCut(self.weight(found), float(result.bound), found, self)
        if abs(np.sum(found)) > self.imbalance:
            raise ProblemError(f"the sizes of the sides differ by more than {self.imbalance}")
        return cut


def bisection(W: Any, *, imbalance: int | None = None, name: str = "bisection") -> Bisection:
    """Return the model of the lightest cut of a graph into halves.

    Parameters
    ----------
    W : array, sparse matrix, table of pandas, NetworkX or igraph graph
        Symmetric weights, as for `max_cut`; `BalancedCut.sides` has the names of the vertices.
    imbalance : int, optional
        The largest difference between the sizes of the two sides; by default 0, or 1 for an odd
        number of vertices.

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
    graph = edges_required(W, "W", "every cut has weight 0")
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
    balance = int(most) - (int(most) - n) % 2
    return Bisection(graph, balance, name=name, names=vertex_names(W))


def median_split(values: Array) -> Array:
    """Return +1 for the larger half of the values, rounded up, and -1 for the others."""
    signs = np.ones(values.size)
    signs[np.argpartition(values, values.size // 2)[: values.size // 2]] = -1.0
    return signs


def improve_balanced(
    W: Any, signs: Array, imbalance: int, *, limit: TimeLimit = UNLIMITED
) -> Array:
    """Move vertices between the sides while this decreases the cut and |sum s| <= imbalance.

    W is a CSR array with an empty diagonal. In a pass (Fiduccia and Mattheyses 1982) each vertex
    moves at most once, the best one first, even if the cut grows; the lightest balanced cut on the
    way is the start of the next pass. A pass ends after some moves without a lighter cut.
    """
    least = GAIN_ROUNDING * float(np.abs(W.data).max(initial=0.0))
    while not limit.is_over():
        moves, gain = _best_moves(W, signs, imbalance, limit)
        if not gain > least:
            break
        signs = signs.copy()
        signs[moves] *= -1.0
    return signs


def _best_moves(W: Any, signs: Array, imbalance: int, limit: TimeLimit) -> tuple[list[int], float]:
    """The moves of a pass up to the lightest balanced cut, and how much lighter it is."""
    s, total, reach = signs.copy(), int(signs.sum()), max(imbalance, 2)
    gains = -s * (W @ s)  # of the move of each vertex
    # A vertex that has moved is in neither list: its gain is -inf.
    sides = {side: np.where(s == side, gains, -np.inf) for side in (1, -1)}
    moves: list[int] = []
    gain, best, length = 0.0, 0.0, 0
    while len(moves) - length < MAX_IDLE_MOVES and not limit.is_over():
        allowed = [side for side in (1, -1) if abs(total - 2 * side) <= reach]
        ahead = [(int(np.argmax(sides[side])), side) for side in allowed]
        i, side = max(ahead, key=lambda move: float(sides[move[1]][move[0]]))
        if sides[side][i] == -np.inf:
            break
        gain += float(sides[side][i])
        sides[side][i] = -np.inf
        near = slice(W.indptr[i], W.indptr[i + 1])
        change = 2 * side * W.data[near] * s[W.indices[near]]
        for values in sides.values():
            values[W.indices[near]] += change
        s[i], total = -side, total - 2 * side
        moves.append(i)
        if abs(total) <= imbalance and gain > best:
            best, length = gain, len(moves)
    return moves[:length], best
