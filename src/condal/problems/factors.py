"""Factors R with x = R R' (R R* for Hermitian x), where roundings start.

A LowRank x is never expanded to n x n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.linalg.points import LowRank, Point, dense


def factor_of(x: Point) -> Any:
    """Return a factor R with x = R R'."""
    return x.factor() if isinstance(x, LowRank) else _root(x)


def leading_factor(x: Point, count: int | None = None) -> Any:
    """Return the factor with orthogonal columns: eigenvectors times roots of eigenvalues.

    The longest column comes first; the first `count` columns are the best factor of that rank.
    """
    if not isinstance(x, LowRank):
        return _root(x)[:, ::-1][:, :count]
    R = x.factor()
    if R.shape[1] == 0:
        return R
    values, rotation = eigh(R.conj().T @ R)
    return np.asarray(R @ rotation[:, np.argsort(-values)[:count]])


def _root(x: Point) -> Any:
    """Return the eigenvectors of x times roots of eigenvalues, in ascending order."""
    values, vectors = eigh(dense(x))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
