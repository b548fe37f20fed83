"""Maps that read entries of a symmetric matrix: its diagonal, its row sums, any of its entries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.maps.combined import Scaled
from condal.operators import Symmetric
from condal.points import Array, LowRank, Point, require_whole


@dataclass(frozen=True)
class Diagonal:
    """Ax = diag(x), for x symmetric n x n."""

    n: int

    def __post_init__(self) -> None:
        require_whole(self.n, "n")

    @property
    def size(self) -> int:
        """n."""
        return self.n

    @property
    def norm(self) -> float:
        """1."""
        return 1.0

    def scaled(self, rows: Array) -> Scaled:
        """rows * Ax."""
        return Scaled(self, rows)

    @property
    def terms(self) -> int:
        """1."""
        return 1

    @property
    def diagonal_rows(self) -> Array:
        """1, ..., 1."""
        return np.ones(self.n)

    def row_norms(self) -> Array:
        """All 1."""
        return np.ones(self.n)

    def __call__(self, x: Point) -> Array:
        """diag(x)."""
        if isinstance(x, LowRank):
            if x.rank == 1:
                u = x.U[:, 0]
                return x.weights[0] * (u * u)
            return np.einsum("ij,ij,j->i", x.U, x.U, x.weights)
        return np.diagonal(np.asarray(x)).copy()

    def adjoint(self, y: Array) -> Symmetric:
        """Diag(y)."""
        return Symmetric(self.n, diagonal=y)


@dataclass(frozen=True)
class RowSums:
    """Ax = x 1, for x symmetric n x n."""

    diagonal_rows = None

    n: int

    def __post_init__(self) -> None:
        require_whole(self.n, "n")

    @property
    def size(self) -> int:
        """n."""
        return self.n

    @property
    def norm(self) -> float:
        """sqrt(n): A'y = (y 1' + 1 y')/2, and AA' has the largest eigenvalue n, at y = 1."""
        return float(np.sqrt(self.n))

    def scaled(self, rows: Array) -> Scaled:
        """rows * Ax."""
        return Scaled(self, rows)

    @property
    def terms(self) -> int:
        """2."""
        return 2

    def row_norms(self) -> Array:
        """All sqrt((n + 1)/2)."""
        return np.full(self.n, np.sqrt((self.n + 1) / 2))

    def __call__(self, x: Point) -> Array:
        """x 1."""
        if isinstance(x, LowRank):
            return x.U @ (x.weights * x.U.sum(axis=0))
        return np.asarray(x).sum(axis=1)

    def adjoint(self, y: Array) -> Symmetric:
        """(y 1' + 1 y')/2."""
        return Symmetric(self.n, pairs=((y, np.ones(self.n)),))


@dataclass(frozen=True, eq=False)
class Entries:
    """(Ax)_k = x[rows_k, cols_k], for x symmetric n x n; without rows and cols, all n^2 entries."""

    diagonal_rows = None

    n: int
    rows: Any = None
    cols: Any = None

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        if (self.rows is None) != (self.cols is None):
            raise ProblemError("Entries takes both rows and cols, or neither (all entries)")
        if self.rows is None:
            return
        rows, cols = (
            self._indices(i, name) for i, name in ((self.rows, "rows"), (self.cols, "cols"))
        )
        if rows.shape != cols.shape:
            raise ProblemError(f"rows and cols differ in length: {rows.size} and {cols.size}")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cols", cols)

    def _indices(self, indices: Any, name: str) -> Any:
        array = np.asarray(indices)
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
            raise ProblemError(
                f"{name} must be a vector of integers; got {array.dtype} of shape {array.shape}"
            )
        if array.size and (array.min() < 0 or array.max() >= self.n):
            raise ProblemError(
                f"{name} must lie in 0..{self.n - 1}; got {array.min()}..{array.max()} "
                "(indices start at 0)"
            )
        return array.astype(np.intp)

    @property
    def size(self) -> int:
        """How many entries."""
        return self.n * self.n if self.rows is None else int(self.rows.size)

    @cached_property
    def norm(self) -> float:
        """1 if a diagonal entry is seen once; more where entries are seen again."""
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

    def scaled(self, rows: Array) -> Scaled:
        """rows * Ax."""
        return Scaled(self, rows)

    @cached_property
    def terms(self) -> int:
        """Two, or as often as an entry is seen from both sides."""
        return 2 if self.rows is None else self._pattern.terms

    def row_norms(self) -> Array:
        """1 on the diagonal, 1/sqrt(2) off it."""
        if self.rows is None:
            norms = np.full((self.n, self.n), np.sqrt(0.5))
            np.fill_diagonal(norms, 1.0)
            return norms.ravel()
        return np.where(self.rows == self.cols, 1.0, np.sqrt(0.5))

    def __call__(self, x: Point) -> Array:
        """The entries of x."""
        if self.rows is None:
            return np.array(x, dtype=np.float64).ravel()
        if isinstance(x, LowRank):
            if x.rank == 1:
                u = x.U[:, 0]
                return x.weights[0] * (u[self.rows] * u[self.cols])
            total = np.zeros(self.size)
            for u, weight in zip(x.U.T, x.weights, strict=True):
                total += weight * (u[self.rows] * u[self.cols])
            return total
        return np.asarray(x)[self.rows, self.cols]

    def adjoint(self, y: Array) -> Symmetric:
        """The symmetric matrix with y_k split between (i, j) and (j, i)."""
        if self.rows is None:
            full = y.reshape(self.n, self.n)
            return Symmetric(self.n, dense=0.5 * (full + full.T))
        return Symmetric(self.n, sparse=(self._pattern.fill(y),))

    @cached_property
    def _pattern(self) -> _Pattern:
        return _Pattern.of(self.n, self.rows, self.cols)


@dataclass(frozen=True, eq=False)
class _Pattern:
    """A CSR array of fixed pattern whose data are a fixed sparse combination of y."""

    indices: Any
    indptr: Any
    spread: Any
    n: int

    @classmethod
    def of(cls, n: int, rows: Any, cols: Any) -> _Pattern:
        both = np.concatenate([rows, cols]), np.concatenate([cols, rows])
        key = both[0] * n + both[1]
        slots, where = np.unique(key, return_inverse=True)
        p = rows.size
        halves = sp.coo_array(
            (np.full(2 * p, 0.5), (where.ravel(), np.tile(np.arange(p), 2))), shape=(slots.size, p)
        )
        indptr = np.searchsorted(slots, np.arange(n + 1) * n)
        small = np.int32 if slots.size < 2**31 else np.int64
        return cls((slots % n).astype(small), indptr.astype(small), sp.csr_array(halves), n)

    @property
    def terms(self) -> int:
        return int(np.diff(self.spread.indptr).max(initial=0))

    def fill(self, y: Array) -> Any:
        return sp.csr_array((self.spread @ y, self.indices, self.indptr), shape=(self.n, self.n))
