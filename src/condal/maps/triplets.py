"""Many symmetric matrices as one: the flattened upper triangles as rows of a sparse matrix.

They are checked together: thousands of small matrices cost one pass over their entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.lifting import is_complex, symmetric
from condal.linalg.points import Array, Indices
from condal.linalg.sparse import require_sound
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import finite_array, plain_array, refuse_complex, require_whole


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


def indices(given: Any, name: str) -> Indices:
    """Return a checked vector of integers."""
    array = plain_array(given, name, "a vector of integers")
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ProblemError(
            f"{name} must be a vector of integers; got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.intp)


def require_within(array: Indices, most: int, name: str) -> None:
    """Raise ProblemError unless all indices lie in 0..most - 1."""
    if array.size and (array.min() < 0 or array.max() >= most):
        raise ProblemError(
            f"{name} must lie in 0..{most - 1}; got {array.min()}..{array.max()} "
            "(indices start at 0)"
        )


@dataclass(frozen=True, eq=False)
class _Coordinates:
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
        if len(a.shape) != 2 or a.shape[0] != a.shape[1] or a.shape[0] == 0:
            raise ProblemError(
                f"{name} must be a square matrix, at least 1 x 1; got shape {a.shape}"
            )
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
