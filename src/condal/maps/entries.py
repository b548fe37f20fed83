"""Entries of symmetric matrices: read from factors, and written as sparse matrices."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.sparse import indices, require_within
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.runtime.arguments import require_whole

MAX_FULL_RATIO = 16  # of n^2 to the pairs: up to here BLAS computes all entries faster than some


@dataclass(frozen=True, eq=False)
class Pattern:
    """A CSR array of fixed pattern whose data are `spread` y, a fixed sparse combination of y.

    If each entry depends on one y, the data are factor * y[which].
    """

    blank: Any
    spread: Any

    @classmethod
    def of(cls, n: int, rows: Any, cols: Any) -> Pattern:
        """Return the pattern that splits y_k between (rows_k, cols_k) and (cols_k, rows_k)."""
        both = np.concatenate([rows, cols]), np.concatenate([cols, rows])
        blank, sums = summed_places((n, n), *both)
        each = np.full(sums.nnz, 0.5), sums.indices % max(rows.size, 1), sums.indptr
        spread = sp.csr_array(each, shape=(blank.nnz, rows.size))
        if blank.nnz < sums.nnz:
            spread.sum_duplicates()  # the halves of a diagonal entry
        return cls(blank, spread)

    @property
    def terms(self) -> int:
        """The most y that an entry depends on."""
        return int(np.diff(self.spread.indptr).max(initial=0))

    @cached_property
    def _single(self) -> tuple[Array, Any] | None:
        """(factor, which) if every entry depends on one y."""
        if self.terms > 1 or self.spread.nnz < self.spread.shape[0]:
            return None
        return self.spread.data, self.spread.indices.astype(np.intp)

    def after(self, first: Any) -> Pattern:
        """Return the same pattern, filled from `first` y."""
        return Pattern(self.blank, sp.csr_array(self.spread @ first))

    def fill(self, y: Array) -> Any:
        """Return the matrix of y."""
        if y.shape != (self.spread.shape[1],):
            raise ProblemError(f"a dual of {self.spread.shape[1]} numbers is wanted; got {y.size}")
        filled = copy(self.blank)  # shares its indices: nothing is sorted or checked again
        if self._single is None:
            filled.data = self.spread @ y
        else:
            factor, which = self._single
            filled.data = np.take(y, which, mode="clip")
            filled.data *= factor
        return filled


def summed_places(shape: tuple[int, int], rows: Any, cols: Any) -> tuple[Any, Any]:
    """Return a CSR array of zeros at the places given, and the sums that make its data.

    The sums are a CSR array of ones: times a vector with a number per place, they are the data, in
    which repeated places add up.
    """
    count = rows.size
    small = np.int32 if max(count, *shape) < 2**31 else np.int64
    places, order = (rows.astype(small), cols.astype(small)), np.arange(count, dtype=small)
    blank = sp.csr_array((np.ones(count), places), shape=shape)
    if blank.nnz == count:  # no place is repeated: sorting by counting suffices
        order = sp.csr_array((order, places), shape=shape).data
        ends = np.arange(count + 1, dtype=small)
    else:
        keys = rows * shape[1] + cols
        order = np.argsort(keys, kind="stable").astype(small)
        ends = np.searchsorted(keys[order], np.append(np.unique(keys), np.iinfo(np.int64).max))
    blank.data[:] = 0.0
    blank.has_canonical_format = True  # so that sums need not check
    sums = sp.csr_array((np.ones(count), order, ends), shape=(blank.nnz, count))
    return blank, sums


@dataclass(frozen=True, eq=False)
class PairEntries:
    """x -> x[rows, cols] = <u_i, diag(weights) u_j>, for x = U diag(weights) U', n x n.

    The rows u_i and u_j are gathered block by block in the cache. For many pairs of few rows, all
    entries of x are computed, some rows at a time.
    """

    n: int
    rows: Indices
    cols: Indices

    def __call__(self, x: LowRank) -> Array:
        """Return the entries of x."""
        if x.U.shape[0] != self.n:
            raise ProblemError(f"x must be {self.n} x {self.n}; got a side of {x.U.shape[0]}")
        if x.rank == 1:
            return self._of_rank_one(x.weights[0] * x.U[:, 0], np.ascontiguousarray(x.U[:, 0]))
        if self.n**2 <= MAX_FULL_RATIO * self.rows.size:
            return self._from_all_entries(x)
        return self._from_gathered_rows(x)

    def _of_rank_one(self, left: Array, right: Array) -> Array:
        out = np.empty(self.rows.size)
        for block in block_slices(out.size):
            entries = np.take(left, self.rows[block], out=out[block], mode="clip")
            entries *= right[self.cols[block]]
        return out

    def _from_gathered_rows(self, x: LowRank) -> Array:
        out, U = np.empty(self.rows.size), np.ascontiguousarray(x.U)
        blocks = block_slices(out.size, x.rank)
        longest = blocks[0].stop if blocks else 0
        left, right = np.empty((2, longest, x.rank))
        for block in blocks:
            count = block.stop - block.start
            products = np.take(U, self.rows[block], axis=0, out=left[:count], mode="clip")
            products *= np.take(U, self.cols[block], axis=0, out=right[:count], mode="clip")
            np.matmul(products, x.weights, out=out[block])
        return out

    def _from_all_entries(self, x: LowRank) -> Array:
        order, places = self._sorted
        left, right = x.U * x.weights, x.U.T
        entries = np.empty(order.size)
        for rows, pairs in self._row_blocks:
            block = left[rows] @ right
            np.take(block, places[pairs] - rows.start * self.n, out=entries[pairs], mode="clip")
        out = np.empty(order.size)
        out[order] = entries
        return out

    @cached_property
    def _sorted(self) -> tuple[Indices, Indices]:
        """The order of the pairs by rows, and their places in the n^2 entries of x."""
        order = np.argsort(self.rows, kind="stable")
        return order, (self.rows * self.n + self.cols)[order]

    @cached_property
    def _row_blocks(self) -> list[tuple[slice, slice]]:
        """Blocks of rows of x, and the range of the sorted pairs of each."""
        blocks = block_slices(self.n, self.n // 8)  # taller than usual, for the sake of BLAS
        ends = np.searchsorted(self._sorted[1], [0, *(rows.stop * self.n for rows in blocks)])
        pairs = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        return list(zip(blocks, pairs, strict=True))


@dataclass(frozen=True, eq=False)
class Entries(BasicMap):
    r"""Entries of a symmetric n x n matrix, :math:`(A x)_k = x_{r_k c_k}`.

    Parameters
    ----------
    n : int
        The side of x.
    rows, cols : array_like of int, optional
        The indices :math:`r_k` and :math:`c_k`, from 0. Without them the image is all of x, row
        by row.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Entries
    >>> Entries(2, [0, 1], [1, 1])(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([2., 3.])
    """

    n: int
    rows: Any = None
    cols: Any = None

    @classmethod
    def rectangular(cls, shape: tuple[int, int], rows: Any, cols: Any) -> Entries:
        r"""Return the map of entries of a rectangular matrix x of NuclearBall(m, n).

        Parameters
        ----------
        shape : (int, int)
            The shape (m, n) of x.
        rows, cols : array_like of int
            The indices of the entries, from 0.
        """
        m, n = shape
        require_whole(m, "the number of rows")
        require_whole(n, "the number of columns")
        rows, cols = indices(rows, "rows"), indices(cols, "cols")
        require_within(rows, m, "rows")
        require_within(cols, n, "cols")
        return cls(m + n, rows, m + cols)

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        if (self.rows is None) != (self.cols is None):
            raise ProblemError("Entries takes both rows and cols, or neither (all entries)")
        if self.rows is None:
            return
        rows, cols = indices(self.rows, "rows"), indices(self.cols, "cols")
        require_within(rows, self.n, "rows")
        require_within(cols, self.n, "cols")
        if rows.shape != cols.shape:
            raise ProblemError(f"rows and cols differ in length: {rows.size} and {cols.size}")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cols", cols)

    @property
    def size(self) -> int:
        return self.n * self.n if self.rows is None else int(self.rows.size)

    @cached_property
    def norm(self) -> float:
        """1 if a diagonal entry is read once; more if entries are read repeatedly."""
        if self.rows is None:
            return 1.0
        low, high = np.minimum(self.rows, self.cols), np.maximum(self.rows, self.cols)
        order = np.lexsort((high, low))
        low, high = low[order], high[order]
        new = np.ones(self.size, dtype=bool)
        new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
        times = np.bincount(np.cumsum(new) - 1)
        weight = np.where(low == high, 1.0, 0.5)[new]
        return float(np.sqrt((times * weight).max())) if self.size else 0.0

    @cached_property
    def terms(self) -> int:
        """The reads of an entry, from both triangles, at most."""
        return 2 if self.rows is None else self.pattern.terms

    def row_norms(self) -> Array:
        if self.rows is None:
            norms = np.full((self.n, self.n), np.sqrt(0.5))
            np.fill_diagonal(norms, 1.0)
            return norms.ravel()
        return np.where(self.rows == self.cols, 1.0, np.sqrt(0.5))

    def as_matrix(self) -> Any:
        """(e_i e_j' + e_j e_i')/2, flattened, for each entry (i, j)."""
        n, k = self.n, np.arange(self.size)
        i, j = (k // n, k % n) if self.rows is None else (self.rows, self.cols)
        places = np.concatenate([i * n + j, j * n + i])
        halves = sp.coo_array((np.full(2 * k.size, 0.5), (np.tile(k, 2), places)), (k.size, n * n))
        return sp.csr_array(halves)

    def __call__(self, x: Point) -> Array:
        if self.rows is None:
            return np.array(x, dtype=np.float64).ravel()
        if isinstance(x, LowRank):
            return self._pair_entries(x)
        return np.asarray(x)[self.rows, self.cols]

    def adjoint(self, y: Array) -> Symmetric:
        """The symmetric matrix with y_k split between (i, j) and (j, i)."""
        if self.rows is None:
            full = y.reshape(self.n, self.n)
            return Symmetric(self.n, dense=0.5 * (full + full.T))
        return Symmetric(self.n, sparse=(self.pattern.fill(y),))

    @cached_property
    def _pair_entries(self) -> PairEntries:
        return PairEntries(self.n, self.rows, self.cols)

    @cached_property
    def pattern(self) -> Pattern:
        """The sparsity pattern of A'y."""
        return Pattern.of(self.n, self.rows, self.cols)
