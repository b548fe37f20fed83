"""Forms of maps and domains that some methods need: rows of rank one, slices of cones."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

if TYPE_CHECKING:
    from condal.types import LinearMap


@dataclass(frozen=True, eq=False)
class SquareRows:
    """A = `matrix`, in which the rows `squares` are empty, plus the rows c_k v_k v_k'.

    `matrix` is as `LinearMap.as_matrix` returns it. The v_k are the columns of `vectors`.
    """

    matrix: Any
    squares: Indices
    c: Array
    vectors: Array

    @classmethod
    def of(cls, A: LinearMap) -> SquareRows | None:
        """Return the rows of A; None if its entries are hidden or too many."""
        if isinstance(A, SplitMap):
            return A.split_squares()
        matrix = A.as_matrix()
        return None if matrix is None else cls.without_squares(matrix)

    @classmethod
    def without_squares(cls, matrix: Any) -> SquareRows:
        """Return the rows of a matrix."""
        return cls(matrix, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)))

    @classmethod
    def stacked(cls, parts: list[SquareRows]) -> SquareRows:
        """Return the rows of all parts, one under the other."""
        ends = np.cumsum([0, *(part.matrix.shape[0] for part in parts)])
        some = [part for part in parts if part.squares.size]
        matrix = sp.csr_array(sp.vstack([part.matrix for part in parts], format="csr"))
        if not some:
            return cls.without_squares(matrix)
        places = [part.squares + end for part, end in zip(parts, ends, strict=False)]
        c = np.concatenate([part.c for part in some])
        return cls(matrix, np.concatenate(places), c, np.hstack([part.vectors for part in some]))

    def scaled(self, rows: Array) -> SquareRows:
        """Return the rows of A, each multiplied by a number."""
        matrix, each = self.matrix, np.repeat(rows, np.diff(self.matrix.indptr))
        data = each * matrix.data
        matrix = sp.csr_array((data, matrix.indices, matrix.indptr), matrix.shape)
        return SquareRows(matrix, self.squares, self.c * rows[self.squares], self.vectors)


@runtime_checkable
class SplitMap(Protocol):
    """A map that keeps some of its rows as vectors."""

    def split_squares(self) -> SquareRows | None:
        """Return the rows in this form; None as for `as_matrix`."""


@dataclass(frozen=True, eq=False)
class ConeSlice:
    """A block of X as a slice of a cone, or as a box; `n` is its side or its length.

    "psd": {x psd : tr x = bound}, "orthant": {x >= 0 : sum x = bound}, "second-order":
    {x : |(x_2, ..., x_n)| <= x_1 = bound}, each with <= in place of = if `at_most`; "box":
    {x : low <= x <= high}.
    """

    kind: Literal["psd", "orthant", "second-order", "box"]
    n: int
    bound: float = inf
    at_most: bool = False
    low: Array | None = None
    high: Array | None = None

    @property
    def length(self) -> int:
        """The number of entries of a point."""
        return self.n**2 if self.kind == "psd" else self.n


def sections(X: Any) -> tuple[ConeSlice, ...] | None:
    """Return the slices that X is the product of, from its attribute `sections`; None if unknown.

    A product of domains is known if all its parts are.
    """
    parts = getattr(X, "parts", None)
    if parts is None:
        return getattr(X, "sections", None)
    slices: list[ConeSlice] = []
    for part in parts:
        known = sections(part)
        if known is None:
            return None
        slices += known
    return tuple(slices)
