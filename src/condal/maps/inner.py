"""Inner products with given symmetric matrices.

Many matrices are kept as one: the flattened upper triangles are rows of a sparse matrix. They are
checked together: thousands of small matrices cost one pass over their entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.lifting import is_complex, require_square, symmetric
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Indices, Point
from condal.linalg.rounding import row_norms
from condal.linalg.sparse import (
    diagonal_matrix,
    indices,
    max_column_entries,
    require_sound,
    require_within,
)
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.maps.entries import Entries, Pattern
from condal.runtime.arguments import finite_array, refuse_complex, require_whole


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


def from_matrices(matrices: Iterable[Any]) -> tuple[int, Any]:
    """Return n and the upper triangles of matrices in any form."""
    given = list(matrices)
    if any(is_complex(a) for a in given):  # the real ones among them are Hermitian too
        given = [_complex(a) for a in given]
    stored = [_coordinates(a, i) for i, a in enumerate(given)]
    if not stored:
        raise ProblemError("Inner needs at least one matrix; leave A out for no constraint")
    n = stored[0].shape[0]
    for i, a in enumerate(stored):
        if a.shape[0] != n:
            raise ProblemError(
                f"the matrices of Inner differ in size: number 0 is {n} x {n}, "
                f"number {i} is {a.shape[0]} x {a.shape[0]}"
            )
    owner = np.repeat(np.arange(len(stored)), [a.data.size for a in stored])
    rows = np.concatenate([a.row for a in stored])
    cols = np.concatenate([a.col for a in stored])
    values = np.concatenate([a.data for a in stored]).astype(np.float64)
    _require_finite(values, owner)
    return n, _upper(_rows(n, len(stored), owner, _flat(n, rows, cols), values), n)


def from_rows(a: Any) -> tuple[int, Any]:
    """Return n and the upper triangles of the matrices that are the rows of a, p x n^2."""
    if not sp.issparse(a):
        raise ProblemError(
            f"from_matrix takes a SciPy sparse matrix of shape (p, n * n); got {type(a).__name__}"
        )
    n = isqrt(a.shape[1]) if len(a.shape) == 2 else 0
    if n == 0 or n * n != a.shape[1] or a.shape[0] == 0:
        raise ProblemError(
            f"from_matrix takes a row of n * n numbers for each matrix, at least one; "
            f"got shape {a.shape}"
        )
    refuse_complex(a.dtype, "the matrix of Inner")
    require_sound(a, "the matrix of Inner")
    stored = sp.csr_array(a, dtype=np.float64, copy=True)
    stored.sum_duplicates()
    _require_finite(stored.data, _owners(stored))
    return n, _upper(stored, n)


def from_triplets(
    n: int, owner: Any, rows: Any, cols: Any, values: Any, size: int | None
) -> tuple[int, Any]:
    """Return n and the upper triangles; an entry off the diagonal stands for both."""
    p, matrix, i, j, data = require_triplets(n, owner, rows, cols, values, size)
    return n, _rows(n, p, matrix, _flat(n, np.minimum(i, j), np.maximum(i, j)), data)


def require_triplets(
    n: int, owner: Any, rows: Any, cols: Any, values: Any, size: int | None
) -> tuple[int, Indices, Indices, Indices, Array]:
    """Return the number of matrices, and the matrix, row, column and value of each entry."""
    require_whole(n, "n")
    data = finite_array(values, "values", ndim=1)
    given = {"owner": owner, "rows": rows, "cols": cols}
    whole = {name: indices(array, name) for name, array in given.items()}
    for name, array in whole.items():
        if array.size != data.size:
            raise ProblemError(f"{name} and values differ in length: {array.size} and {data.size}")
    p = int(whole["owner"].max(initial=-1)) + 1 if size is None else size
    require_whole(p, "the number of matrices")
    for name, most in (("owner", p), ("rows", n), ("cols", n)):
        require_within(whole[name], most, name)
    return p, whole["owner"], whole["rows"], whole["cols"], data


class _Coordinates(NamedTuple):
    """The stored entries of a sparse matrix."""

    shape: tuple[int, int]
    row: Any
    col: Any
    data: Any


def _complex(a: Any) -> Any:
    """Return a complex copy of a matrix; a Symmetric is in real form already."""
    if isinstance(a, Symmetric):
        return a
    return a.astype(complex) if sp.issparse(a) else np.asarray(a, dtype=complex)


def _coordinates(a: Any, i: int) -> _Coordinates:
    """Return the entries of matrix i; the symmetry of a sparse one is checked later, with all."""
    name = f"matrix {i} of Inner"
    if sp.issparse(a):
        require_square(a.shape, name)
        require_sound(a, name)
        if is_complex(a):
            return _coo(symmetric(a, name).to_sparse())
        if a.format == "csr":  # several times as fast as `tocoo`
            rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
            return _Coordinates(a.shape, rows, a.indices, a.data)
        return _coo(a)
    checked = symmetric(a, name)
    if checked.operators:
        raise ProblemError(f"{name} must be a matrix; got a LinearOperator")
    stored = checked.to_sparse() if checked.factorable else sp.csr_array(checked.to_dense())
    return _coo(stored)


def _coo(a: Any) -> _Coordinates:
    coo = a.tocoo()
    return _Coordinates(a.shape, coo.row, coo.col, coo.data)


def _flat(n: int, rows: Any, cols: Any) -> Any:
    return rows.astype(np.int64) * n + cols


def _rows(n: int, p: int, owner: Any, places: Any, values: Array) -> Any:
    """Return the p x n^2 matrix with these entries, in order, those of one place added."""
    stored = sp.csr_array(sp.coo_array((values, (owner, places)), shape=(p, n * n)))
    stored.sum_duplicates()
    return stored


def _owners(stored: Any) -> Any:
    return np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))


def _require_finite(values: Array, owner: Any) -> None:
    if not np.isfinite(values).all():
        k = int(np.argmin(np.isfinite(values)))
        finite_array(values[k], f"matrix {owner[k]} of Inner (its stored entries)")


def _upper(stored: Any, n: int) -> Any:
    """Return the upper triangles of the rows, which must be symmetric up to rounding."""
    owner, places = _owners(stored), stored.indices.astype(np.int64)
    mirrored = _rows(n, stored.shape[0], owner, places % n * n + places // n, stored.data)
    skew = abs(stored - mirrored).max(axis=1).toarray().ravel()
    wrong = np.flatnonzero(skew > 1e-12 * abs(stored).max(axis=1).toarray().ravel())
    if wrong.size:
        name = f"matrix {wrong[0]} of Inner"
        raise ProblemError(
            f"{name} must be symmetric; it differs from its transpose by {skew[wrong[0]]:.3g}: "
            "pass (A + A') / 2 if that is what you mean"
        )
    if skew.any():
        stored = sp.csr_array(0.5 * (stored + mirrored))
        owner, places = _owners(stored), stored.indices.astype(np.int64)
    keep = places // n <= places % n
    return _rows(n, stored.shape[0], owner[keep], places[keep], stored.data[keep])
