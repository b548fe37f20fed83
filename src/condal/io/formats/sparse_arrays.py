"""Adjacency matrices that SciPy (`scipy.sparse.save_npz`) and NumPy (.npy) saved."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from condal.errors import FormatError
from condal.io.formats.adjacency import EntryStream, Matrix, graph_of
from condal.io.formats.arrays import (
    StoredArray,
    names_of_arrays,
    read_array,
    read_arrays,
    stored_arrays,
)
from condal.io.formats.entries import max_claim
from condal.io.formats.signatures import ZIP
from condal.io.formats.text import Text
from condal.io.safe_files import UNLIMITED, PathLike, first_bytes

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
        return graph_of(sparse_array_entries(path))[0]
    dense = read_array(path)
    _require_real(text, dense, "the array")
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1] or dense.shape[0] == 0:
        raise text.error(
            f"holds an array of shape {dense.shape}; a graph needs a square adjacency matrix"
        )
    i, j = (places.astype(np.int32) for places in np.nonzero(dense))
    chunks = iter([(i, j, dense[i, j].astype(np.float64))])
    return graph_of(EntryStream(len(dense), Matrix(text, SYMMETRY_HINT), chunks))[0]


def sparse_array_entries(
    path: PathLike, *, count: int = UNLIMITED, most: int | None = None
) -> EntryStream:
    """Return the entries of a saved sparse matrix, `count` at a time.

    `most` is the limit of the bytes of its arrays, as `most_bytes` has it.
    """
    text = Text(os.fsdecode(path), b"")
    kind = _sparse_format(path, text)
    wanted = INDEX_ARRAYS[kind]
    arrays = stored_arrays(path, ("shape", "data", *wanted), most=most)
    data = arrays["data"]
    _require_real(text, data, "data")
    n, largest = _vertex_count(text, read_arrays(path, ("shape",))["shape"], data.size)
    for name in wanted:
        _require_whole(text, arrays.get(name), name, largest + 1)
    inner, outer = (arrays[name] for name in wanted)
    if kind != "coo" and outer.shape != (n + 1,):
        raise _pointer_error(text, n, inner.size)
    sizes = {inner.size, outer.size if kind == "coo" else data.size}
    if data.ndim != 1 or sizes != {data.size}:
        raise text.error(
            f"{wanted[0]} has {inner.size} entries and data {data.size}; the file is damaged"
        )
    rows = _indices if kind == "coo" else _rows
    places = [_indices(text, inner, n, count), rows(text, outer, n, count, data.size)]
    chunks = zip(*(places if kind == "csc" else places[::-1]), data.chunks(count), strict=True)
    floats = ((i, j, w.astype(np.float64, copy=False)) for i, j, w in chunks)
    return EntryStream(n, Matrix(text, SYMMETRY_HINT), floats)


def _sparse_format(path: PathLike, text: Text) -> str:
    """Return the sparse format, csr, csc or coo; refuse any other."""
    names = names_of_arrays(path)
    if not {"format", "shape", "data"} <= set(names):
        raise text.error(
            f"holds {', '.join(names)[:60] or 'nothing'}, which is not a sparse matrix; save one "
            f"with {_SAVE}"
        )
    word = read_arrays(path, ("format",), kinds="SU")["format"].astype(str)
    kind = str(word.item())[:40] if word.size == 1 else ""
    if kind not in INDEX_ARRAYS:
        raise text.error(f"holds a matrix in the format {kind!a}; save it with {_SAVE}")
    return kind


def _vertex_count(text: Text, shape: Any, entries: int) -> tuple[int, int]:
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


def _indices(
    text: Text, stored: StoredArray, n: int, count: int, entries: int = 0
) -> Iterator[Any]:
    """Yield indices in 0 ... n - 1."""
    for part in stored.chunks(count):
        if not 0 <= part.min() <= part.max() < n:
            raise text.error(f"an index is not in 0..{n - 1}; the file is damaged")
        yield part.astype(np.int32 if n < 2**31 else np.int64, copy=False)


def _rows(text: Text, pointers: StoredArray, n: int, count: int, entries: int) -> Iterator[Any]:
    """Yield the row (or column) of each entry, from the pointers to where the rows begin."""
    dtype = np.int32 if n < 2**31 else np.int64
    pending, length = [np.zeros(0, dtype)], 0
    seen, begin = 0, 0  # pointers of the chunks before, and the last of them
    for part in pointers.chunks(count):
        own = part.astype(np.int64)  # signed, so that differences can be negative
        if own[0] < begin or (seen == 0 != own[0]) or (np.diff(own) < 0).any() or own[-1] > entries:
            raise _pointer_error(text, n, entries)
        end = int(own[-1])
        for first in range(begin, end, count):
            last = min(first + count, end)
            low, high = np.searchsorted(own, first, "right"), np.searchsorted(own, last, "left")
            edges = np.concatenate([[first], own[low:high], [last]])
            rows = np.arange(seen + low - 1, seen + high, dtype=dtype)
            pending.append(np.repeat(rows, np.diff(edges)))
            length += last - first
            if length >= count:
                joined = np.concatenate(pending)
                yield joined[:count]
                pending, length = [joined[count:]], length - count
        seen, begin = seen + own.size, end
    if begin != entries:
        raise _pointer_error(text, n, entries)
    if length:
        yield np.concatenate(pending)


def _pointer_error(text: Text, n: int, entries: int) -> FormatError:
    return text.error(
        f"indptr must have {n + 1} numbers that rise from 0 to {entries}; the file is damaged"
    )


def _require_whole(text: Text, array: Any, name: str, most: int) -> None:
    """Refuse an array that is not a vector of at most `most` integers."""
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise text.error(f"{name} must be present, a vector of whole numbers; the file is damaged")
    if array.size > most:  # before they are widened
        raise text.error(
            f"{name} has {array.size} numbers, more than the {most} that are read from so small a "
            "file; save it with scipy.sparse.save_npz(path, A, compressed=False), if you trust it"
        )


def _require_real(text: Text, array: Any, name: str) -> None:
    """Refuse complex numbers."""
    if array.dtype.kind == "c":
        raise text.error(f"{name} is complex; a graph has real weights: save its real part")
