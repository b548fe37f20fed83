"""R with x = R R', or R R* of a Hermitian x: what roundings begin with.

Of a LowRank x nothing n x n is formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.linalg.points import LowRank, Point, dense


def factor_of(x: Point) -> Any:
    """Any R with x = R R'."""
    return x.factor() if isinstance(x, LowRank) else _root(x)


def leading(x: Point, count: int | None = None) -> Any:
    """The R of orthogonal columns, the longest first: eigenvectors times roots of eigenvalues.

    The first `count` columns make the best factor of so many.
    """
    if not isinstance(x, LowRank):
        return _root(x)[:, ::-1][:, :count]
    R = x.factor()
    if R.shape[1] == 0:
        return R
    values, turn = eigh(R.conj().T @ R)
    return np.asarray(R @ turn[:, np.argsort(-values)[:count]])


def _root(x: Point) -> Any:
    """The eigenvectors of x in rising order, each times the root of its eigenvalue."""
    values, vectors = eigh(dense(x))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
