"""Independent rows of a sparse matrix, as many as its rank, by connected pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices

MAX_COLUMNS_AND_ENTRIES = 4_000, 4e7  # of a piece
MIN_INDEPENDENT_PART = 1e-9  # of a row, relative to its norm


@dataclass(frozen=True, eq=False)
class Piece:
    """Independent `rows` that span a piece, an orthonormal basis Q, and their `inverse` on it."""

    rows: Indices
    Q: Array
    inverse: Array


def pieces_of(T: Any) -> Iterator[tuple[Indices, Indices]]:
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


def independent(T: Any, rows: Indices, cols: Indices, *, first: Any) -> Piece:
    """Return independent rows of T[rows, cols], as many as its rank; `first` ones if possible."""
    _require_room(rows.size, cols.size)
    dense = T[rows][:, cols].toarray()
    chosen = independent_rows(dense, tol=MIN_INDEPENDENT_PART, first=first)
    Q, R = la.qr(dense[chosen].T, mode="economic")
    inverse = Q @ la.solve_triangular(R, np.eye(len(chosen)), trans="T")
    return Piece(rows[chosen], Q, inverse)


def _require_room(rows: int, cols: int) -> None:
    most_columns, most_entries = MAX_COLUMNS_AND_ENTRIES
    if cols > most_columns or rows * cols > most_entries:
        raise ProblemError(
            f"{cols} variables without a cone of their own are coupled by {rows} rows, which is "
            f"too many to eliminate: at most {most_columns} variables and {most_entries:.0e} "
            "entries. Give them bounds, write the problem with psd or nonnegative variables, or "
            "build it with condal.Problem.of"
        )


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
