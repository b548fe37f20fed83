"""Adjacency matrices that SciPy (`scipy.sparse.save_npz`) and NumPy (.npy) saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from condal.errors import FormatError
from condal.io.formats.adjacency import check_symmetric, sum_entries
from condal.io.formats.arrays import names_of_arrays, read_array, read_arrays, read_word
from condal.io.formats.header import max_claim
from condal.io.formats.signatures import ZIP
from condal.io.formats.text import Text
from condal.io.safe_files import PathLike, first_bytes

SYMMETRY_HINT = "store A + A.T"
INDEX_ARRAYS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
_SAVE = "scipy.sparse.save_npz(path, A.tocsr())"


def read_sparse_array(path: PathLike) -> sparse.csr_array:
    """Read a graph from a matrix that `scipy.sparse.save_npz` or `numpy.save` saved.

    The matrix must be symmetric to 1e-12 of each entry; its upper triangle counts. Nothing is
    unpickled.

    Parameters
    ----------
    path : str or os.PathLike
        The .npz file, or the .npy file of a square array.

    Returns
    -------
    csr_array
        The adjacency matrix :math:`W = W^T`.
    """
    text = Text(os.fsdecode(path), b"")
    if first_bytes(path, len(ZIP)) == ZIP:
        n, i, j, w = _triplets(path, text)
    else:
        dense = read_array(path)
        require_real(text, dense, "the array")
        if dense.ndim != 2 or dense.shape[0] != dense.shape[1] or dense.shape[0] == 0:
            raise text.error(
                f"holds an array of shape {dense.shape}; a graph needs a square adjacency matrix"
            )
        n, (i, j) = len(dense), np.nonzero(dense)
        w = dense[i, j]
    w = w.astype(np.float64, copy=False)
    W = sum_entries(text, n, i.astype(np.int32, copy=False), j.astype(np.int32, copy=False), w)
    del i, j, w
    return check_symmetric(text, W, hint=SYMMETRY_HINT)


def _triplets(path: PathLike, text: Text) -> tuple[int, Any, Any, Any]:
    """Return n, and the rows, columns and values of the entries."""
    kind = sparse_format(path, text)
    wanted = INDEX_ARRAYS[kind]
    arrays = read_arrays(path, ("shape", "data", *wanted))
    w = arrays["data"]
    require_real(text, w, "data")
    n, most = vertex_count(text, arrays["shape"], w.size)
    for name in wanted:
        require_whole(text, arrays.get(name), name, most + 1)
    inner, outer = (_signed(arrays.pop(name)) for name in wanted)
    if kind != "coo":
        outer = _rows(text, outer, n, inner.size)
    if not inner.shape == outer.shape == w.shape or w.ndim != 1:
        raise length_error(text, wanted[0], inner.size, w.size)
    for places in (inner, outer):
        if places.size and not 0 <= places.min() <= places.max() < n:
            raise index_error(text, n)
    return (n, outer, inner, w) if kind == "csr" else (n, inner, outer, w)


def sparse_format(path: PathLike, text: Text) -> str:
    """Return the sparse format, csr, csc or coo; refuse any other."""
    names = names_of_arrays(path)
    if not {"format", "shape", "data"} <= set(names):
        raise text.error(
            f"holds {', '.join(names)[:60] or 'nothing'}, which is not a sparse matrix; save one "
            f"with {_SAVE}"
        )
    kind = read_word(path, "format")
    if kind not in INDEX_ARRAYS:
        raise text.error(f"holds a matrix in the format {kind!a}; save it with {_SAVE}")
    return kind


def vertex_count(text: Text, shape: Any, entries: int) -> tuple[int, int]:
    """Return n of a matrix of that shape, and how many vertices a file of its size may claim."""
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1]:
        raise text.error(
            f"the shape is {tuple(shape.ravel().tolist()[:4])}; a graph needs a square adjacency "
            "matrix"
        )
    # Not by the sizes of the arrays: repeated numbers take hardly any bytes when packed.
    n, most = int(shape[0]), max_claim(Path(text.path).stat().st_size)
    if not 1 <= n <= most:
        raise text.error(
            f"the shape says {n} vertices, and {entries} entries follow; wanted 1 to {most} "
            "vertices"
        )
    return n, most


def length_error(text: Text, name: str, indices: int, entries: int) -> FormatError:
    """Return the error of an array of indices whose length is not that of the data."""
    return text.error(f"{name} has {indices} entries and data {entries}; the file is damaged")


def index_error(text: Text, n: int) -> FormatError:
    """Return the error of an index out of range."""
    return text.error(f"an index is not in 0..{n - 1}; the file is damaged")


def pointer_error(text: Text, n: int, entries: int) -> FormatError:
    """Return the error of invalid pointers to the first entries of the rows."""
    return text.error(
        f"indptr must have {n + 1} numbers that rise from 0 to {entries}; the file is damaged"
    )


def _rows(text: Text, indptr: Any, n: int, entries: int) -> Any:
    """Return the row (or column) of each entry from the pointers to where the rows begin."""
    rising = indptr.shape == (n + 1,) and (indptr[1:] >= indptr[:-1]).all()
    if not rising or indptr[0] != 0 or indptr[-1] != entries:
        raise pointer_error(text, n, entries)
    return np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))


def _signed(array: Any) -> Any:
    """Return integers whose differences can be negative."""
    return array if array.dtype == np.int32 else array.astype(np.int64)


def require_whole(text: Text, array: Any, name: str, most: int) -> None:
    """Refuse an array that is not a vector of at most `most` integers."""
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise text.error(f"{name} must be present, a vector of whole numbers; the file is damaged")
    if array.size > most:  # before they are widened
        raise text.error(
            f"{name} has {array.size} numbers, more than the {most} that are read from so small a "
            "file; save it with scipy.sparse.save_npz(path, A, compressed=False), if you trust it"
        )


def require_real(text: Text, array: Any, name: str) -> None:
    """Refuse complex numbers."""
    if array.dtype.kind == "c":
        raise text.error(f"{name} is complex; a graph has real weights: save its real part")
