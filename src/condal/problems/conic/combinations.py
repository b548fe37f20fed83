"""Bounds on traces that the rows of a program prove when they are added up.

For a y that K allows, <A'y, x> <= sup_K <y, .> for every feasible x. If A_j'y >= l_j I on the cone
of part j, then sum_j l_j tr x_j is no more than that either.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from condal.certificates.rounding import adjoint_rounding, dual_rounding
from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.gradients import add
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.rounding import norm_above
from condal.linalg.roundoff import gamma
from condal.linalg.symmetric import Symmetric
from condal.problems.conic.folded import Part
from condal.problems.conic.structure import Shape

ROUNDS = 20  # of passing bounds on from part to part


@dataclass(frozen=True, eq=False)
class Combination:
    """sum_j least_j tr x_j <= most, proved for every feasible x; with the objective as a row, for
    every one whose (minimised) objective is at most U: `most` is then less U."""

    y: Array
    least: Array
    most: float
    of_objective: bool = False

    @property
    def impossible(self) -> bool:
        """Whether no x is feasible: traces are not negative."""
        return not self.of_objective and bool(np.all(self.least >= 0)) and self.most < 0


def combine(shape: Shape, y: Array, *, of_objective: bool = False) -> Combination:
    """What y proves: sup_K <y, .>, and a bound on the smallest eigenvalue of each part of A'y, or
    of c + A'y; rounding is accounted for."""
    y = shape.K.dual_point(y)
    support = shape.K.support(y)
    most = support + gamma(y.size + 8) * (abs(support) + shape.K.support_abs_sum(y))
    least = []
    for part, A, c in zip(shape.folded.parts, shape.maps, shape.costs, strict=True):
        v = A.adjoint(y)
        error = adjoint_rounding(A, y) + dual_rounding(A, shape.K.dual_error(y))
        if of_objective:
            v = add(v, c)
            error += gamma(4) * norm_above(part.c.data)  # c may be kept as u u', u rounded
        least.append(_least(part, v) - error)
    return Combination(y, np.array(least), float(most), of_objective)


def _least(part: Part, v: Any) -> float:
    """l with <v, x> >= l tr x on the cone of the part; -inf where that takes chance to prove."""
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
    """The bounds on the traces that follow, passed on from part to part; inf for none.

    A combination with the objective counts for points of an objective of at most `level`.
    """
    found = np.full(parts, inf)
    for _ in range(ROUNDS):
        before = found.copy()
        for one in combinations:
            room = level if one.of_objective else 0.0
            most, size = one.most + room, abs(one.most) + abs(room)
            negative = np.maximum(-one.least, 0.0)
            with np.errstate(invalid="ignore"):
                owed = np.where(negative > 0, negative * found, 0.0)
            for j in np.flatnonzero(one.least > 0):
                others = float(np.delete(owed, j).sum())
                left = most + others + gamma(2 * parts + 8) * (size + others)
                if np.isfinite(left):
                    with np.errstate(over="ignore"):  # a bound beyond all numbers is none
                        bound = max(left, 0.0) / one.least[j] * (1 + 1e-15)
                    found[j] = min(found[j], float(bound))
        if np.array_equal(before, found):
            break
    return found
