"""Normalised problems: one scale of numbers inside, the user's own outside.

The method sees c f, D A and the h of D A, with D diagonal: rows of equal norm, |D A| max|x| = 1,
and an objective that varies by about 1. x itself is never scaled: the method is unchanged when x
and A are scaled against each other, so that fitting D A to the size of X does the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from condal.errors import ProblemError
from condal.points import Array
from condal.problem import Problem


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
    size = problem.X.size
    magnitude = problem.magnitude
    if not np.isfinite(magnitude) or 0 < magnitude < np.finfo(float).tiny:
        raise ProblemError(
            f"the objective's size over X is {magnitude:g}, beyond what double precision holds: "
            "scale the objective, for example by its largest entry"
        )
    c = 1.0 / magnitude if magnitude > 0 else 1.0
    norms = problem.A.row_norms()
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
    scaled = replace(problem, f=f, A=A, h=h, repair=None, checked=True)
    return scaled, Scaling(c, rows)
