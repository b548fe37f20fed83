"""Checks of a linear map, the user's own among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condal.errors import ProblemError
from condal.operators import dot
from condal.points import Point
from condal.types import LinearMap


def check_adjoint(
    A: LinearMap, points: Sequence[Point], *, seed: int = 0, tol: float = 1e-8
) -> float:
    """max |<Ax, y> - <x, A'y>| over the points and a random y, relative; ProblemError above tol."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for x in points:
        image = A(x)
        if image.shape != (A.size,):
            raise ProblemError(f"the map says size {A.size}, but an image has shape {image.shape}")
        y = rng.standard_normal(A.size)
        gradient = A.adjoint(y)
        right = 0.0 if gradient is None else dot(gradient, x)
        left = float(image @ y)
        scale = float(np.linalg.norm(image) * np.linalg.norm(y))
        worst = max(worst, abs(left - right) / max(scale, np.finfo(float).tiny))
    if not worst <= tol:
        raise ProblemError(
            f"the adjoint is wrong: <Ax, y> and <x, A'y> differ by {worst:.3g} of their size; "
            "an entry off the diagonal must be split between (i, j) and (j, i)"
        )
    return worst
