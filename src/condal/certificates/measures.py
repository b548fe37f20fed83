"""Measures of a certified point: whether objective and bound bracket the optimum, and the DIMACS
errors."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.points import Array
from condal.linalg.rounding import Proof, stable_norm
from condal.problem import Problem
from condal.sets.boxes import Equal

if TYPE_CHECKING:
    from condal.certificates.certificate import Certificate, EvaluatedPoint

EXACT_INFEASIBILITY = 1e-12  # an infeasibility that is rounding
ROW_ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of |a_i| max |x|: rounding of (Ax)_i
EXACT_PRICE = 1e-12  # of the unit of a gap: a price that is rounding
EXACT_DISTANCE = 1e-10  # of max |x| over X: a distance from X that is rounding


def is_bracket(
    problem: Problem, seen: EvaluatedPoint, certificate: Certificate, *, times: float = 1.0
) -> bool:
    """Return `Certificate.bracket` of a point, with `times` the rounding that is allowed.

    The infeasibility is one number for all rows: where units differ, it hides what one row
    violates, and over a large X a violation that is rounding may have a price.
    """
    objective, bound = certificate.objective, certificate.bound
    room = times * (EXACT_PRICE * problem.gap_unit(objective))
    return bool(
        certificate.certified
        and certificate.inside
        and certificate.infeasibility <= times * EXACT_INFEASIBILITY
        and certificate.price * max(1.0, abs(objective)) <= room
        and problem.sense * (bound - objective) <= room
        and _rows_hold(problem, seen.Ax, times * ROW_ROUNDING)
    )


def _rows_hold(problem: Problem, Ax: Array, rounding: float) -> bool:
    """Return whether no row of Ax is further from K than its rounding."""
    if not Ax.size:
        return True
    room = rounding * problem.X.max_norm * problem.A.row_norms()
    for part, h in problem.h.pieces:
        if h.lipschitz == inf:
            nearest = h.prox(Ax[part], 1.0)
            allowed = np.maximum(room[part], rounding * np.abs(nearest))
            if not np.all(np.abs(Ax[part] - nearest) <= allowed):
                return False
    return True


def dimacs_errors(
    problem: Problem, seen: EvaluatedPoint, y: Array, lower: float, proof: Proof
) -> dict[str, float]:
    """Return the six DIMACS error measures, for a linear objective over K = {b}.

    The dual slack Z = V - l I, with l proved below lambda_min(V), is psd, so e3 and e4 vanish. e2
    is the distance to X, of which a negative eigenvalue is a part.
    """
    if not isinstance(problem.h, Equal) or problem.f.L != 0.0 or not np.isfinite(lower):
        return {}
    b, value = problem.h.b, problem.f.value(seen.Mx)
    largest = 1.0 + float(np.abs(b).max(initial=0.0))
    total = 1.0 + abs(value) + abs(lower)
    residual = seen.Ax - b
    errors: dict[str, Any] = {
        "e1": stable_norm(residual) / largest,
        "e2": seen.distance_to_X / largest,
        "e3": 0.0,
        "e4": 0.0,
        "e5": (value - lower) / total,
        "e6": (value + y @ seen.Ax - proof.value) / total,
    }
    return {name: float(error) for name, error in errors.items()}
