"""The quadratic assignment problem and a semidefinite relaxation of it.

The relaxation is that of Zhao, Karisch, Rendl and Wolkowicz (1998) with x >= 0, over the face that
holds all assignments: what Oliveira, Wolkowicz and Xu (2018) solve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.sparse import require_sound
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Stack
from condal.maps.entries import Entries
from condal.maps.triangle import Triangle
from condal.problem import Problem
from condal.problems.answers import excess, generator, point_of
from condal.problems.assignments import Assignments
from condal.problems.factors import leading
from condal.problems.graphs import weights_of
from condal.problems.inputs import real_array, require_choice
from condal.problems.permutations import checked_permutation, exchange
from condal.result import Result
from condal.sets.boxes import Box, Equal
from condal.sets.orthants import NonNegative
from condal.sets.separable import Separable
from condal.smooth.linear import Linear

NonNegativity: TypeAlias = Literal["all", "costs"]


@dataclass(frozen=True, eq=False)
class Assignment:
    """A permutation p, of 0, ..., n - 1, and its cost sum_ij A_ij B_{p_i p_j}.

    No permutation costs less than `bound`, which is proved.
    """

    cost: float
    bound: float
    permutation: Any

    def __repr__(self) -> str:
        shown = " ".join(map(str, self.permutation[:16])) + " ..." * (len(self.permutation) > 16)
        return f"Assignment(cost={self.cost:.10g}, none is below {self.bound:.10g}, {shown})"


@dataclass(frozen=True, eq=False)
class QuadraticAssignment:
    """minimise <A (x) B, x> over means x of z z', z the n^2 entries (i, p) of a permutation matrix.

    Relaxed to x psd in the span of these, tr x = n, x_ip,jq = 0 where i = j or p = q but not both,
    and x >= 0: its value is a lower bound on the cost of every permutation.
    """

    A: Array = field(repr=False)
    B: Array = field(repr=False)
    nonnegative: NonNegativity = "all"
    name: str = "quadratic assignment"

    @property
    def n(self) -> int:
        """How many there are to assign."""
        return len(self.A)

    @cached_property
    def cost_matrix(self) -> Any:
        """C, symmetric, n^2 x n^2: A (x) B where an assignment can have both pairs."""
        off = [sp.csr_array(M - np.diag(np.diagonal(M))) for M in (self.A, self.B)]
        own = np.multiply.outer(np.diagonal(self.A), np.diagonal(self.B)).ravel()
        C = sp.csr_array(sp.kron(*off, format="csr"))
        return sp.csr_array(0.5 * (C + C.T) + sp.dia_array((own[None], [0]), C.shape))

    @cached_property
    def problem(self) -> Problem:
        """The relaxation: its images are the triangle of x, or the entries that matter."""
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
        A = Triangle(self.n**2)
        i, p = np.divmod(np.arange(self.n**2), self.n)
        one = (i[:, None] == i) != (p[:, None] == p)
        return A, Box(np.zeros(A.size), np.where(A(one.astype(np.float64)) > 0, 0.0, np.inf))

    def _few(self) -> tuple[Any, Any]:
        """The entries that must be 0, and x >= 0 where it costs something alone."""
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
        """The assignment that x rounds to, where it costs less than x; else x itself."""
        p = self._rounded(x, np.random.default_rng(0), trials=1)
        return self.point(p) if self.cost(p) <= self.problem.objective(x) else x

    def point(self, permutation: Any) -> LowRank:
        """z z' of a permutation: a point of the relaxation, of the same cost."""
        p = checked_permutation(permutation, self.n)
        z = np.zeros((self.n**2, 1))
        z[np.arange(self.n) * self.n + p] = 1.0
        return LowRank(z, np.ones(1))

    def cost(self, permutation: Any) -> float:
        """sum_ij A_ij B_{p_i p_j}."""
        p = checked_permutation(permutation, self.n)
        return float((self.A * self.B[np.ix_(p, p)]).sum())

    def excess(self, permutation: Any, result: Result) -> float:
        """cost / bound - 1: the permutation is proved to cost at most this much too much.

        inf where the bound is not positive, and so proves nothing of a ratio.
        """
        point_of(result, self.n**2)
        return excess(self.cost(permutation), float(result.bound), "permutation")

    def round(self, result: Result, *, trials: int = 50, seed: int = 0) -> Assignment:
        """The cheapest of `trials` permutations near x, each improved by exchanges of two.

        The first is the nearest to diag x, which is a mean of permutation matrices; the others are
        nearest to random combinations of what x is made of, with more and more noise.
        """
        rng = generator(trials, seed)
        p = self._rounded(point_of(result, self.n**2), rng, trials=trials)
        return Assignment(self.cost(p), float(result.bound), p)

    def _rounded(self, x: Point, rng: np.random.Generator, *, trials: int) -> Any:
        n = self.n
        mean = Entries(n * n, np.arange(n * n), np.arange(n * n))(x).reshape(n, n)
        R = leading(x, n)
        found: list[Any] = []
        for trial in range(trials):
            near = mean
            if trial > 0:
                noise = (trial / trials) * rng.standard_normal((n, n))
                near = (R @ rng.standard_normal(R.shape[1])).reshape(n, n) + noise
            found.append(exchange(self.A, self.B, linear_sum_assignment(-near)[1]))
        return min(found, key=self.cost)


def quadratic_assignment(
    A: Any, B: Any, *, nonnegative: NonNegativity = "all", name: str = "quadratic assignment"
) -> QuadraticAssignment:
    """The model of: find the permutation p with the least sum_ij A_ij B_{p_i p_j}.

    Parameters
    ----------
    A, B : n x n arrays, such as flows between facilities and distances between places; or NetworkX
        graphs, whose weights are taken, with 0 where there is no edge.
    nonnegative : for which entries x >= 0 is asked: "all" n^2 (n^2 + 1) / 2 of them, or those that
        have "costs", fewer where A or B is sparse: for n of 40 and more, and a weaker bound.
    """
    first, second = _square(A, "A"), _square(B, "B")
    if first.shape != second.shape:
        raise ProblemError(
            f"A and B must be of one size; got {first.shape} and {second.shape}: fill the smaller "
            "with zeros if some are to stay without a partner"
        )
    require_choice(nonnegative, "nonnegative", get_args(NonNegativity))
    return QuadraticAssignment(first, second, nonnegative, name)


def _square(given: Any, name: str) -> Array:
    weights = weights_of(given, name)
    if sp.issparse(weights):
        require_sound(weights, name)
        weights = weights.toarray()
    M = real_array(weights, name, ndim=2).copy()
    if M.shape[0] != M.shape[1] or M.size == 0:
        raise ProblemError(f"{name} must be square, at least 1 x 1; got shape {M.shape}")
    return M
