"""The largest eigenvalues of a dense symmetric matrix, by block Krylov spaces from a guess.

With V an orthonormal basis of span(Q, vQ, ..., v^(j-1) Q) and v V = V H + R E', where E' reads the
last block, an eigenpair (e, s) of H gives the Ritz pair (e, Vs), and |v Vs - e Vs| = |R E's|
exactly. The residuals cost nothing, and a product with v is one matrix product per block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from condal.linalg.points import Array

RANDOM_COLUMNS = 3  # of a block: they see eigenvectors that the guess is orthogonal to
MIN_BLOCKS = 2
MAX_BLOCKS = 6  # of a basis, before it is replaced by its best Ritz vectors
MAX_RESTARTS = 4
DEPENDENT = 10.0  # times rounding: the share of a column that is not in the others
TYPICAL = 0.1  # of t less the least Ritz value: how far below t the residuals are, at least
LEFT_OUT = 0.02  # of |v|: the residual of the first pair left out may be that large
MAX_SHARE = 0.25  # of n: a larger basis takes longer than all eigenvectors


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
