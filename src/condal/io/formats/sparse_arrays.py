"""Adjacency matrices as SciPy and NumPy save them: .npz of `scipy.sparse.save_npz`, and .npy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from condal.errors import FormatError
from condal.io.formats.adjacency import check_symmetric, sum_entries
from condal.io.formats.arrays import (
    ZIP,
    is_npz,
    names_of_arrays,
    read_array,
    read_arrays,
    read_word,
)
from condal.io.formats.header import most_claimed
from condal.io.formats.npy import MAGIC
from condal.io.formats.text import Text
from condal.io.safe_files import PathLike, first_bytes

HINT = "store A + A.T"
ARRAYS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
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
    return check_symmetric(text, W, hint=HINT)


def _triplets(path: PathLike, text: Text) -> tuple[int, Any, Any, Any]:
    """n, and the rows, columns and values of the entries."""
    kind = kind_of(path, text)
    wanted = ARRAYS[kind]
    arrays = read_arrays(path, ("shape", "data", *wanted))
    w = arrays["data"]
    require_real(text, w, "data")
    n, most = side_of(text, arrays["shape"], w.size)
    for name in wanted:
        require_whole(text, arrays.get(name), name, most + 1)
    one, other = (_signed(arrays.pop(name)) for name in wanted)
    if kind != "coo":
        other = _rows(text, other, n, one.size)
    if not one.shape == other.shape == w.shape or w.ndim != 1:
        raise unequal(text, wanted[0], one.size, w.size)
    if one.size and not (0 <= min(one.min(), other.min()) <= max(one.max(), other.max()) < n):
        raise outside(text, n)
    return (n, other, one, w) if kind == "csr" else (n, one, other, w)


def kind_of(path: PathLike, text: Text) -> str:
    """How a matrix is stored: csr, csc or coo; another is refused."""
    names = names_of_arrays(path)
    if not {"format", "shape", "data"} <= set(names):
        raise text.error(
            f"holds {', '.join(names)[:60] or 'nothing'}, which is no sparse matrix; save one with "
            f"{_SAVE}"
        )
    kind = read_word(path, "format")
    if kind not in ARRAYS:
        raise text.error(f"holds a matrix in the format {kind!a}; save it with {_SAVE}")
    return kind


def side_of(text: Text, shape: Any, entries: int) -> tuple[int, int]:
    """n, of a matrix of that shape, and how many vertices a file of its length may claim."""
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1]:
        raise text.error(
            f"the shape is {tuple(shape.ravel().tolist()[:4])}; a graph needs a square adjacency "
            "matrix"
        )
    # Not by the arrays: what is the same over and over packs to nothing.
    n, most = int(shape[0]), most_claimed(Path(text.path).stat().st_size)
    if not 1 <= n <= most:
        raise text.error(
            f"the shape says {n} vertices, and {entries} entries follow; wanted 1 to {most} "
            "vertices"
        )
    return n, most


def unequal(text: Text, name: str, indices: int, entries: int) -> FormatError:
    """The error of so many indices and entries."""
    return text.error(f"{name} has {indices} entries and data {entries}; the file is damaged")


def outside(text: Text, n: int) -> FormatError:
    """The error of an index that is none."""
    return text.error(f"an index is not in 0..{n - 1}; the file is damaged")


def falling(text: Text, n: int, entries: int) -> FormatError:
    """The error of pointers to where rows begin that are none."""
    return text.error(
        f"indptr must have {n + 1} numbers that rise from 0 to {entries}; the file is damaged"
    )


def _rows(text: Text, indptr: Any, n: int, entries: int) -> Any:
    """The row of each entry, of pointers to where the rows begin; or the column."""
    rising = indptr.shape == (n + 1,) and (indptr[1:] >= indptr[:-1]).all()
    if not rising or indptr[0] != 0 or indptr[-1] != entries:
        raise falling(text, n, entries)
    return np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))


def _signed(array: Any) -> Any:
    """Whole numbers of which differences can be taken."""
    return array if array.dtype == np.int32 else array.astype(np.int64)


def require_whole(text: Text, array: Any, name: str, most: int) -> None:
    """Refuse what is no vector of whole numbers, or has more than `most` of them."""
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise text.error(f"{name} must be there, a vector of whole numbers; the file is damaged")
    if array.size > most:  # before they are made larger
        raise text.error(
            f"{name} has {array.size} numbers, more than the {most} that are read of so small a "
            "file; save it with scipy.sparse.save_npz(path, A, compressed=False), if you trust it"
        )


def require_real(text: Text, array: Any, name: str) -> None:
    """Refuse complex numbers."""
    if array.dtype.kind == "c":
        raise text.error(f"{name} is complex; a graph has real weights: save its real part")
