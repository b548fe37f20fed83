"""Adjacency matrices as SciPy and NumPy save them: .npz of `scipy.sparse.save_npz`, and .npy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from condal.formats.adjacency import check_symmetric, sum_entries
from condal.formats.arrays import ZIP, is_npz, names_of_arrays, read_array, read_arrays, read_word
from condal.formats.header import most_claimed
from condal.formats.npy import MAGIC
from condal.formats.text import Text
from condal.regular import PathLike, first_bytes

_HINT = "store A + A.T"
_SAVE = "scipy.sparse.save_npz(path, A.tocsr())"


def is_saved_array(path: PathLike) -> bool:
    """Whether a file is a .npz archive or a .npy array, by its first bytes."""
    return first_bytes(path, len(MAGIC)) == MAGIC or is_npz(path)


def read_sparse_array(path: PathLike) -> sparse.csr_array:
    """W = W^T of a matrix saved by `scipy.sparse.save_npz`, or of a square array by `numpy.save`;
    symmetric to 1e-12 of each entry, of which the upper triangle is then taken for both. Nothing
    is unpickled."""
    text = Text(os.fsdecode(path), b"")
    if first_bytes(path, len(ZIP)) == ZIP:
        n, i, j, w = _triplets(path, text)
    else:
        dense = _real(text, read_array(path), "the array")
        if dense.ndim != 2 or dense.shape[0] != dense.shape[1] or dense.shape[0] == 0:
            raise text.error(
                f"holds an array of shape {dense.shape}; a graph needs a square adjacency matrix"
            )
        n, (i, j) = len(dense), np.nonzero(dense)
        w = dense[i, j]
    W = sum_entries(text, n, i.astype(np.int32), j.astype(np.int32), w.astype(np.float64))
    return check_symmetric(text, W, hint=_HINT)


def _triplets(path: PathLike, text: Text) -> tuple[int, Any, Any, Any]:
    """n, and the rows, columns and values of the entries."""
    names = names_of_arrays(path)
    if not {"format", "shape", "data"} <= set(names):
        raise text.error(
            f"holds {', '.join(names)[:60] or 'nothing'}, which is no sparse matrix; save one with "
            f"{_SAVE}"
        )
    kind = read_word(path, "format")
    if kind not in ("csr", "csc", "coo"):
        raise text.error(f"holds a matrix in the format {kind!a}; save it with {_SAVE}")
    wanted = ("row", "col") if kind == "coo" else ("indices", "indptr")
    arrays = read_arrays(path, ("shape", "data", *wanted))
    shape, w = arrays["shape"], _real(text, arrays["data"], "data")
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1]:
        raise text.error(
            f"the shape is {tuple(shape.ravel().tolist()[:4])}; a graph needs a square adjacency "
            "matrix"
        )
    # Not by the arrays: what is the same over and over packs to nothing.
    n, most = int(shape[0]), most_claimed(Path(text.path).stat().st_size)
    if not 1 <= n <= most:
        raise text.error(
            f"the shape says {n} vertices, and {w.size} entries follow; wanted 1 to {most} vertices"
        )
    one, other = (_whole(text, arrays.get(name), name, most + 1) for name in wanted)
    if kind != "coo":
        other = _rows(text, other, n, one.size)
    if not one.shape == other.shape == w.shape or w.ndim != 1:
        raise text.error(
            f"{wanted[0]} has {one.size} entries and data {w.size}; the file is damaged"
        )
    if one.size and not (0 <= min(one.min(), other.min()) <= max(one.max(), other.max()) < n):
        raise text.error(f"an index is not in 0..{n - 1}; the file is damaged")
    return (n, other, one, w) if kind == "csr" else (n, one, other, w)


def _rows(text: Text, indptr: Any, n: int, entries: int) -> Any:
    """The row of each entry, of pointers to where the rows begin; or the column."""
    rising = indptr.shape == (n + 1,) and (np.diff(indptr) >= 0).all()
    if not rising or indptr[0] != 0 or indptr[-1] != entries:
        raise text.error(
            f"indptr must have {n + 1} numbers that rise from 0 to {entries}; the file is damaged"
        )
    return np.repeat(np.arange(n), np.diff(indptr))


def _whole(text: Text, array: Any, name: str, most: int) -> Any:
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise text.error(f"{name} must be there, a vector of whole numbers; the file is damaged")
    if array.size > most:  # before they are made larger
        raise text.error(
            f"{name} has {array.size} numbers, more than the {most} that are read of so small a "
            "file; save it with scipy.sparse.save_npz(path, A, compressed=False), if you trust it"
        )
    return array.astype(np.int64)


def _real(text: Text, array: Any, name: str) -> Any:
    if array.dtype.kind == "c":
        raise text.error(f"{name} is complex; a graph has real weights: save its real part")
    return array
