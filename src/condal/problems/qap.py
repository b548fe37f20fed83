"""The quadratic assignment problem and its semidefinite relaxation.

The relaxation is that of Zhao, Karisch, Rendl and Wolkowicz (1998) with x >= 0, over the face that
contains all assignments, as in Oliveira, Wolkowicz and Xu (2018).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Stack
from condal.maps.entries import Entries
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.answers import CostAnswer, Picture, Rows, preview, whole
from condal.problems.assignments import Assignments
from condal.problems.graphs import square_weights
from condal.problems.models import CostModel, Trials, leading_factor
from condal.result import Result
from condal.runtime.arguments import describe, plain_array, require_choice
from condal.runtime.limits import TRIANGLE_MATRICES, UNLIMITED, TimeLimit, require_matrices
from condal.runtime.text import number
from condal.sets.boxes import Box, Equal, NonNegative
from condal.sets.separable import Separable
from condal.smooth.objectives import Linear

NonNegativity: TypeAlias = Literal["all", "costs"]


@dataclass(frozen=True, eq=False, repr=False)
class Assignment(CostAnswer):
    r"""An assignment, with its cost and a proved bound.

    Attributes
    ----------
    cost : float
        :math:`\sum_{ij} A_{ij} B_{p_i p_j}`.
    bound : float
        A proved lower bound on the cost of every permutation.
    permutation : ndarray of int
        The permutation p of 0, ..., n - 1.
    """

    cost: float
    bound: float
    permutation: Any
    model: Any = None

    first_integer = 1
    noun = "assignment"

    def picture(self) -> Picture:
        from condal.report import pictures

        p, shown = self.permutation, pictures.sample(self.model.n)
        return pictures.images(
            [
                ("A, by facility", self.model.A[np.ix_(shown, shown)]),
                ("B, by its place", self.model.B[np.ix_(p[shown], p[shown])]),
            ],
            "The two matrices of the cost, by facility. A good assignment pairs large entries of "
            "one with small entries of the other.",
        )

    def rows(self) -> Rows:
        first = " ".join(f"{place + 1}" for place in self.permutation[:12])
        listed = first + " ..." * (len(self.permutation) > 12)
        return [("assignment", listed), ("cost", number(self.cost))]

    @property
    def whole(self) -> bool:
        return whole(self.model.A) and whole(self.model.B)

    @property
    def sizes_text(self) -> str:
        return f"permutation={preview(self.permutation, 16)}"


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticAssignment(CostModel[Assignment]):
    r"""The semidefinite relaxation of the quadratic assignment problem [1]_, [2]_.

    .. math::

        \min_x \; \langle A \otimes B, x \rangle
        \quad \text{subject to} \quad x \succeq 0, \; x \ge 0, \; \operatorname{tr} x = n,
        \; x_{ip,jq} = 0 \text{ if exactly one of } i = j, \; p = q,

    over the span of the points :math:`z z^T`, z the :math:`n^2` entries (i, p) of a permutation
    matrix. The optimum is a lower bound on the cost of every permutation.

    The first of the 50 trials of `round` takes the permutation nearest to diag x, which is a mean
    of permutation matrices. The others take permutations nearest to random combinations of the
    factor of x, with growing noise. Exchanges of two values improve each. `quadratic_assignment`
    builds the model.

    Parameters
    ----------
    A, B : ndarray
        Flows and distances, n x n.
    nonnegative : {"all", "costs"}, optional
        The entries with x >= 0.

    References
    ----------
    .. [1] Q. Zhao, S. E. Karisch, F. Rendl and H. Wolkowicz, "Semidefinite programming relaxations
       for the quadratic assignment problem", *Journal of Combinatorial Optimization* 2, 1998.
    .. [2] D. E. Oliveira, H. Wolkowicz and Y. Xu, "ADMM for the SDP relaxation of the QAP",
       *Mathematical Programming Computation* 10, 2018.
    """

    A: Array = field(repr=False)
    B: Array = field(repr=False)
    nonnegative: NonNegativity = "all"
    name: str = "quadratic assignment"

    most_trials = 50
    rounded_to = "permutation"

    @property
    def n(self) -> int:
        """The number of items to assign."""
        return len(self.A)

    @property
    def side(self) -> int:
        return self.n**2

    @cached_property
    def cost_matrix(self) -> Any:
        """The symmetric n^2 x n^2 cost: A (x) B for pairs an assignment can have."""
        off = [sp.csr_array(M - np.diag(np.diagonal(M))) for M in (self.A, self.B)]
        own = np.multiply.outer(np.diagonal(self.A), np.diagonal(self.B)).ravel()
        C = sp.csr_array(sp.kron(*off, format="csr"))
        return sp.csr_array(0.5 * (C + C.T) + sp.dia_array((own[None], [0]), C.shape))

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its images are the triangle of x, or the entries that matter."""
        A, K = self._bounded() if self.nonnegative == "all" else self._few()
        return Problem.of(
            f=Linear(Symmetric(self.n**2, sparse=(self.cost_matrix,))),
            X=Assignments(self.n),
            A=A,
            K=K,
            repair=self.repair,
            name=self.name,
        )

    def _bounded(self) -> tuple[Any, Any]:
        what, advice = f"quadratic assignment of {self.n} items", "use nonnegative='costs'"
        require_matrices(TRIANGLE_MATRICES, self.n**2, what, advice=advice)
        A = Triangle(self.n**2)
        i, p = np.divmod(np.arange(self.n**2), self.n)
        one_shared = (i[:, None] == i) != (p[:, None] == p)
        return A, Box(np.zeros(A.size), np.where(A(one_shared.astype(np.float64)) > 0, 0.0, np.inf))

    def _few(self) -> tuple[Any, Any]:
        """The entries that must be 0, and x >= 0 only where there is a cost."""
        n = self.n
        first, second = np.triu_indices(n, 1)
        each = np.arange(n)[:, None]
        rows = np.concatenate([(each * n + first).ravel(), (first * n + each).ravel()])
        cols = np.concatenate([(each * n + second).ravel(), (second * n + each).ravel()])
        zero = Entries(n**2, rows, cols)
        upper = sp.coo_array(sp.triu(self.cost_matrix, 1))
        priced = Entries(n**2, upper.row, upper.col)
        return Stack(zero, priced), Separable(Equal(np.zeros(zero.size)), NonNegative(priced.size))

    def repair(self, x: Point) -> Point:
        """Return the assignment that x rounds to if it costs less than x; else x."""
        p = self._rounded(x, Trials(1, np.random.default_rng(0)))
        return self.point(p) if self.cost(p) <= self.problem.objective(x) else x

    def point(self, permutation: Any) -> LowRank:
        """Return z z' of a permutation: a point of the relaxation, of equal cost."""
        p = checked_permutation(permutation, self.n)
        z = np.zeros((self.n**2, 1))
        z[np.arange(self.n) * self.n + p] = 1.0
        return LowRank(z, np.ones(1))

    def cost(self, answer: Any) -> float:
        """Return sum_ij A_ij B_{p_i p_j} for a permutation p."""
        p = checked_permutation(answer, self.n)
        return float((self.A * self.B[np.ix_(p, p)]).sum())

    def answer_of(self, found: Any, result: Result) -> Assignment:
        return Assignment(self.cost(found), float(result.bound), found, self)

    def _rounded(self, x: Point, trials: Trials) -> Any:
        from scipy.optimize import linear_sum_assignment

        n = self.n
        mean = Entries(n * n, np.arange(n * n), np.arange(n * n))(x).reshape(n, n)
        R = leading_factor(x, n)
        permutations: list[Any] = []
        for trial in trials:
            near = mean
            if trial > 0:
                noise = (trial / trials.count) * trials.rng.standard_normal((n, n))
                near = (R @ trials.rng.standard_normal(R.shape[1])).reshape(n, n) + noise
            nearest = linear_sum_assignment(-near)[1]
            permutations.append(improve_by_exchanges(self.A, self.B, nearest, trials.limit))
        return min(permutations, key=self.cost)


