"""Normalised problems: one scale of numbers inside, the user's own outside.

The method sees c f, D A and the h of D A, with D diagonal: rows of equal norm, |D A| max|x| = 1,
and an objective that varies by about 1. x itself is never scaled: the method is unchanged when x
and A are scaled against each other, so that fitting D A to the size of X does the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from condal.errors import ProblemError
from condal.linalg.images import zeros_of
from condal.linalg.points import Array
from condal.problem import Problem

LEAST, MOST = 1e-70, 1e70  # sizes: duals are of that of f over that of A, and are squared
FARTHEST = 1e30  # times the longest Ax: what is as far from it is no number that anybody measured


@dataclass(frozen=True, eq=False)
class Scaling:
    """The factors: c of the objective, `rows` of the constraints."""

    c: float
    rows: Array

    def dual(self, y: Array) -> Array:
        """The user's y from the normalised one."""
        return self.rows * y / self.c

    def normalised_dual(self, y: Array) -> Array:
        """The normalised y from the user's."""
        return self.c * y / self.rows

    def image(self, Ax: Array) -> Array:
        """The user's Ax from the normalised one."""
        return Ax / self.rows


def normalise(problem: Problem) -> tuple[Problem, Scaling]:
    """The normalised problem, and what undoes it."""
    size = problem.X.max_norm
    with np.errstate(over="ignore", under="ignore"):
        magnitude, norms = problem.objective_range, problem.A.row_norms()
    _require_held(size, "the size of X", "measure x in other units")
    _require_held(magnitude, "the objective's size over X", "scale the objective")
    there = norms[norms > 0]
    for norm in (there.min(initial=inf), there.max(initial=0.0)):
        if 0 < norm < inf and not _is_held(norm * size):
            i = int(np.flatnonzero(norms == norm)[0])
            _require_held(norm * size, f"the size of row {i} of Ax", "scale it, and its K")
    c = 1.0 / magnitude if magnitude > 0 else 1.0
    rows = np.ones_like(norms)
    for here, piece in problem.h.pieces:
        each = norms[here] if piece.separable else np.full(piece.size, norms[here].max(initial=0.0))
        rows[here] = 1.0 / np.where(each > 0, each, 1.0)
    A = problem.A.scaled(rows)
    reach = A.norm * size
    if reach > 0:
        rows = rows / reach
        A = problem.A.scaled(rows)
    f, h = problem.f.scaled(c), problem.h.scaled(rows, c)
    with np.errstate(over="ignore"):
        away = h.distance(zeros_of(A))
    if away > FARTHEST:
        raise ProblemError(
            f"K is {away:.3g} times as far from 0 as any Ax can be: nothing is feasible; check b, "
            "the bounds and their units"
        )
    scaled = replace(problem, f=f, A=A, h=h, repair=None, checked=True)
    return scaled, Scaling(c, rows)


def _is_held(number: float) -> bool:
    return number == 0 or LEAST <= number <= MOST


def _require_held(number: float, what: str, advice: str) -> None:
    """Raise ProblemError unless the number is 0 or of a size whose powers are numbers as well."""
    if not _is_held(number):
        raise ProblemError(
            f"{what} is {number:.3g}, beyond what double precision holds the squares and products "
            f"of ({LEAST:g} to {MOST:g}): {advice}, for example by the largest entry"
        )
