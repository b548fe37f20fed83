"""Valid and invalid forms of arrays that hold the same numbers."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def strided(a: np.ndarray) -> np.ndarray:
    """Return every second entry of a larger array with other values between."""
    larger = np.full(tuple(2 * side for side in a.shape), 7, dtype=a.dtype)
    view = larger[tuple(slice(None, None, 2) for _ in a.shape)]
    view[...] = a
    return view


def read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


LAYOUTS = {
    "read-only": read_only,
    "strided": strided,
    "fortran-ordered": np.asfortranarray,
    "backwards": lambda a: a[::-1].copy()[::-1],
    "of the other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "list": lambda a: a.tolist(),
}


def stored(a: Any, *, twice: bool = False) -> Any:
    """Return CSR with columns in falling order and a stored zero per row, and each entry in two
    halves if `twice`."""
    data, indices, ends = [], [], [0]
    for row in np.asarray(a):
        for j in np.flatnonzero(row)[::-1]:
            times = 2 if twice else 1
            data += [row[j] / times] * times
            indices += [j] * times
        empty = np.flatnonzero(row == 0)
        data += [0.0] * min(1, empty.size)
        indices += empty[:1].tolist()
        ends.append(len(indices))
    parts = np.array(data), np.array(indices, dtype=np.int32), np.array(ends, dtype=np.int32)
    return sp.csr_array(parts, shape=np.shape(a))


def halves(a: Any) -> Any:
    """Return COO with each entry given as two halves."""
    matrix = sp.coo_array(np.asarray(a))
    places = (np.tile(matrix.row, 2), np.tile(matrix.col, 2))
    return sp.coo_array((np.tile(matrix.data, 2) / 2, places), shape=matrix.shape)


def zeros_written(a: Any) -> Any:
    """Return a sparse matrix with every entry stored, zeros as well."""
    rows, cols = np.indices(np.shape(a)).reshape(2, -1)
    return sp.coo_array((np.asarray(a).ravel(), (rows, cols)), shape=np.shape(a))


def long_indices(a: Any) -> Any:
    matrix = sp.csr_array(np.asarray(a))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


SPARSE = {
    "duplicate COO entries": halves,
    "unsorted CSR": stored,
    "unsorted CSR with duplicates": lambda a: stored(a, twice=True),
    "explicit zeros": zeros_written,
    "CSR": lambda a: sp.csr_array(np.asarray(a)),
    "CSC": lambda a: sp.csc_array(np.asarray(a)),
    "BSR": lambda a: sp.bsr_array(np.asarray(a)),
    "DIA": lambda a: sp.dia_array(np.asarray(a)),
    "LIL": lambda a: sp.lil_array(np.asarray(a)),
    "a matrix of SciPy's": lambda a: sp.csr_matrix(np.asarray(a)),
    "indices of 64 bits": long_indices,
}


def _broken_csr(a: Any, index: int) -> Any:
    matrix = sp.csr_array(np.asarray(a))
    matrix.indices[0] = index
    return matrix


def _past_the_rows(a: Any) -> Any:
    matrix = sp.coo_array(np.asarray(a))
    matrix.row[-1] = np.shape(a)[0] + 5
    return matrix


def _past_the_rows_by_columns(a: Any) -> Any:
    matrix = sp.csc_array(np.asarray(a))
    matrix.indices[0] = np.shape(a)[0]
    return matrix


def _falling_pointers(a: Any) -> Any:
    matrix = sp.csr_array(np.asarray(a))
    matrix.indptr[0] = 1
    return matrix


BROKEN = {
    "a column too high": (lambda a: _broken_csr(a, np.shape(a)[1]), "has the column index"),
    "a negative column": (lambda a: _broken_csr(a, -1), "has the column index -1"),
    "a row too high": (_past_the_rows, "has the row index"),
    "a row too high, in CSC": (_past_the_rows_by_columns, "has the row index"),
    "pointers": (_falling_pointers, r"has pointers \(indptr\) that do not rise from 0"),
}


def arrays_of(a: Any) -> list[np.ndarray]:
    """Return the memory that holds the numbers of a."""
    if not sp.issparse(a):
        return [a] if isinstance(a, np.ndarray) else [np.array(a)]
    if a.format in ("csr", "csc", "bsr"):
        return [a.data, a.indices, a.indptr]
    return [a.data, a.row, a.col] if a.format == "coo" else [a.toarray()]


def frozen(a: Any) -> Any:
    """Return a read-only version of a."""
    for part in arrays_of(a):
        part.flags.writeable = False
    return a
