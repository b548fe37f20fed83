"""Maps of x that ranks hold together: its diagonal, some entries, and inner products <A_k, x>.

Each rank has its rows of x, and its share of an image. It holds the entries of all sparse symmetric
A_1, ..., A_p in its rows of x. A vector over these matrices, such as an image or a dual, is shared
by the ranks like the rows of x. An adjoint fetches the numbers of those matrices that have entries
in this rank's rows; an image sends their sums over these rows to the ranks that own them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import block_slices, weighted_squares
from condal.linalg.operator_norms import gram_norm
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.rounding import group_norms
from condal.linalg.symmetric import Symmetric
from condal_mpi.edges import Edges, ShardedPairs
from condal_mpi.halo import Halo, owners_of, with_halo
from condal_mpi.matrix import ShardedRows, ShardedTerm
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team


@dataclass(frozen=True, eq=False)
class SparseMatrices:
    """The matrices A_k, n x n.

    `pattern` is this rank's rows of the symmetric matrix that has an entry wherever one of them has
    one. `values` has a row for each entry ij of it, and the numbers (A_k)_ij in the columns of
    `numbers`, a halo of vectors over the matrices.
    """

    count: int
    pattern: ShardedRows
    values: Any
    numbers: Halo

    @classmethod
    def beside(
        cls, C: Any, count: int, triplets: tuple[Indices, Indices, Indices, Array], team: Team
    ) -> tuple[SparseMatrices, ShardedRows]:
        """Return the matrices and C in one pattern, so that a product with C + sum of y_k A_k
        fetches vectors once.

        `C` is this rank's rows as a COO array. The triplets are entries of the A_k that any rank
        may give: their matrices, rows, columns and values. An entry off the diagonal stands for
        both triangles; those of one place are added.
        """
        n, (begin, end) = int(C.shape[1]), team.range(C.shape[1])
        of_C = np.full(C.nnz, count), begin + C.row.astype(np.int64), C.col, C.data
        given = _sent_to_owners(n, *triplets, team)
        both: Any = map(np.append, given, of_C)
        k, i, j, value = _by_rows(*both)
        # The places ij are in the order of the pattern, and each has one or more matrices.
        places = _first_of_each(i, j)
        ends = np.cumsum(np.bincount(i[places] - begin, minlength=end - begin))
        numbered = np.arange(places.size, dtype=np.float64), j[places], np.append(0, ends)
        pattern = ShardedRows(sp.csr_array(numbered, shape=(end - begin, n)), team)
        # The rows of the pattern are stored with their columns in another order.
        stored = pattern.own.data.astype(np.int64)
        starts = np.append(places, i.size)
        by_place = sp.csr_array((value, k, starts), shape=(places.size, count + 1))[stored]
        values, numbers = with_halo(sp.csr_array(by_place[:, :count]), team)
        cost = pattern.with_data(by_place[:, [count]].toarray().ravel())
        return cls(count, pattern.with_data(np.ones(places.size)), values, numbers), cost

    @property
    def team(self) -> Team:
        """The ranks."""
        return self.pattern.team

    def matrix(self, y: ShardedArray) -> ShardedRows:
        """Return the sum of y_k A_k."""
        return self.pattern.with_data(self.values @ self.numbers(y.local))

    def products(self, U: Any, weights: Array) -> ShardedArray:
        """Return <A_k, x> for each k, x = U diag(weights) U'."""
        rows, columns = self.pattern.halo(U.local), self.pattern.own.indices
        owner, entries = self._owner, np.empty(columns.size)
        for some in block_slices(columns.size, U.shape[1]):
            left = rows[owner[some]] * weights
            entries[some] = np.einsum("kr,kr->k", left, rows[columns[some]])
        return self._sums(entries)

    def gram_product(self, y: ShardedArray) -> ShardedArray:
        """Return <A_k, sum of y_l A_l> for each k."""
        return self._sums(self.values @ self.numbers(y.local))

    @cached_property
    def norms(self) -> ShardedArray:
        """|A_k|_F for each k."""
        own = group_norms(self.values.data, self.values.indices, self.values.shape[1])
        norms, places, others = self.numbers.returned(own)
        np.hypot.at(norms, places, others)
        return ShardedArray(norms, self.team)

    @cached_property
    def most(self) -> int:
        """The largest number of matrices that have an entry at one place."""
        return int(self.team.largest(float(np.diff(self.values.indptr).max(initial=0))))

    def entries(self) -> tuple[Indices, Indices, Indices, Array]:
        """Return the rows, columns, matrices and values of this rank's entries."""
        (rows, columns, _), counts = self.pattern.entries(), np.diff(self.values.indptr)
        matrices = self.numbers.columns[self.values.indices]
        return np.repeat(rows, counts), np.repeat(columns, counts), matrices, self.values.data

    @cached_property
    def _owner(self) -> Indices:
        """The row of this rank of each entry of the pattern."""
        own = self.pattern.own
        return np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))

    def _sums(self, entries: Array) -> ShardedArray:
        """Sum (A_k)_ij times a number for each entry ij of the pattern over those of all ranks."""
        sums, places, others = self.numbers.returned(self.values.T @ entries)
        return ShardedArray(sums + np.bincount(places, others, sums.size), self.team)


@dataclass(frozen=True, eq=False)
class GramProducts:
    """A A', for products, where Ax = rows * (<A_k, x> for each k)."""

    matrices: SparseMatrices
    rows: ShardedArray

    def __matmul__(self, y: ShardedArray) -> ShardedArray:
        image: ShardedArray = self.rows * self.matrices.gram_product(self.rows * y)
        return image


def _sent_to_owners(
    n: int, k: Indices, i: Indices, j: Indices, value: Array, team: Team
) -> tuple[Indices, Indices, Indices, Array]:
    """Return the entries of both triangles in this rank's rows, given some by each rank."""
    off = np.flatnonzero(i != j)
    matrix, row, column = np.append(k, k[off]), np.append(i, j[off]), np.append(j, i[off])
    given = matrix, row, column, np.append(value, value[off])
    to = owners_of(row, n, team)
    parts = [[each[to == rank] for each in given] for rank in range(team.size)]
    received: Any = map(np.concatenate, zip(*team.comm.alltoall(parts), strict=True))
    k, i, j, value = received
    return k, i, j, value


def _by_rows(
    k: Indices, i: Indices, j: Indices, value: Array
) -> tuple[Indices, Indices, Indices, Array]:
    """Sort entries by their rows, columns and matrices, and add those of one place.

    They are added in the order of their values: so the sum of ij is that of ji on another rank.
    """
    order = np.lexsort((value, k, j, i))
    matrices, rows, columns, values = k[order], i[order], j[order], value[order]
    first = _first_of_each(rows, columns, matrices)
    sums = np.add.reduceat(values, first) if first.size else values
    return matrices[first], rows[first], columns[first], sums


def _first_of_each(*keys: Indices) -> Indices:
    """Return where each combination of sorted keys begins."""
    changes = [np.diff(key) != 0 for key in keys]
    return np.flatnonzero(np.append(True, np.any(changes, axis=0))[: keys[0].size])


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
