"""Products of a matrix with rectangular matrices: the predictions of multi-response models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.rounding import row_norms
from condal.linalg.sparse import max_column_entries, stored_matrix
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.runtime.arguments import refuse_complex, require_whole

MAX_MATRIX_ENTRIES = 1.5e7  # of the map as a sparse matrix


@dataclass(frozen=True, eq=False)
class LeftProduct(BasicMap):
    r"""The product :math:`x \mapsto a x`, flattened row by row, for x of NuclearBall(m, n).

    Images are computed from the factors of x. A gradient, of side m + n, stores only the corners
    :math:`a^T Y / 2` and its transpose.

    Parameters
    ----------
    a : array_like or sparse matrix of shape (p, m)
        The matrix.
    n : int
        The number of columns of x.
    """

    a: Any
    n: int

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        name = "the matrix a of LeftProduct"
        refuse_complex(getattr(self.a, "dtype", None), name)
        object.__setattr__(self, "a", stored_matrix(self.a, name))

    @property
    def m(self) -> int:
        """The number of rows of x."""
        return int(self.a.shape[1])

    @property
    def side(self) -> int:
        """m + n."""
        return self.m + self.n

    @property
    def size(self) -> int:
        return int(self.a.shape[0]) * self.n

    @cached_property
    def norm(self) -> float:
        """|a| / sqrt(2), as an entry of x appears in two corners."""
        return operator_norm(self.a) / float(np.sqrt(2.0))

    @cached_property
    def terms(self) -> int:
        return max_column_entries(self.a)

    def row_norms(self) -> Array:
        return np.repeat(np.sqrt(0.5) * row_norms(self.a), self.n)

    def as_matrix(self) -> Any | None:
        """a_ik/2 at (k, m + j) and (m + j, k), for each i and j; None if these are too many."""
        a, side = sp.coo_array(self.a), self.side
        if 2.0 * a.nnz * self.n > MAX_MATRIX_ENTRIES:
            return None
        j = np.tile(np.arange(self.n), a.nnz)
        i, k = np.repeat(a.row.astype(np.int64), self.n), np.repeat(a.col.astype(np.int64), self.n)
        places = np.concatenate([k * side + self.m + j, (self.m + j) * side + k])
        values, rows = np.tile(0.5 * np.repeat(a.data, self.n), 2), np.tile(i * self.n + j, 2)
        return sp.csr_array(sp.coo_array((values, (rows, places)), (self.size, side * side)))

    def __call__(self, x: Point) -> Array:
        if isinstance(x, LowRank):
            image = ((self.a @ x.U[: self.m]) * x.weights) @ x.U[self.m :].T
        else:
            image = self.a @ np.asarray(x)[: self.m, self.m :]
        return np.ravel(image)

    def adjoint(self, y: Array) -> Symmetric:
        half = 0.5 * np.asarray(self.a.T @ y.reshape(-1, self.n))
        data = np.concatenate([half.ravel(), half.T.ravel()])
        corners = sp.csr_array((data, *self._corners), shape=(self.side, self.side))
        return Symmetric(self.side, sparse=(corners,))

    @cached_property
    def _corners(self) -> tuple[Any, Any]:
        """The indices and row ends of a CSR array of both corners."""
        m, n = self.m, self.n
        upper, lower = np.tile(np.arange(m, m + n), m), np.tile(np.arange(m), n)
        ends = np.concatenate([[0], np.cumsum(np.repeat([n, m], [m, n]))])
        kind = np.int32 if ends[-1] <= np.iinfo(np.int32).max else np.int64
        return np.concatenate([upper, lower]).astype(kind), ends.astype(kind)
