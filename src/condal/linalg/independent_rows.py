"""Independent rows that span all rows of a matrix, given the rows or their Gram matrix.

Each caller states the tolerance below which a row counts as dependent: what the other rows leave of
it, relative to its norm (rows), or to its square (Gram matrix).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from condal.linalg.points import Array, Indices


def independent_rows(A: Array, *, tol: float, first: NDArray[np.bool_]) -> list[int]:
    """Return as many independent rows of A as its rank, those of `first` where possible.

    By QR factorisations with pivots: accurate for any tol, for matrices of moderate size.
    """
    unit = (A / np.linalg.norm(A, axis=1)[:, None]).T
    chosen: list[int] = []
    Q = np.zeros((A.shape[1], 0))
    for group in (np.flatnonzero(first), np.flatnonzero(~first)):
        if group.size == 0 or len(chosen) == A.shape[1]:
            continue
        remainder = unit[:, group]
        for _ in range(2):  # twice is enough
            remainder = remainder - Q @ (Q.T @ remainder)
        R, pivots = la.qr(remainder, mode="r", pivoting=True)
        rank = int((np.abs(np.diagonal(R)) > tol).sum())
        chosen += group[pivots[:rank]].tolist()
        Q = la.qr(unit[:, chosen], mode="economic")[0]
    return chosen


def independent_rows_of_gram(gram: Array, *, tol: float) -> tuple[Indices, Indices]:
    """Return independent rows of A and the others, both in order, given AA'.

    By a Cholesky factorisation with pivots, which prefers long rows: for A too large for a QR
    factorisation. tol is relative to squares, and means little below 1e-14.
    """
    _, pivots, rank, _ = dpstrf(gram, tol=tol, lower=1)
    return np.sort(pivots[:rank] - 1), np.sort(pivots[rank:] - 1)
