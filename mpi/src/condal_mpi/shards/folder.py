"""Read rows of a folder of shards, or all, and write a graph in memory as such a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.io.container.array_file import DTYPES
from condal.io.container.atomic import replacing_folder, write_errors
from condal.io.formats.adjacency import mirror, same
from condal.io.formats.writing import upper_triangle
from condal.io.safe_files import PathLike
from condal.runtime.limits import size
from condal.runtime.text import escape_terminal
from condal_mpi.shards.manifest import (
    MANIFEST,
    MAX_SHARDS,
    SHARD_FOLDER,
    SHARDS,
    Manifest,
    ShardRecord,
    read_manifest,
)
from condal_mpi.shards.shard import read_pieces, write_shard


@dataclass(frozen=True, eq=False)
class GraphRows:
    """Some rows of W = W', a CSR array of n columns, their labels and their numbers.

    The labels are those of an edge list, and count from 1 for other formats. The numbers are those
    of the rows in the converted file, from 0: the rows may be stored in another order.
    """

    W: sparse.csr_array = field(repr=False)
    labels: npt.NDArray[np.int64] = field(repr=False)
    numbers: npt.NDArray[np.int64] = field(repr=False)

    @property
    def n(self) -> int:
        """The number of vertices of the graph."""
        return int(self.W.shape[1])


@dataclass(frozen=True)
class ShardFolder:
    """A folder of shards whose manifest was read."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: PathLike) -> ShardFolder:
        """Read the manifest; FormatError if it is damaged or does not fit the files."""
        folder = Path(os.fsdecode(path))
        return cls(folder, read_manifest(folder))

    def rows(self, begin: int, end: int) -> GraphRows:
        """Read the rows begin ... end - 1; only the pieces that hold them are read and checked."""
        ends, n = self.manifest.ends, self.manifest.n
        pieces = [
            piece
            for number in range(len(self.manifest.shards))
            if max(begin, ends[number]) < min(end, ends[number + 1])
            for piece in read_pieces(self.path, self.manifest, number, begin, end)
        ]
        columns: list[list[Any]] = [list(column) for column in zip(*pieces, strict=True)]
        del pieces
        # Popped one by one, so that only one column is in memory twice.
        counts, indices, weights = (np.concatenate(columns.pop(0)) for _ in range(3))
        labels, numbers = map(_joined, columns)
        numbers = np.arange(begin, end) if numbers is None else numbers
        indptr = np.zeros(end - begin + 1, dtype=DTYPES[self.manifest.index])
        if indices.size > np.iinfo(indptr.dtype).max:
            indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        np.cumsum(counts, out=indptr[1:])
        W = sparse.csr_array((weights, indices, indptr), shape=(end - begin, n))
        return GraphRows(W, numbers + 1 if labels is None else labels, numbers)


def _joined(arrays: Sequence[Any]) -> Any:
    """Return the arrays one after the other; None if there are none."""
    return None if arrays[0] is None else np.concatenate(arrays)


def read_shards(path: PathLike) -> GraphRows:
    """Read the whole graph of a folder of shards, in the order of the converted file.

    FormatError unless W is symmetric.
    """
    folder = ShardFolder.open(path)
    graph = folder.rows(0, folder.manifest.n)
    if not same(graph.W, graph.W.T.tocsr()):
        SHARDS.refuse("W is not symmetric", str(folder.path / MANIFEST))
    return in_file_order(graph, folder) if folder.manifest.renumbered else graph


def in_file_order(graph: GraphRows, folder: ShardFolder) -> GraphRows:
    """Return a whole graph with its rows and columns in the order of the converted file.

    FormatError unless the numbers of the rows are a permutation.
    """
    if np.bincount(graph.numbers, minlength=graph.n).max() > 1:
        refuse_numbering(folder)
    place = np.argsort(graph.numbers)
    W = sparse.csr_array(graph.W[place][:, place])
    W.sort_indices()
    return GraphRows(W, graph.labels[place], graph.numbers[place])


def refuse_numbering(folder: ShardFolder) -> NoReturn:
    """Raise FormatError for numbers of rows that are not a permutation."""
    SHARDS.refuse("two rows have the same number", str(folder.path))


