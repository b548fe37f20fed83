"""Maps of x that ranks hold together: its diagonal, some entries, and general inner products.

Each rank has its rows of x, and its share of an image.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, Self

import numpy as np

from condal.linalg.blocked import weighted_squares
from condal.linalg.operator_norms import gram_norm
from condal.linalg.points import LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal_mpi.edges import Edges, ShardedPairs
from condal_mpi.matrix import ShardedTerm
from condal_mpi.rows import GramProducts, SparseMatrices


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """What maps of symmetric n x n matrices have in common: factors `rows` of their images.

    `rows` and `size` are those of this rank.
    """

    n: int
    rows: Any

    terms = 1

    @property
    def size(self) -> int:
        return int(self.rows.size)

    @property
    def diagonal_rows(self) -> Any:
        return None

    def scaled(self, rows: Any) -> Self:
        return replace(self, rows=rows * self.rows)

    def zeros(self) -> Any:
        return np.zeros_like(self.rows)

    def as_matrix(self) -> None:
        """Return None: no rank could hold it."""


@dataclass(frozen=True, eq=False)
class DistributedDiagonal(ScaledRows):
    """Ax = rows * diag(x), for x symmetric n x n."""

    @property
    def diagonal_rows(self) -> Any:
        return self.rows

    @cached_property
    def norm(self) -> float:
        return float(np.abs(self.rows).max(initial=0.0))

    def row_norms(self) -> Any:
        return np.abs(self.rows)

    def __call__(self, x: Point) -> Any:
        assert isinstance(x, LowRank)
        return self.rows * weighted_squares(x.U, x.weights)

    def adjoint(self, y: Any) -> Symmetric:
        return Symmetric(self.n, diagonal=self.rows * y)


@dataclass(frozen=True, eq=False)
class DistributedEntries(ScaledRows):
    """Ax = rows * (x_ij for the edges ij), for x symmetric n x n."""

    edges: Edges

    @cached_property
    def norm(self) -> float:
        return float(sqrt(0.5) * np.abs(self.rows).max(initial=0.0))

    def row_norms(self) -> Any:
        return sqrt(0.5) * np.abs(self.rows)

    def __call__(self, x: Point) -> Any:
        assert isinstance(x, LowRank)
        return self.rows * self.edges.read(x.U, x.weights)

    def entry_pairs(self) -> tuple[ShardedPairs, Any]:
        """Return the edges as pairs of vectors, and the factors of the entries."""
        return ShardedPairs(self.edges), self.rows

    def adjoint(self, y: Any) -> Symmetric:
        return Symmetric(self.n, [ShardedTerm(self.edges.matrix(0.5 * self.rows * y))])


@dataclass(frozen=True, eq=False)
class DistributedInner(ScaledRows):
    """Ax = rows * (<A_k, x> for each k), for x symmetric n x n; see `condal.maps.Inner`."""

    matrices: SparseMatrices

    @cached_property
    def norm(self) -> float:
        largest = float(self.row_norms().max(initial=0.0))
        if largest == 0.0:
            return 0.0
        unit = float(2.0 ** np.floor(np.log2(largest)))  # so that the squares are finite
        start = self.rows.normals(self.matrices.count, 1)[:, 0]
        return unit * gram_norm(GramProducts(self.matrices, self.rows / unit), start)

    @property
    def terms(self) -> int:  # type: ignore[override]  # it depends on the matrices
        return self.matrices.most + 1

    def row_norms(self) -> Any:
        return np.abs(self.rows) * self.matrices.norms

    def __call__(self, x: Point) -> Any:
        assert isinstance(x, LowRank)
        return self.rows * self.matrices.products(x.U, x.weights)

    def adjoint(self, y: Any) -> Symmetric:
        return Symmetric(self.n, [ShardedTerm(self.matrices.matrix(self.rows * y))])
