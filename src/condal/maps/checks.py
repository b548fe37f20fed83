"""Checks of a linear map, the user's own among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient, dot
from condal.linalg.points import LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.types import LinearMap


def check_adjoint(
    A: LinearMap, points: Sequence[Point], *, seed: int = 0, tol: float = 1e-8
) -> float:
    """max |<Ax, y> - <x, A'y>| over the points and a random y, relative; ProblemError above tol.

    Relative to |A'y| |x|, where that is the larger: an image may be small by cancellation.
    """
    rng = np.random.default_rng(seed)
    errors: list[float] = []
    for x in points:
        image = A(x)
        if image.shape != (A.size,):
            raise ProblemError(f"the map says size {A.size}, but an image has shape {image.shape}")
        y = rng.standard_normal(A.size)
        gradient = A.adjoint(y)
        right = 0.0 if gradient is None else dot(gradient, x)
        left = float(image @ y)
        scale = float(np.linalg.norm(image) * np.linalg.norm(y))
        if gradient is not None:
            scale = max(scale, size_of(gradient, rng) * size_of(x, rng))
            errors.append(_asymmetry(gradient, rng))
        errors.append(abs(left - right) / max(scale, np.finfo(float).tiny))
    worst = float(np.max(errors, initial=0.0))  # which keeps nan, as max does not
    if not worst <= tol:
        raise ProblemError(
            f"the adjoint is wrong: <Ax, y> and <x, A'y> differ by {worst:.3g} of their size; "
            "an entry off the diagonal must be split between (i, j) and (j, i)"
        )
    return worst


def _asymmetry(v: Gradient, rng: np.random.Generator) -> float:
    """|<Va, b> - <a, Vb>|, relative, for random a and b; 0 for a gradient on vectors."""
    if isinstance(v, tuple):
        return float(np.max([_asymmetry(part, rng) for part in v]))
    if not isinstance(v, Symmetric):
        return 0.0
    a, b = rng.standard_normal((2, v.n))
    Va, Vb = (v @ np.stack([a, b], axis=1)).T  # as a block: by a vector, half of V may be read
    scale = float(np.linalg.norm(Va) * np.linalg.norm(b) + np.linalg.norm(a) * np.linalg.norm(Vb))
    return abs(float(Va @ b) - float(a @ Vb)) / max(scale, np.finfo(float).tiny)


def size_of(v: Gradient | Point, rng: np.random.Generator) -> float:
    """|v|, the Euclidean norm; an estimate for a Symmetric."""
    if isinstance(v, tuple):
        return float(np.linalg.norm([size_of(part, rng) for part in v]))
    if isinstance(v, Symmetric):  # |Vz|^2 is |V|_F^2 on the average
        return float(np.linalg.norm(v @ rng.standard_normal(v.n)))
    if isinstance(v, LowRank):
        gram = (v.U.T @ v.U) ** 2
        return float(np.sqrt(abs(float(v.weights @ gram @ v.weights))))
    return float(np.linalg.norm(v))
