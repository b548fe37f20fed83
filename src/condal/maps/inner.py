"""Inner products with given symmetric matrices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Point
from condal.linalg.rounding import row_norms
from condal.linalg.sparse import diagonal_matrix, max_column_entries
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.maps.entries import Entries, Pattern
from condal.maps.triplets import from_matrices, from_rows, from_triplets


@dataclass(frozen=True, eq=False)
class Inner(BasicMap):
    r"""Inner products with symmetric matrices, :math:`(A x)_i = \langle A_i, x \rangle`.

    The matrices share one pattern: :math:`A x = G x_{\text{pattern}}`, so neither an image nor an
    adjoint loops over them. `from_triplets` and `from_matrix` take all matrices at once.

    Parameters
    ----------
    matrices : iterable of array_like or sparse matrix
        The symmetric or Hermitian n x n matrices :math:`A_i`.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Inner
    >>> Inner([np.eye(2), np.ones((2, 2))])(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([4., 8.])
    """

    matrices: Iterable[Any]
    _entries: Entries = field(init=False, repr=False)
    _G: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._set(*from_matrices(self.matrices))

    @classmethod
    def from_triplets(
        cls, n: int, owner: Any, *, rows: Any, cols: Any, values: Any, size: int | None = None
    ) -> Inner:
        """Return the map of the matrices with these entries.

        Parameters
        ----------
        n : int
            The side of the matrices.
        owner : array_like of int
            The matrix that each entry belongs to, from 0.
        rows, cols : array_like of int
            The place of each entry. An entry off the diagonal is given once, for both triangles.
        values : array_like of float
            The entries. Those given for one place are added.
        size : int, optional
            The number of matrices; by default the largest owner plus 1.
        """
        return cls._of(*from_triplets(n, owner, rows, cols, values, size))

    @classmethod
    def from_matrix(cls, a: Any) -> Inner:
        """Return the map of the flattened matrices, both triangles, that are the rows of `a`.

        Parameters
        ----------
        a : sparse matrix of shape (p, n * n)
            A row for each matrix.
        """
        return cls._of(*from_rows(a))

    @classmethod
    def _of(cls, n: int, G: Any) -> Inner:
        new = object.__new__(cls)
        new._set(n, G)
        return new

    def _set(self, n: int, upper: Any) -> None:
        """Set the pattern, and G on it, from the flattened upper triangles as rows."""
        slots, where = np.unique(upper.indices, return_inverse=True)
        rows, cols = slots // n, slots % n
        data = upper.data * np.where(rows == cols, 1.0, 2.0)[where.ravel()]
        places = where.ravel().astype(upper.indptr.dtype)
        shape = (upper.shape[0], slots.size)
        object.__setattr__(self, "matrices", upper.shape[0])
        object.__setattr__(self, "_entries", Entries(n, rows, cols))
        object.__setattr__(self, "_G", sp.csr_array((data, places, upper.indptr), shape=shape))

    @property
    def n(self) -> int:
        """The side of x."""
        return self._entries.n

    @property
    def size(self) -> int:
        return int(self._G.shape[0])

    @cached_property
    def norm(self) -> float:
        return operator_norm(self._isometric_rows)

    @property
    def _isometric_rows(self) -> Any:
        """G scaled so that its rows have the inner products <A_i, A_j>.

        These sum twice off the diagonal, and G holds the factor two already.
        """
        weights = np.where(self._entries.rows == self._entries.cols, 1.0, np.sqrt(0.5))
        return sp.csr_array(self._G @ diagonal_matrix(weights))

    def scaled(self, rows: Array) -> Inner:
        copy = object.__new__(Inner)
        G = sp.csr_array(diagonal_matrix(rows) @ self._G)
        for name, value in (("matrices", self.size), ("_entries", self._entries), ("_G", G)):
            object.__setattr__(copy, name, value)
        return copy

    @cached_property
    def terms(self) -> int:
        """The most matrices that share an entry, plus the two triangles."""
        return max_column_entries(self._G) + self._entries.terms

    def row_norms(self) -> Array:
        return row_norms(self._isometric_rows)

    def as_matrix(self) -> Any:
        return sp.csr_array(self._G @ self._entries.as_matrix())

    def __call__(self, x: Point) -> Array:
        return np.asarray(self._G @ self._entries(x))

    def adjoint(self, y: Array) -> Symmetric:
        return Symmetric(self.n, sparse=(self._pattern.fill(y),))

    @cached_property
    def _pattern(self) -> Pattern:
        return self._entries.pattern.after(self._G.T)
