"""Read some rows of a folder of shards, or all of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.io.container.array_file import DTYPES
from condal.io.formats.adjacency import same
from condal.io.safe_files import PathLike
from condal.runtime.limits import size
from condal.runtime.text import escape_terminal
from condal_mpi.shards.manifest import MANIFEST, SHARDS, Manifest, read_manifest
from condal_mpi.shards.shard import read_pieces


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
