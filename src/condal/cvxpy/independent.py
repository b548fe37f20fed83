"""Independent rows of a sparse matrix, as many as its rank, a connected piece at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from condal.errors import ProblemError
from condal.linalg.independent_rows import independent_rows
from condal.linalg.points import Array, Indices

LARGEST = 4_000, 4e7  # columns, and numbers, of a piece
DEPENDENT = 1e-9  # of a row's length: what is left of it beside the others


@dataclass(frozen=True, eq=False)
class Piece:
    """Independent `rows` that span all rows of a piece; Q, an orthonormal basis of that span; and
    `inverse`, of the chosen rows on it."""

    rows: Indices
    Q: Array
    inverse: Array


def pieces_of(T: Any) -> Iterator[tuple[Indices, Indices]]:
    """The rows and columns of each connected piece of T, without those that are empty."""
    rows, cols = np.flatnonzero(np.diff(T.indptr)), np.unique(T.indices)
    if rows.size == 0:
        return
    part = connected_components(sp.block_array([[None, T], [T.T, None]]), directed=False)[1]
    yield from zip(_grouped(rows, part[rows]), _grouped(cols, part[T.shape[0] + cols]), strict=True)


def _grouped(at: Indices, names: Indices) -> list[Indices]:
    """The indices of each name, by rising name."""
    order = np.argsort(names, kind="stable")
    return np.split(at[order], np.flatnonzero(np.diff(names[order])) + 1)


def independent(T: Any, rows: Indices, cols: Indices, *, first: Any) -> Piece:
    """Independent rows of T[rows, cols], as many as its rank; of `first` where they can be."""
    _require_room(rows.size, cols.size)
    dense = T[rows][:, cols].toarray()
    chosen = independent_rows(dense, tol=DEPENDENT, first=first)
    Q, R = la.qr(dense[chosen].T, mode="economic")
    inverse = Q @ la.solve_triangular(R, np.eye(len(chosen)), trans="T")
    return Piece(rows[chosen], Q, inverse)


def _require_room(rows: int, cols: int) -> None:
    if cols > LARGEST[0] or rows * cols > LARGEST[1]:
        raise ProblemError(
            f"{cols} variables without a cone of their own are tied together by {rows} rows: more "
            f"than can be eliminated, {LARGEST[0]} variables and {LARGEST[1]:.0e} numbers. Give "
            "them bounds, write the problem with psd or nonnegative variables, or build it by "
            "condal.Problem.of"
        )