def facts(path: str) -> list[tuple[str, str]]:
    """Return names and values that describe a folder of shards."""
    manifest = read_manifest(Path(path))
    sizes = [shard.bytes for shard in manifest.shards]
    source = manifest.source or "a matrix in memory"
    total = f"{len(sizes):,}, {size(sum(sizes))} in total"
    order = [("order of the rows", "renumbered for ranks")] if manifest.renumbered else []
    return [("converted from", escape_terminal(source)), ("shards", total), *order]


SHARD_NUMBERS = 1 << 23  # rows and entries of a shard, by default


def write_shards(
    path: PathLike,
    W: sparse.csr_array | npt.ArrayLike,
    *,
    shards: int | None = None,
    labels: npt.ArrayLike | None = None,
    overwrite: bool = False,
) -> None:
    """Write a graph as a folder of shards, of which any number of ranks read their rows.

    Parameters
    ----------
    path : str or os.PathLike
        The folder to make. It appears whole or not at all.
    W : sparse or dense matrix
        The adjacency matrix :math:`W = W^T`. Zeros are not written.
    shards : int, optional
        The number of shards; by default one per 8 million rows and entries.
    labels : array_like of int, optional
        The labels of the vertices; by default 1 to n.
    overwrite : bool
        Replace an earlier folder of shards; nothing else is ever overwritten.
    """
    with new_folder(path, overwrite=overwrite) as folder:
        whole = mirror(sparse.csr_array(upper_triangle(W)))
        write_rows(folder, whole, shards=shards, labels=_vector(labels, whole.shape[0]))


@contextmanager
def new_folder(path: PathLike, *, overwrite: bool) -> Iterator[Path]:
    """Make a folder to write shards to, which takes its name when the block ends."""
    target = SHARD_FOLDER.check_target(path, overwrite=overwrite)

    def check() -> None:
        SHARD_FOLDER.check_earlier(target, str(target), overwrite)

    with write_errors(path), replacing_folder(target, check) as folder:
        yield folder


def write_rows(
    folder: Path,
    W: sparse.csr_array,
    *,
    shards: int | None = None,
    labels: Any = None,
    numbers: Any = None,
    source: str = "",
) -> Manifest:
    """Write W, in canonical form, and the manifest into a new folder.

    `numbers` are those of the rows in the file, from 0, if they are in another order.
    """
    n = int(W.shape[0])
    before = W.indptr.astype(np.int64) + np.arange(n + 1)
    ends = row_cuts(np.arange(n + 1), before, shard_count(n, int(before[-1]), shards))
    records: list[ShardRecord] = []
    for number, (begin, end) in enumerate(pairwise(ends)):
        own = (None if of is None else of[begin:end] for of in (labels, numbers))
        records.append(write_shard(folder, number, begin, W[begin:end], *own))
    manifest = Manifest(source, n, labels is not None, numbers is not None, tuple(records))
    manifest.write(folder)
    return manifest


def shard_count(n: int, numbers: int, shards: int | None, *, least: int = 1) -> int:
    """Return the number of shards of so many rows and entries; ProblemError if there cannot be.

    `least` is how many the memory asks for.
    """
    if shards is None:
        return min(max(-(-numbers // SHARD_NUMBERS), least), n, MAX_SHARDS)
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise ProblemError(f"shards must be a whole number from 1 on; got {shards!r}")
    if shards > min(n, MAX_SHARDS):
        raise ProblemError(
            f"{n} rows cannot be divided into {shards} shards; give at most {min(n, MAX_SHARDS)}"
        )
    return shards


def row_cuts(rows: Any, before: Any, shards: int) -> list[int]:
    """Return where the rows of each of the shards begin and end, for about equal loads.

    before[k] is the load of the rows before rows[k]; between these places loads are interpolated.
    """
    n = int(rows[-1])
    loads = np.arange(shards + 1) * (float(before[-1]) / shards)
    cuts = np.rint(np.interp(loads, before, rows)).astype(np.int64)
    k = np.arange(shards + 1)
    # Every shard has a row: the cuts are pushed apart, upwards and then downwards.
    cuts = np.maximum.accumulate(np.maximum(cuts, k) - k) + k
    cuts = np.minimum(cuts, n - shards + k)
    cuts[0], cuts[-1] = 0, n
    return [int(cut) for cut in cuts]


def _vector(labels: npt.ArrayLike | None, n: int) -> Any:
    if labels is None:
        return None
    vector = np.asarray(labels)
    if vector.shape != (n,) or vector.dtype.kind not in "iu":
        raise ProblemError(f"labels must be {n} whole numbers; got shape {vector.shape}")
    return vector.astype(np.int64)
