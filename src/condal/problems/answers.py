"""The point of a result: what every rounding begins with."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.points import Array
from condal.result import Result


def point_of(result: Any, n: int) -> Any:
    """The point of a result of a model whose x is n x n; ProblemError if it is another's."""
    return _point(result, (n, n), f"{n} x {n}")


def rectangle_of(result: Any, shape: tuple[int, int]) -> Any:
    """The same for a model whose x is m x n."""
    return _point(result, shape, f"{shape[0]} x {shape[1]}")


def vector_of(result: Any, n: int) -> Array:
    """The same for a model whose x is a vector of length n."""
    return np.asarray(_point(result, (n,), f"length {n}"))


def _point(result: Any, wanted: tuple[int, ...], text: str) -> Any:
    if not isinstance(result, Result):
        raise ProblemError(f"wanted a result, as condal.solve returns it; got {result!r}")
    if result.x is None:
        raise ProblemError("the result has no point to round: the solve ended too early")
    shape = getattr(result.x, "shape", None)
    if shape != wanted:
        raise ProblemError(
            f"the result is of another model: its point has shape {shape}, and this model needs "
            f"one of {text}"
        )
    return result.x
