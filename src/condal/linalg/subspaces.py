"""Several eigenpairs at once, from blocks of vectors.

A Krylov space of one vector holds one eigenvector of a multiple eigenvalue. A block holds as many
as it has columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.linalg.lanczos import MAX_LOWEST_DENSE_SIDE, Recurrence
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric

SPARE_COLUMNS = 8  # beyond the wanted ones: the filter separates at the last of them
DEGREE = 24  # of the filter
MAX_FILTERS = 40
MAX_RESIDUAL = 1e-8  # of the distance between the first and the last wanted value
BOUND_STEPS = 20  # of Lanczos, for a bound on the largest eigenvalue
MAX_BLOCK_SHARE = 0.2  # of n columns: to compute more takes longer than to compute all
RANDOM_COLUMNS = 3  # of a block: they see eigenvectors that the guess is orthogonal to
MIN_BLOCKS = 2
MAX_BLOCKS = 6  # of a basis, before it is replaced by its best Ritz vectors
MAX_RESTARTS = 4
DEPENDENT = 10.0  # times rounding: the share of a column that is not in the others
TYPICAL = 0.1  # of t less the least Ritz value: how far below t the residuals are, at least
LEFT_OUT = 0.02  # of |v|: the residual of the first pair left out may be that large
MAX_SHARE = 0.25  # of n: a larger basis takes longer than all eigenvectors


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


def leading_eigenpairs(
    v: Any, guess: Any, cut: Callable[[Array], tuple[int, float]], spare: int, tol: float
) -> tuple[Array, Array] | None:
    """Return the largest Ritz values of v, descending, and their vectors; None if they are slow.

    `cut` says how many of given values matter, and that those above t do. The residuals of these
    pairs have a norm of at most tol together: they are eigenpairs of a matrix that near to v.
    `spare` is how many pairs to return beyond them. The first of these must be known well enough
    not to hide an eigenvalue above t that the guess missed and the random columns see.
    """
    n = len(v)
    columns = max(RANDOM_COLUMNS, spare - guess.shape[1])
    random = np.random.default_rng(n).standard_normal((n, columns))
    Q = _orthonormal(np.column_stack([guess, random]).astype(v.dtype))
    for _ in range(MAX_RESTARTS):
        if MAX_BLOCKS * Q.shape[1] > MAX_SHARE * n:
            return None
        V, H, enough = Q, np.zeros((0, 0)), False
        for blocks in range(1, MAX_BLOCKS + 1):
            H, Q, R = _expanded(v, V, H)
            values, S = np.linalg.eigh(H)
            values, S = values[::-1], S[:, ::-1]
            kept, t = cut(values)
            if kept + spare < values.size:
                residuals = np.linalg.norm(R @ S[len(S) - R.shape[1] :, : kept + 1], axis=0)
                unsure = max(tol, 0.5 * (t - values[kept]), LEFT_OUT * np.abs(values).max())
                above, below = values[:kept] - t, TYPICAL * (t - values[-1])
                errors = residuals[:-1] * above / (above + below)
                enough = bool(residuals[-1] <= unsure and np.linalg.norm(errors) <= tol)
            if blocks >= MIN_BLOCKS and enough:
                vectors = (V @ S[:, : kept + spare]).astype(np.float64)
                vectors /= np.linalg.norm(vectors, axis=0)  # V may be of single precision
                return values[: kept + spare].astype(np.float64), vectors
            if blocks < MAX_BLOCKS:
                V = np.concatenate([V, Q], axis=1)
        Q = _orthonormal(V @ S[:, : kept + spare + RANDOM_COLUMNS])
    return None


def _expanded(v: Any, V: Any, H: Any) -> tuple[Any, Any, Any]:
    """Return V'vV, given its value H without the last block E of V, and QR = v E - V V'v E.

    The columns of Q are orthonormal to V.
    """
    image = v @ V[:, len(H) :]
    column = V.T @ image
    size, old = len(column), len(H)
    whole = np.empty((size, size), dtype=V.dtype)
    whole[:old, :old] = H
    whole[:, old:] = column
    whole[old:, :old] = column[:old].T
    whole[old:, old:] = 0.5 * (column[old:] + column[old:].T)
    left = image - V @ column
    left -= V @ (V.T @ left)
    Q = _orthonormal(left)
    Q = _orthonormal(Q - V @ (V.T @ Q))  # again, for what rounding left of V
    return whole, Q, Q.T @ left


def _orthonormal(a: Any) -> Any:
    """Return an orthonormal basis of the columns, by their Gram matrix: for few columns it takes
    less time than Householder vectors. Nearly dependent columns are left out."""
    norms = np.linalg.norm(a, axis=0)
    a = a[:, norms > 0] / norms[norms > 0]
    values, S = np.linalg.eigh(a.T @ a)
    kept = values > a.shape[1] * DEPENDENT * np.finfo(a.dtype).eps
    return a @ (S[:, kept] / np.sqrt(values[kept]))
