"""What a search for a bound on the trace ends with: a bound and its proof, a verdict, or an error.

For a y that K allows, <A'y, x> <= sup_K <y, .> for every feasible x. If A_j'y >= l_j I on the cone
of each part j, then sum_j l_j tr x_j has the same upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from condal.certificates.bound import adjoint_rounding, dual_rounding
from condal.errors import ProblemError
from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.gradients import add
from condal.linalg.points import Array
from condal.linalg.rounding import gamma, norm_above, stable_norm
from condal.linalg.symmetric import Symmetric
from condal.methods.interior.engine import Proposal
from condal.problems.conic.folded import Part
from condal.problems.conic.structure import Shape
from condal.result import Status

MAX_PASSES = 20  # over all combinations, each passing bounds from part to part


class UnboundedTraceError(ProblemError):
    """No bound on the trace of a program's solutions was found."""


@dataclass(frozen=True, eq=False)
class TraceBound:
    """A bound on the traces of the parts of every feasible x.

    With a finite `level`, it holds for points whose (minimised) objective is at most the level. At
    a level of -inf it is proved for no point: methods work within it, and only proofs for any trace
    count.

    Attributes
    ----------
    traces : ndarray
        The bound for each part.
    how : str
        How the bound was found.
    exact : bool
        Whether the only part has exactly this trace.
    level : float
        The objective level; inf if the bound holds for all feasible points.
    reached : bool
        Whether a trial found a point below the level, or there is no level.
    given : float or None
        The bound on the trace of each block that the user claims; None if the bound is proved.
    combinations : tuple of Combination
        The combinations of rows that prove the bound, unless it was given.
    proposal : Proposal or None
        The pair from which the bound comes, if an interior-point method proposed it.
    """

    traces: Array
    how: str
    exact: bool = False
    level: float = inf
    reached: bool = True
    given: float | None = None
    combinations: tuple[Combination, ...] = field(default=(), repr=False)
    proposal: Proposal | None = field(default=None, repr=False)

    @property
    def proved(self) -> bool:
        """Whether the bound is proved, or given, for some points."""
        return self.level > -inf

    @property
    def largest(self) -> float:
        """The largest trace of a block, as it was given, or of a part."""
        return float(self.traces.max()) if self.given is None else self.given


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is proved about a program before it is solved: it is infeasible or unbounded.

    Attributes
    ----------
    status : Status
        INFEASIBLE or UNBOUNDED.
    how : str
        How this was proved.
    y : ndarray or None
        The weights of the rows that prove infeasibility.
    ray : ndarray or None
        The direction of x that proves unboundedness.
    points : tuple of ndarray
        Values of x near which a feasible point may be proved.
    """

    status: Status
    how: str
    y: Array | None = field(default=None, repr=False)
    ray: Array | None = field(default=None, repr=False)
    points: tuple[Array, ...] = field(default=(), repr=False)


@dataclass(frozen=True, eq=False)
class Combination:
    """sum_j least_j tr x_j <= most, proved for every feasible x.

    With `of_objective`, the objective is one of the rows: sum_j least_j tr x_j <= most + U for
    every feasible x whose (minimised) objective is at most U.
    """

    y: Array
    least: Array
    most: float
    of_objective: bool = False

    @property
    def impossible(self) -> bool:
        """Whether no x is feasible, because traces are not negative."""
        return not self.of_objective and bool(np.all(self.least >= 0)) and self.most < 0


def combine(shape: Shape, y: Array, *, of_objective: bool = False) -> Combination:
    """Return what y proves, with rounding accounted for.

    It is sup_K <y, .> and a bound on the smallest eigenvalue of each part of A'y, or of c + A'y.
    """
    y = shape.K.dual_point(y)
    support = shape.K.support(y)
    most = support + gamma(y.size + 8) * (abs(support) + shape.K.support_abs_sum(y))
    least = []
    for part, A, c in zip(shape.folded.parts, shape.maps, shape.costs, strict=True):
        v = A.adjoint(y)
        error = adjoint_rounding(A, y) + dual_rounding(A, shape.K.dual_error(y))
        if of_objective:
            v = add(v, c)
            error += gamma(4) * norm_above(part.c.data)  # c may be stored as u u' with rounded u
        least.append(_least(part, v) - error)
    return Combination(y, np.array(least), float(most), of_objective)


def _least(part: Part, v: Any) -> float:
    """Return l with <v, x> >= l tr x on the cone of the part; -inf if a proof needs randomness."""
    if isinstance(v, Symmetric):
        if v.factorable and not v.sparse:
            diagonal = v.diag()
            return float((diagonal - gamma(2) * np.abs(diagonal)).min())
        sums = v.absolute_row_sums()
        size = inf if sums is None else float(sums.max())
        proof = smallest_eigenvalue_bound(v, slack=1e-9 * size, failure=1e-9, seed=0)
        return -inf if proof.failure > 0 else proof.value
    v = np.asarray(v)
    if part.kind == "orthant":
        return float((v - gamma(2) * np.abs(v)).min())
    width = stable_norm(v[1:]) * (1 + gamma(part.n + 6))
    return float(v[0] - width) - gamma(2) * (abs(float(v[0])) + width)


def traces(combinations: list[Combination], parts: int, level: float = inf) -> Array:
    """Return the bounds on the traces that follow, passed on from part to part; inf for none.

    A combination with the objective applies to points of an objective of at most `level`.
    """
    bounds = np.full(parts, inf)
    for _ in range(MAX_PASSES):
        before = bounds.copy()
        for proof in combinations:
            allowance = level if proof.of_objective else 0.0
            total, size = proof.most + allowance, abs(proof.most) + abs(allowance)
            least = np.where(np.isnan(proof.least), -inf, proof.least)  # nan: nothing is known
            negative = np.maximum(-least, 0.0)
            with np.errstate(invalid="ignore"):
                negative_terms = np.where(negative > 0, negative * bounds, 0.0)
            for j in np.flatnonzero(least > 0):
                others = float(np.delete(negative_terms, j).sum())
                limit = total + others + gamma(2 * parts + 8) * (size + others)
                if np.isfinite(limit):
                    with np.errstate(over="ignore"):  # an overflow to inf is no bound
                        bound = max(limit, 0.0) / least[j] * (1 + 1e-15)
                    bounds[j] = min(bounds[j], float(bound))
        if np.array_equal(before, bounds):
            break
    return bounds
