"""The scales at which squares and products of a problem's data neither overflow nor underflow.

`solve`, `certify` and the verification of saved results refuse the same problems.
"""

from __future__ import annotations

from math import inf

import numpy as np

from condal.errors import ProblemError
from condal.problem import Problem

MIN_SIZE, MAX_SIZE = 1e-70, 1e70  # of f and A: duals have the size of f over A, and are squared


def require_scales(problem: Problem) -> None:
    """Raise ProblemError unless X, the objective over X and the rows of Ax are of a safe size."""
    size = problem.X.max_norm
    with np.errstate(over="ignore", under="ignore"):
        magnitude, norms = problem.objective_range, problem.A.row_norms()
    _require_safe(size, "the size of X", "measure x in other units")
    _require_safe(magnitude, "the objective's size over X", "scale the objective")
    nonzero = norms[norms > 0]
    for norm in (nonzero.min(initial=inf), nonzero.max(initial=0.0)):
        if 0 < norm < inf and not _is_safe(norm * size):
            i = int(np.flatnonzero(norms == norm)[0])
            _require_safe(norm * size, f"the size of row {i} of Ax", "scale it, and its K")


def _is_safe(number: float) -> bool:
    return number == 0 or MIN_SIZE <= number <= MAX_SIZE


def _require_safe(number: float, what: str, advice: str) -> None:
    """Raise ProblemError unless the number is 0, or its powers are finite and not 0."""
    if not _is_safe(number):
        raise ProblemError(
            f"{what} is {number:.3g}, beyond what double precision holds the squares and products "
            f"of ({MIN_SIZE:g} to {MAX_SIZE:g}): {advice}, for example by the largest entry"
        )
