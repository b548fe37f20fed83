"""A H A' for a fixed sparse A and many diagonal H, added to a dense matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

MAX_PAIRS = 2**21
PAIR = 5.0  # ns per pair of entries of a column
GEMM = 0.06  # ns per multiplication and addition of a product


@dataclass(frozen=True, eq=False)
class ScaledGram:
    """The cheapest way: pairs of entries of a column, a dense product, or a sparse one.

    Pair k adds products[k] times the H of columns[k] at places[k] of the matrix.
    """

    A: Any
    places: Indices | None = None
    products: Array | None = None
    columns: Indices | None = None

    @classmethod
    def of(cls, A: Any) -> ScaledGram:
        """Plan for a matrix in CSR."""
        m, n = A.shape
        lengths = np.bincount(A.indices, minlength=n)
        pairs = float((lengths.astype(np.float64) ** 2).sum())
        if GEMM * m * m * n <= PAIR * pairs:
            return cls(A.toarray())
        if pairs > MAX_PAIRS:
            return cls(A)
        by_column = sp.csc_array(A)
        column = np.repeat(np.arange(n), lengths)
        times = lengths[column]  # each entry meets all entries of its column
        first = np.repeat(np.arange(A.nnz), times)
        begins = np.cumsum(times) - times
        second = by_column.indptr[column[first]] + np.arange(first.size) - begins[first]
        rows, data = by_column.indices.astype(np.int64), by_column.data
        return cls(A, m * rows[first] + rows[second], data[first] * data[second], column[first])

    def add(self, M: Array, H: Array) -> None:
        """M += A H A', with H the diagonal."""
        A = self.A
        if self.places is not None and self.products is not None:
            np.add.at(M.reshape(-1), self.places, self.products * H[self.columns])
        elif isinstance(A, np.ndarray):
            M += (A * H) @ A.T
        else:
            scaled = sp.csr_array((A.data * H[A.indices], A.indices, A.indptr), A.shape)
            M += (scaled @ A.T).toarray()
