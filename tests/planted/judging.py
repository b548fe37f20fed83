"""The exact judgement of an answer to a planted problem."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isnan, nan, sqrt

import numpy as np

from planted.problem import Planted

PROVED = ("optimal", "infeasible", "unbounded")
ROUNDING = 1e-9  # of the residual and the objective, which answers give in doubles
RESIDUAL_ROUNDING = 1e-14  # of the terms of a residual


@dataclass(frozen=True)
class Answer:
    """What was answered, in terms of the minimisation.

    `status` is one of PROVED, or anything else for an answer that claims no more than its bound.
    `residual` is the distance of the point from the rows, and `price` what it is worth at the dual
    that proves the bound, both absolute; nan if unknown. `constant` is a part of the planted
    objective that objective and bound leave out, and `terms` the sum of the absolute values of the
    terms of the objective, which its summation rounds.
    """

    status: str
    objective: float = nan
    bound: float = -inf
    residual: float = nan
    price: float = nan
    constant: float = 0.0
    terms: float = 0.0


def faults(planted: Planted, answer: Answer, rows: np.ndarray | None = None) -> list[str]:
    """Return what is false about the answer; `rows` are those that the residual refers to."""
    found = []
    if answer.status in PROVED and answer.status != planted.status:
        if planted.status != "infeasible" or answer.status != "optimal":
            found.append(f"{answer.status}, but it is {planted.status}")
        else:
            found += _of_infeasible(planted, answer, rows)
    if planted.status == "unbounded" and answer.bound > -inf:
        found.append(f"a bound of {answer.bound!r}, but it is unbounded")
    if planted.status == "optimal":
        found += _of_optimum(planted, answer, rows)
    return found


def _of_optimum(planted: Planted, answer: Answer, rows: np.ndarray | None) -> list[str]:
    found, value = [], planted.value - Fraction(answer.constant)
    if isnan(answer.bound) or (isfinite(answer.bound) and Fraction(answer.bound) > value):
        found.append(f"the bound {answer.bound!r} is above the optimum {float(value)!r}")
    if answer.bound == inf:
        found.append("an infinite bound, but there is an optimum")
    if answer.status != "optimal":
        return found
    below = float(value - Fraction(answer.objective))
    size = ROUNDING * _size(planted) + _rounding(planted) + RESIDUAL_ROUNDING * answer.terms
    owed = norm(planted, rows) * answer.residual * (1 + ROUNDING) + size
    if below > owed:
        found.append(f"{below!r} below the optimum; the residual is worth only {owed!r}")
    past = answer.bound - answer.objective
    if past > answer.price * (1 + ROUNDING) + size:  # <c, v> >= bound - price, by weak duality
        found.append(f"the bound is {past!r} past the objective, for a price of {answer.price!r}")
    return found


def is_far(planted: Planted, answer: Answer) -> bool:
    """Whether a point that is optimal by its gap and price is farther below the optimum than these.

    That is false of no claim: x is optimal for rows near the given ones, and the dual proves its
    bound. It happens where the rows are nearly dependent.
    """
    if planted.status != "optimal" or answer.status != "optimal" or isnan(answer.price):
        return False
    below = float(planted.value - Fraction(answer.constant) - Fraction(answer.objective))
    error = abs(answer.bound - answer.objective) + answer.price
    rounding = _rounding(planted) + RESIDUAL_ROUNDING * answer.terms
    return below > error * (1 + ROUNDING) + ROUNDING * _size(planted) + rounding


def _of_infeasible(planted: Planted, answer: Answer, rows: np.ndarray | None) -> list[str]:
    """A point of the cones has a residual of at least margin / |y|."""
    least = float(planted.margin) / (norm(planted, rows) or 1.0)
    if answer.residual + _residual_rounding(planted) >= least * (1 - ROUNDING):
        return []
    return [f"optimal, infeasible by {answer.residual!r}, but by {least!r} at least"]


def norm(planted: Planted, rows: np.ndarray | None = None) -> float:
    """Return |y| of the witness, of these rows only if they are given; inf without a witness."""
    if planted.y is None:
        return inf
    y = planted.multipliers
    return sqrt(sum(float(y[i]) ** 2 for i in (range(len(y)) if rows is None else rows)))


def _size(planted: Planted) -> float:
    assert planted.v is not None
    return float(np.abs(planted.c) @ np.abs(planted.v)) + abs(planted.offset)


def _rounding(planted: Planted) -> float:
    """Return what the rounding of a computed residual is worth at the prices y."""
    assert planted.v is not None
    reach = max(1.0, float(np.abs(planted.v).max(initial=0.0)))
    return float(_roundings(planted, reach) @ [abs(float(y)) for y in planted.multipliers])


def _residual_rounding(planted: Planted) -> float:
    """Return the rounding of a computed residual of a point within the caps."""
    return float(np.linalg.norm(_roundings(planted, 1.0)))


def _roundings(planted: Planted, reach: float) -> np.ndarray:
    """Return the rounding of each row at a point of this size, or of the size of a cap."""
    reach = max([reach, *(float(planted.b[cap.row]) for cap in planted.caps)])
    return RESIDUAL_ROUNDING * (np.abs(planted.A).sum(axis=1) * reach + np.abs(planted.b))
