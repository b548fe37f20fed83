"""The file of one shard: some rows of W, in pieces.

It is a container of one file. A piece is a range of rows: the number of entries of each row, their
columns, their weights, the labels of the rows if vertices have any, and the numbers of the rows in
the converted file if they were renumbered. Each array has its own SHA-256: a rank reads and checks
only the pieces that hold rows of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.io.container.array_file import (
    DIGEST_BYTES,
    DTYPES,
    Head,
    head_bytes,
    read_head,
    write_file,
)
from condal.io.container.atomic import created
from condal.io.safe_files import opened
from condal_mpi.shards.manifest import SHARDS, Manifest, ShardRecord, index_of, name_of

PIECE_NUMBERS = 1 << 20  # rows and entries of a piece, unless one row has more
_WEIGHT, _LABEL = "<f8", "<i8"


class Piece(NamedTuple):
    """The entries of some rows: their number per row, columns and weights; and the rows' labels and
    numbers in the file, if they are stored."""

    counts: Any
    columns: Any
    weights: Any
    labels: Any
    numbers: Any


def write_shard(
    folder: Path,
    number: int,
    begin: int,
    block: sparse.csr_array,
    labels: Any = None,
    numbers: Any = None,
) -> ShardRecord:
    """Write the rows of W from `begin` on, in canonical form, as a shard of the folder.

    `numbers` are those of the rows in the file, from 0, if they are in another order.
    """
    n, index = int(block.shape[1]), DTYPES[index_of(int(block.shape[1]))]
    cuts = _cuts(block.indptr)
    arrays: list[npt.NDArray[Any]] = []
    for first, last in pairwise(cuts):
        entries = slice(int(block.indptr[first]), int(block.indptr[last]))
        arrays.append(np.diff(block.indptr[first : last + 1]).astype(index, copy=False))
        arrays.append(block.indices[entries].astype(index, copy=False))
        arrays.append(block.data[entries].astype(np.float64, copy=False))
        stored = (values for values in (labels, numbers) if values is not None)
        arrays += [np.ascontiguousarray(values[first:last], np.int64) for values in stored]
    head = head_bytes(SHARDS, {"shard": number, "begin": begin, "n": n}, cuts, arrays)
    with created(folder / name_of(number)) as file:
        write_file(file, head, arrays)
        size = file.tell()
    return ShardRecord(block.shape[0], int(block.nnz), size, head[-DIGEST_BYTES:].hex())


def _cuts(indptr: Any) -> list[int]:
    """Return where pieces begin, by the number of rows and entries before them, and the end."""
    before = indptr.astype(np.int64) - indptr[0] + np.arange(indptr.size)
    places = np.searchsorted(before, np.arange(0, before[-1], PIECE_NUMBERS), side="left")
    return [*np.unique(places[places < indptr.size - 1]).tolist(), indptr.size - 1]


def read_pieces(
    folder: Path, manifest: Manifest, number: int, begin: int, end: int
) -> Iterator[Piece]:
    """Yield the rows begin ... end - 1 of W as far as the shard holds them, piece by piece.

    FormatError unless the file is the one that the manifest names, and its numbers form rows of an
    n x n matrix in canonical form.
    """
    path, first_row = str(folder / name_of(number)), manifest.ends[number]
    with opened(path) as file:
        head = read_head(SHARDS, file, path)
        if head.digest != manifest.shards[number].sha256:
            SHARDS.refuse("it is not the shard that the manifest names", path)
        try:
            cuts = _checked_cuts(head, manifest, number)
            width = 3 + manifest.labelled + manifest.renumbered
            for k, (a, b) in enumerate(pairwise(cuts)):
                low, high = max(begin - first_row - a, 0), min(end - first_row, b) - a
                if low < high:
                    entries = head.arrays[width * k : width * (k + 1)]
                    file.seek(head.begin + entries[0].offset, os.SEEK_SET)
                    counts, columns, weights, *stored = [entry.read(file) for entry in entries]
                    labels = stored.pop(0) if manifest.labelled else None
                    numbers = stored.pop(0) if manifest.renumbered else None
                    piece = Piece(counts, columns, weights, labels, numbers)
                    _require_rows(piece, manifest.n)
                    yield _sliced(piece, low, high)
        except ValueError as error:
            SHARDS.refuse(str(error), path)


def _checked_cuts(head: Head, manifest: Manifest, number: int) -> list[int]:
    """Return the cuts of a shard; ValueError unless its arrays are those that the cuts ask for."""
    shard, cuts = manifest.shards[number], head.skeleton
    if head.about != {"shard": number, "begin": manifest.ends[number], "n": manifest.n}:
        raise ValueError("its rows are not those that the manifest names")
    whole = isinstance(cuts, list) and all(type(cut) is int for cut in cuts)
    if not whole or len(cuts) < 2 or any(a >= b for a, b in pairwise(cuts)):
        raise ValueError("its pieces have no rows")
    if cuts[0] != 0 or cuts[-1] != shard.rows:
        raise ValueError("its pieces are not its rows")
    per_row = manifest.labelled + manifest.renumbered  # further arrays
    dtypes = [manifest.index, manifest.index, _WEIGHT, *([_LABEL] * per_row)]
    width, entries = len(dtypes), 0
    if [entry.dtype for entry in head.arrays] != dtypes * (len(cuts) - 1):
        raise ValueError("its arrays are of other dtypes, or not of its pieces")
    for k, (a, b) in enumerate(pairwise(cuts)):
        shapes = [entry.shape for entry in head.arrays[width * k : width * (k + 1)]]
        rows, wanted = (b - a,), shapes[1]
        if shapes != [rows, wanted, wanted, *([rows] * per_row)] or len(wanted) != 1:
            raise ValueError("the arrays of a piece have other lengths than its rows")
        entries += wanted[0]
    if entries != shard.entries:
        raise ValueError("its entries are not those that the manifest counts")
    return cuts


def _require_rows(piece: Piece, n: int) -> None:
    """Raise ValueError unless the columns of each row rise within 0 ... n - 1, and the numbers of
    the rows are among these."""
    counts, columns, numbers = piece.counts, piece.columns, piece.numbers
    if numbers is not None and (numbers.min() < 0 or numbers.max() >= n):
        raise ValueError(f"the number of a row is not one of 0 to {n - 1}")
    if counts.min() < 0 or int(counts.sum(dtype=np.int64)) != columns.size:
        raise ValueError("the entries of the rows of a piece do not add up")
    if not columns.size:
        return
    starts = np.cumsum(counts, dtype=np.int64)[:-1]
    falls = np.flatnonzero(columns[1:] <= columns[:-1]) + 1
    if not np.isin(falls, starts).all() or columns.min() < 0 or columns.max() >= n:
        raise ValueError(f"the columns of a row do not rise within 0 to {n - 1}")
    if not np.isfinite(piece.weights).all() or not piece.weights.all():
        raise ValueError("a weight is zero or not finite")


def _sliced(piece: Piece, first: int, last: int) -> Piece:
    """Return some rows of a piece."""
    begin = int(piece.counts[:first].sum(dtype=np.int64))
    entries = slice(begin, begin + int(piece.counts[first:last].sum(dtype=np.int64)))
    of_rows = (None if of is None else of[first:last] for of in (piece.labels, piece.numbers))
    return Piece(piece.counts[first:last], piece.columns[entries], piece.weights[entries], *of_rows)
