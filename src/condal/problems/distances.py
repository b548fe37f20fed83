"""Squared distances of points: computed, or given."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.lifting import symmetric
from condal.linalg.points import Array
from condal.problems.inputs import real_array


def squared_distances(points: Array) -> Array:
    """Return |p_i - p_j|^2, exactly symmetric with a zero diagonal."""
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(points, "sqeuclidean")))


def checked_distances(distances: Any) -> Array:
    """Return squared distances that a user gave as a symmetric matrix with a zero diagonal."""
    D = symmetric(real_array(distances, "distances", ndim=2), "distances").dense
    assert D is not None
    noise = 1e-12 * float(np.abs(D).max(initial=0.0))
    D = np.where(np.abs(D) <= noise, 0.0, D)  # rounding errors
    if D.min() < 0:
        i, j = (int(i) for i in np.argwhere(D < 0)[0])
        raise ProblemError(
            f"distances must not be negative; got {D[i, j]:g} at ({i}, {j}): they are squared "
            "distances, not inner products"
        )
    if np.diagonal(D).any():
        i = int(np.flatnonzero(np.diagonal(D))[0])
        raise ProblemError(
            f"distances must have a zero diagonal; got {D[i, i]:g} at ({i}, {i}): a point is at no "
            "distance from itself"
        )
    return D
