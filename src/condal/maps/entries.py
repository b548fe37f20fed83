"""Maps that read a symmetric matrix: any of its entries, or its row sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap, Scaled
from condal.maps.pattern import PairEntries, Pattern
from condal.maps.triplets import indices, require_within
from condal.runtime.arguments import require_whole
from condal.types import LinearMap

MAX_ENTRIES = 1e8  # of a matrix that is written down: 1.6 GB


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


@dataclass(frozen=True)
class RowSums(BasicMap):
    """The row sums, A x = c x 1, of a symmetric n x n matrix.

    Parameters
    ----------
    n : int
        The side of x.
    factor : float, default 1.0
        The factor c.
    """

    terms = 2

    n: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        if not np.isfinite(self.factor):
            raise ProblemError(f"factor must be a finite number; got {self.factor!r}")

    @property
    def size(self) -> int:
        return self.n

    @property
    def norm(self) -> float:
        """c sqrt(n): A'y = c (y 1' + 1 y')/2, and AA' has the largest eigenvalue c^2 n, at 1."""
        return abs(self.factor) * float(np.sqrt(self.n))

    @property
    def row_sums_factor(self) -> float:
        """c: that A x = c x 1, for methods that know no concrete map."""
        return self.factor

    def scaled(self, rows: Array) -> LinearMap:
        if rows.min() == rows.max():
            return RowSums(self.n, self.factor * float(rows[0]))
        return Scaled(self, rows)

    def row_norms(self) -> Array:
        return np.full(self.n, abs(self.factor) * np.sqrt((self.n + 1) / 2))

    def as_matrix(self) -> Any | None:
        """c (e_i 1' + 1 e_i')/2, flattened, for each i: 2n - 1 entries each; None if too many."""
        if 2 * self.n**2 > MAX_ENTRIES:
            return None
        sums = sp.kron(sp.eye(self.n), np.full((1, self.n), self.factor), format="csr")
        return sp.csr_array(sums @ Entries(self.n).as_matrix())

    def __call__(self, x: Point) -> Array:
        if isinstance(x, LowRank):
            return x.U @ (self.factor * x.weights * x.U.sum(axis=0))
        return self.factor * np.asarray(x).sum(axis=1)

    def adjoint(self, y: Array) -> Symmetric:
        """c (y 1' + 1 y')/2."""
        return Symmetric(self.n, pairs=((self.factor * y, np.ones(self.n)),))
