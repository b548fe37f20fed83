"""The point of a result: what every rounding begins with."""

from __future__ import annotations

from typing import Any

from condal.errors import ProblemError
from condal.points import Point
from condal.result import Result


def point_of(result: Any, n: int) -> Point:
    """The point of a result of a model whose x is n x n; ProblemError if it is another's."""
    if not isinstance(result, Result):
        raise ProblemError(f"wanted a result, as condal.solve returns it; got {result!r}")
    if result.x is None:
        raise ProblemError("the result has no point to round: the solve ended too early")
    shape = getattr(result.x, "shape", None)
    if shape != (n, n):
        raise ProblemError(
            f"the result is of another model: its point has shape {shape}, and this model needs "
            f"one of {n} x {n}"
        )
    return result.x