def quadratic_assignment(
    A: Any, B: Any, *, nonnegative: NonNegativity = "all", name: str = "quadratic assignment"
) -> QuadraticAssignment:
    r"""Return the model of the permutation p with the least :math:`\sum_{ij} A_{ij} B_{p_i p_j}`.

    Parameters
    ----------
    A, B : array_like or NetworkX graph, n x n
        For example flows between facilities and distances between locations. The weights of a
        NetworkX graph are used, with 0 where it has no edge.
    nonnegative : {"all", "costs"}, optional
        The entries with x >= 0: "all" :math:`n^2 (n^2 + 1)/2` of them, or those with "costs", which
        are fewer if A or B is sparse: for n of 40 and more, with a weaker bound.

    Raises
    ------
    ProblemError
        If A and B differ in size, or a matrix is not square, real and finite.

    Examples
    --------
    >>> import condal
    >>> flows = [[0, 5, 1], [5, 0, 2], [1, 2, 0]]
    >>> distances = [[0, 4, 1], [4, 0, 3], [1, 3, 0]]
    >>> model = condal.problems.quadratic_assignment(flows, distances)
    >>> assignment = model.round(condal.solve(model))
    >>> assignment.cost, assignment.permutation.tolist()
    (30.0, [0, 2, 1])
    """
    first, second = _weights(A, "A"), _weights(B, "B")
    if first.shape != second.shape:
        raise ProblemError(
            f"A and B must have the same size; got {first.shape} and {second.shape}: pad "
            "the smaller with zeros if some items may stay unassigned"
        )
    require_choice(nonnegative, "nonnegative", get_args(NonNegativity))
    return QuadraticAssignment(first, second, nonnegative, name)


