"""The lowest eigenvectors of a symmetric operator by Chebyshev-filtered subspace iteration.

A Krylov space of one vector holds one eigenvector of a multiple eigenvalue. A block holds as many
as it has columns (Zhou, Saad, Tiago and Chelikowsky 2006).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from condal.linalg.lanczos import Recurrence
from condal.linalg.limits import MAX_LOWEST_DENSE_SIDE
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric

SPARE_COLUMNS = 8  # beyond the wanted ones: the filter separates at the last of them
DEGREE = 24  # of the filter
MAX_FILTERS = 40
MAX_RESIDUAL = 1e-8  # of the distance between the first and the last wanted value
BOUND_STEPS = 20  # of Lanczos, for a bound on the largest eigenvalue
MAX_BLOCK_SHARE = 0.2  # of n columns: to compute more takes longer than to compute all


def lowest_subspace(V: Symmetric, count: int) -> tuple[Array, Array]:
    """Return the `count` smallest eigenvalues of V, ascending, and orthonormal eigenvectors.

    The residuals are `MAX_RESIDUAL`, unless `MAX_FILTERS` filters were not enough.
    """
    width = count + SPARE_COLUMNS
    if V.n <= MAX_LOWEST_DENSE_SIDE or width >= MAX_BLOCK_SHARE * V.n:
        values, vectors = eigh(V @ np.eye(V.n), subset_by_index=[0, min(count, V.n) - 1])
        return values, vectors
    basis = np.linalg.qr(np.random.default_rng(V.n).standard_normal((V.n, width)))[0]
    largest = _upper_bound(V, basis[:, 0])
    for _ in range(MAX_FILTERS):
        image = V @ basis
        values, turned = eigh(basis.T @ image)
        basis, image = basis @ turned, image @ turned
        residual = np.linalg.norm(image[:, :count] - basis[:, :count] * values[:count], axis=0)
        if residual.max() <= MAX_RESIDUAL * (values[count] - values[0]) or values[-1] >= largest:
            break
        basis = np.linalg.qr(_filtered(V, basis, values[0], (values[-1], largest)))[0]
    return values[:count], basis[:, :count]


def _upper_bound(V: Symmetric, start: Array) -> float:
    """The largest Ritz value of a short run, plus its residual: above the spectrum in practice."""
    run = Recurrence(V, start, keep=0)
    run.grow_to(BOUND_STEPS)
    return run.ends()[1] + run.beta[-1]


def _filtered(V: Symmetric, basis: Array, least: float, damped: tuple[float, float]) -> Array:
    """p(V) basis: p is the Chebyshev polynomial of the damped interval, with p(least) = 1."""
    low, high = damped
    centre, half = (low + high) / 2, (high - low) / 2
    ratio = first = half / (least - centre)
    before, now = basis, (V @ basis - centre * basis) * (first / half)
    for _ in range(DEGREE - 1):
        following = 1 / (2 / first - ratio)
        raised = (V @ now - centre * now) * (2 * following / half) - before * (ratio * following)
        before, now, ratio = now, raised, following
    return now
