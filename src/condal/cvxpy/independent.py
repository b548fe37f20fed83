"""Connected pieces of a sparse matrix, and independent rows of a full one, as many as its rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from condal.linalg.points import Array, Indices


def connected_pieces(T: Any) -> Iterator[tuple[Indices, Indices]]:
    """Yield the rows and columns of each connected piece of T, without empty ones."""
    rows, cols = np.flatnonzero(np.diff(T.indptr)), np.unique(T.indices)
    if rows.size == 0:
        return
    from scipy.sparse.csgraph import connected_components

    piece = connected_components(sp.block_array([[None, T], [T.T, None]]), directed=False)[1]
    yield from zip(
        _grouped(rows, piece[rows]), _grouped(cols, piece[T.shape[0] + cols]), strict=True
    )


def _grouped(at: Indices, names: Indices) -> list[Indices]:
    """Return the indices of each name, by ascending name."""
    order = np.argsort(names, kind="stable")
    return np.split(at[order], np.flatnonzero(np.diff(names[order])) + 1)


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
