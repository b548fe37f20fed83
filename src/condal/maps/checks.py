"""The check of the adjoint of a linear map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient, dot, norm
from condal.linalg.points import Point
from condal.linalg.symmetric import Symmetric
from condal.types import LinearMap

TINY = float(np.finfo(float).tiny)


def check_adjoint(
    A: LinearMap, points: Sequence[Point], *, seed: int = 0, tol: float = 1e-8
) -> float:
    r"""Check that :math:`\langle Ax, y \rangle = \langle x, A^T y \rangle` for random y.

    Parameters
    ----------
    A : LinearMap
        The map to check.
    points : sequence of Point
        Points x of the space that A maps from.
    seed : int, default 0
        The seed of the random y.
    tol : float, default 1e-8
        The largest error that passes.

    Returns
    -------
    float
        The largest error over the points, relative to the larger of :math:`|Ax| |y|` and
        :math:`|A^T y| |x|`: an image may be small by cancellation.

    Raises
    ------
    ProblemError
        If an error exceeds `tol`, or an image does not have the size of the map.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Matrix, check_adjoint
    >>> check_adjoint(Matrix(np.eye(3)), [np.ones(3)]) < 1e-15
    True
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
            scale = max(scale, norm(gradient, rng) * norm(x, rng))
            errors.append(_asymmetry(gradient, rng))
        errors.append(abs(left - right) / max(scale, TINY))
    worst = float(np.max(errors, initial=0.0))  # unlike `max`, this returns nan if there is one
    if not worst <= tol:
        raise ProblemError(
            f"the adjoint is wrong: <Ax, y> and <x, A'y> differ by {worst:.3g} of their size; "
            "an entry off the diagonal must be split between (i, j) and (j, i)"
        )
    return worst


def _asymmetry(v: Gradient, rng: np.random.Generator) -> float:
    """|<Va, b> - <a, Vb>|, relative, for random a and b; 0 for a gradient on vectors."""
    if isinstance(v, tuple):
        return float(np.max([_asymmetry(block, rng) for block in v]))
    if not isinstance(v, Symmetric):
        return 0.0
    a, b = rng.standard_normal((2, v.n))
    # A block: the product with one vector may read half of V only.
    Va, Vb = (v @ np.stack([a, b], axis=1)).T
    scale = float(np.linalg.norm(Va) * np.linalg.norm(b) + np.linalg.norm(a) * np.linalg.norm(Vb))
    return abs(float(Va @ b) - float(a @ Vb)) / max(scale, TINY)
