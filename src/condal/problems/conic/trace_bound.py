"""Bounds on the traces of the parts of a program's solutions, and the sums of rows that prove them.

For a y that K allows, <A'y, x> <= sup_K <y, .> for every feasible x. If A_j'y >= l_j I on the cone
of each part j, then sum_j l_j tr x_j has the same upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from condal.problems.conic.proposed import Settled

MAX_PASSES = 20  # over all combinations, each passing bounds from part to part


class UnboundedTraceError(ProblemError):
    """No bound on the trace of a program's solutions was found."""


@dataclass(frozen=True, eq=False)
class TraceBound:
    """A bound on the traces of the parts of every feasible x.

    If it is not proved, methods work within it, and only proofs for any trace count.

    Attributes
    ----------
    traces : ndarray
        The bound for each part.
    how : str
        How the bound was found.
    exact : bool
        Whether the only part has exactly this trace.
    proved : bool
        Whether the bound is proved, or given.
    given : float or None
        The bound on the trace of each block that the user claims; None if there is none.
    combinations : tuple of Combination
        The combinations of rows that prove the bound, unless it was given.
    proposal : Proposal or None
        The solution around which the traces lie, if an interior-point method proposed it.
    towards : Settled or None
        What is proved near that solution.
    """

    traces: Array
    how: str
    exact: bool = False
    proved: bool = True
    given: float | None = None
    combinations: tuple[Combination, ...] = field(default=(), repr=False)
    proposal: Proposal | None = field(default=None, repr=False)
    towards: Settled | None = field(default=None, repr=False)

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
    """

    status: Status
    how: str
    y: Array | None = field(default=None, repr=False)
    ray: Array | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Combination:
    """sum_j least_j tr x_j <= most, proved for every feasible x."""

    y: Array
    least: Array
    most: float

    @property
    def distance(self) -> float:
        """How far the rows are from what any x attains; not above 0 if no x is excluded.

        Traces are not negative.
        """
        return -self.most if np.all(self.least >= 0) else -inf

    @property
    def impossible(self) -> bool:
        """Whether no x is feasible."""
        return self.distance > 0


def combine(shape: Shape, y: Array, *, of_objective: bool = False) -> Combination:
    """Return what y proves, with rounding accounted for.

    It is sup_K <y, .> and a bound on the smallest eigenvalue of each part of A'y. With
    `of_objective` it is one of c + A'y, and the objective is at least -most if none is negative.
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
    return Combination(y, np.array(least), float(most))


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


def traces(combinations: list[Combination], parts: int) -> Array:
    """Return the bounds on the traces that follow, passed on from part to part; inf for none."""
    bounds = np.full(parts, inf)
    for _ in range(MAX_PASSES):
        before = bounds.copy()
        for proof in combinations:
            least = np.where(np.isnan(proof.least), -inf, proof.least)  # nan: nothing is known
            negative = np.maximum(-least, 0.0)
            with np.errstate(invalid="ignore"):
                negative_terms = np.where(negative > 0, negative * bounds, 0.0)
            for j in np.flatnonzero(least > 0):
                others = float(np.delete(negative_terms, j).sum())
                limit = proof.most + others
                limit += gamma(2 * parts + 8) * (abs(proof.most) + others)
                if np.isfinite(limit):
                    with np.errstate(over="ignore"):  # an overflow to inf is no bound
                        bound = max(limit, 0.0) / least[j] * (1 + 1e-15)
                    bounds[j] = min(bounds[j], float(bound))
        if np.array_equal(before, bounds):
            break
    return bounds
