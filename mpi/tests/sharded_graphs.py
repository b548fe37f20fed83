"""Random graphs whose rows are distributed over ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def random_weights(n: int, *, seed: int) -> Any:
    """Return a symmetric matrix with about six positive entries per row."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, 3 * n))
    half = sp.csr_array((rng.random(i.size), (i, j)), shape=(n, n))
    return sp.csr_array(half + half.T)


def own_rows(team: Any, matrix: Any) -> Any:
    """Return the rows of a sparse matrix that this rank owns."""
    begin, end = team.range(matrix.shape[0])
    return sp.csr_array(matrix[begin:end])