def _weights(given: Any, name: str) -> Array:
    W = square_weights(given, name)
    return W.toarray() if sp.issparse(W) else W


def checked_permutation(permutation: Any, n: int) -> Any:
    """Return p as an array; raise ProblemError unless it is a permutation of n."""
    wanted = f"permutation must hold each of 0, ..., {n - 1} once, as whole numbers"
    p = plain_array(permutation, "permutation", f"{n} whole numbers")
    if p.shape != (n,) or p.dtype.kind not in "iu":
        wrong = np.full(p.shape, p.dtype.kind not in "iu")
        raise ProblemError(f"{wanted}; got {describe(permutation, wrong)}")
    first = np.unique(p, return_index=True)[1]
    wrong = (p < 0) | (p >= n) | ~np.isin(np.arange(n), first)
    if wrong.any():
        raise ProblemError(f"{wanted}; got {describe(permutation, wrong)}")
    return p


def improve_by_exchanges(A: Array, B: Array, p: Any, limit: TimeLimit = UNLIMITED) -> Any:
    """Return p after greedy exchanges of two values, the largest saving first, in time."""
    p = np.array(p)
    rounding = 1e-12 * float(np.abs(A).sum() * np.abs(B).max(initial=0.0))
    while not limit.is_over():
        change = exchange_costs(A, B[np.ix_(p, p)])
        r, s = np.unravel_index(int(np.argmin(change)), change.shape)
        if change[r, s] >= -rounding:
            return p
        p[r], p[s] = p[s], p[r]
    return p


def exchange_costs(A: Array, D: Array) -> Array:
    """Return the change of sum_ij A_ij D_ij when rows r and s of D, and its columns, are swapped.

    All pairs r, s are computed at once.
    """
    P, Q = A.T @ D, A @ D.T
    own = np.diagonal(P) + np.diagonal(Q)
    a, d, both = np.diagonal(A), np.diagonal(D), D + D.T
    total = P + P.T + Q + Q.T - own[:, None] - own
    # The sums above run over all k; correct the terms k = r and k = s.
    mixed = A * (d[:, None] + d - 2 * D)
    total -= a[:, None] * (both - 2 * d[:, None]) + a * (both - 2 * d) + mixed + mixed.T
    return np.asarray(total + (a[:, None] - a) * (d - d[:, None]) + (A - A.T) * (D.T - D))
