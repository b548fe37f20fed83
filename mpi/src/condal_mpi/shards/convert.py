"""Convert a graph file of any format to a folder of shards, in bounded memory.

Two numbers bound the memory: a piece of text takes about 30 times its length while it is parsed,
and a shard about 100 bytes per entry while its entries are sorted. The entries of the file go to
one temporary file first. When all are known, the rows are divided into shards of about equal
entries, and each entry goes to the temporary file of its shard; the shards are then sorted in turn.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.io.formats.adjacency import EntryStream
from condal.io.formats.graph_files import entries_of, read_labelled_graph
from condal.io.safe_files import PathLike
from condal.runtime.limits import Bytes, bytes_of, size
from condal_mpi.matrix import local_order
from condal_mpi.shards.folder import new_folder, row_cuts, shard_count, write_rows
from condal_mpi.shards.manifest import Manifest, ShardRecord, index_of
from condal_mpi.shards.shard import write_shard

INDEX, WEIGHT, NUMBER = "<i8", "<f8", "<i8"


class Spill:
    """Files of records i, j, w in a folder, each with the number of its entry where asked for.

    `index` is the dtype of i and j.
    """

    def __init__(self, folder: Path, index: str, *, numbered: bool) -> None:
        self._folder = folder
        names = [("i", index), ("j", index), ("w", WEIGHT)]
        self._dtype = np.dtype([*names, *([("number", NUMBER)] if numbered else [])])

    def append(self, name: str, columns: Sequence[Any]) -> None:
        """Append records to a file."""
        if columns[0].size:
            self._write(name, self._records(columns))

    def spread(self, name: str, ends: Any, columns: Sequence[Any]) -> None:
        """Append each record to the file `name`-k of the range k that has its row i.

        Range k is ends[k] ... ends[k + 1] - 1. The order of records stays.
        """
        k = np.searchsorted(ends, columns[0], side="right") - 1
        order = np.argsort(k, kind="stable")
        records, k = self._records(columns)[order], k[order]
        cuts = np.searchsorted(k, np.arange(len(ends)))
        for number in np.unique(k).tolist():
            self._write(f"{name}-{number}", records[cuts[number] : cuts[number + 1]])

    def chunks(self, name: str, count: int) -> Iterator[tuple[Any, ...]]:
        """Yield the columns of a file, `count` records at a time."""
        if not (path := self._folder / name).exists():
            return
        with path.open("rb") as file:
            while (records := np.fromfile(file, self._dtype, count)).size:
                yield self._columns(records)

    def count(self, name: str) -> int:
        """Return the number of records of a file."""
        path = self._folder / name
        return path.stat().st_size // self._dtype.itemsize if path.exists() else 0

    def take(self, name: str) -> tuple[Any, ...]:
        """Return the columns of a whole file, and remove it."""
        (columns,) = [*self.chunks(name, -1)] or [self._columns(np.empty(0, self._dtype))]
        (self._folder / name).unlink(missing_ok=True)
        return columns

    def _write(self, name: str, records: Any) -> None:
        with (self._folder / name).open("ab") as file:
            file.write(records.view(np.uint8).data)

    def _records(self, columns: Sequence[Any]) -> Any:
        assert self._dtype.names is not None
        records = np.empty(columns[0].size, self._dtype)
        for name, column in zip(self._dtype.names, columns, strict=True):
            records[name] = column
        return records

    def _columns(self, records: Any) -> tuple[Any, ...]:
        """Return the columns, each in its own memory."""
        assert self._dtype.names is not None
        return tuple(np.ascontiguousarray(records[name]) for name in self._dtype.names)


class LabelSet:
    """Distinct labels of vertices in rising order, collected chunk by chunk."""

    def __init__(self) -> None:
        self._sorted = np.empty(0, np.int64)
        self._pending: list[Any] = []

    def add(self, *labels: Any) -> None:
        """Add the labels of some arrays."""
        self._pending.append(np.unique(np.concatenate(labels)))
        # Merged only when they have doubled: the work is n log n for any order of labels.
        if sum(new.size for new in self._pending) > self._sorted.size:
            self._merge()

    @property
    def values(self) -> Any:
        """The labels."""
        if self._pending:
            self._merge()
        return self._sorted

    def _merge(self) -> None:
        self._sorted = np.unique(np.concatenate([self._sorted, *self._pending]))
        self._pending = []


MAX_MEMORY = "1 GB"  # by default
MIN_MEMORY = 16_000_000
PIECE_SHARE, MAX_PIECE_BYTES = 64, 8 << 20  # a piece of text is that part of the memory, at most
BYTES_PER_RECORD = 100  # of a shard, while it is sorted
FILE_ORDER, RCM = ORDERS = ("file", "rcm")  # of the rows
BINS = 1 << 16  # ranges of rows whose entries are counted
ENTRIES, PLACED, BLOCK, TURNED = "entries", "placed", "block", "turned"  # temporary files

Progress = Callable[[str, int, int], Any]


def convert_graph(
    path: PathLike,
    folder: PathLike,
    *,
    shards: int | None = None,
    max_memory: Bytes = MAX_MEMORY,
    overwrite: bool = False,
    order: str = FILE_ORDER,
    progress: Progress | None = None,
) -> Manifest:
    """Convert a graph file to a folder of shards, which appears whole or not at all.

    W is bit-identical to that of `read_graph`, and a file with one fault is refused with the same
    message.
    Rudy, Matrix Market, METIS, edge lists and .npz are read in pieces, at any length. The others
    are read whole.

    Parameters
    ----------
    path : str or os.PathLike
        The file, in any format of `read_graph`.
    folder : str or os.PathLike
        The folder to make.
    shards : int, optional
        The number of shards; by default one per 8 million rows and entries, or as many as the
        memory asks for.
    max_memory : int or str
        How much memory the arrays of the conversion may take. A line of text that is longer than
        1/64 of it, and 40 bytes per vertex of an edge list, come on top.
    overwrite : bool
        Replace an earlier folder of shards; nothing else is ever overwritten.
    order : {"file", "rcm"}
        The order in which the rows are stored: that of the file, or reverse Cuthill-McKee, which
        brings neighbours together, so that ranks have fewer edges between them. The file is read
        whole for the latter. Readers return the vertices in the order of the file in any case.
    progress : callable, optional
        Called with the name of a step, how many entries or shards of it are done, and of how many;
        0 if that is unknown.

    Returns
    -------
    Manifest
        The rows, entries and digests of the shards.
    """
    memory = bytes_of(max_memory)
    if memory < MIN_MEMORY:
        raise ProblemError(f"max_memory must be at least {size(MIN_MEMORY)}; got {size(memory)}")
    if order not in ORDERS:
        raise ProblemError(f"order must be one of {', '.join(ORDERS)}; got {order!r}")
    say = progress or (lambda step, done, of: None)
    source = Path(os.fsdecode(path)).name
    with new_folder(path=folder, overwrite=overwrite) as new:
        stream = None
        if order == FILE_ORDER:
            say("checking", 0, 0)
            piece = int(min(memory / PIECE_SHARE, MAX_PIECE_BYTES))
            stream = entries_of(path, piece_bytes=piece, count=piece // 4)
        if stream is None:
            W, labels = read_labelled_graph(path)
            numbered = bool(np.array_equal(labels, np.arange(1, W.shape[0] + 1)))
            own, numbers = None if numbered else labels, None
            if order == RCM:
                say("ordering", 0, 0)
                W, numbers = cuthill_mckee(W)
                own = None if own is None else own[numbers]
            return write_rows(new, W, shards=shards, labels=own, numbers=numbers, source=source)
        work = new / "work"
        work.mkdir()
        manifest = _Conversion(stream, new, work, memory, say).run(shards, source)
        shutil.rmtree(work)
        manifest.write(new)
        return manifest


def cuthill_mckee(W: sparse.csr_array) -> tuple[sparse.csr_array, npt.NDArray[np.int64]]:
    """Return W with rows and columns in the order of reverse Cuthill-McKee, and this order."""
    numbers = local_order(W)
    ordered = sparse.csr_array(W[numbers][:, numbers])
    ordered.sort_indices()
    return ordered, numbers


class _Conversion:
    """The external sort of the entries of a stream into shards."""

    def __init__(
        self, stream: EntryStream, folder: Path, work: Path, memory: float, say: Progress
    ) -> None:
        self._stream, self._rule = stream, stream.rule
        self._folder, self._work, self._memory, self._say = folder, work, memory, say
        self._chunk = int(memory / PIECE_SHARE / 4)  # records that are read at a time

    def run(self, shards: int | None, source: str) -> Manifest:
        """Write all shards; return the manifest, which is not written yet."""
        labels, entries = self._read()
        n = labels.values.size if self._stream.n is None else self._stream.n
        spill = Spill(self._work, index_of(n), numbered=self._rule.numbered)
        numbers = 2 * entries + n
        least = int(numbers * BYTES_PER_RECORD / (self._memory / 2)) + 1
        count = shard_count(n, numbers, shards, least=least)
        ends = row_cuts(*self._loads(n, labels), count)
        for done, columns in self._placed(labels):
            spill.spread(PLACED, ends, columns)
            self._say("distributing", done, entries)
        (self._work / ENTRIES).unlink(missing_ok=True)
        final = Spill(self._work, index_of(n), numbered=False)
        for k, rows in enumerate(pairwise(ends)):
            self._require_memory(spill.count(f"{PLACED}-{k}"), k, count)
            block = self._rule.block(n, spill.take(f"{PLACED}-{k}"), rows)
            final.append(f"{BLOCK}-{k}", block)
            for i, j, w in final.chunks(f"{BLOCK}-{k}", self._chunk):
                final.spread(TURNED, ends, (j, i, w))
            self._say("sorting", k + 1, count)
        self._rule.end_blocks()
        records: list[ShardRecord] = []
        for k, (begin, end) in enumerate(pairwise(ends)):
            names = f"{BLOCK}-{k}", f"{TURNED}-{k}"
            self._require_memory(sum(map(final.count, names)), k, count)
            block, turned = map(final.take, names)
            W = self._rule.rows(n, block, turned, (begin, end))
            del block, turned
            own = None if self._stream.n is not None else labels.values[begin:end]
            records.append(write_shard(self._folder, k, begin, W, own))
            self._say("writing", k + 1, count)
        self._rule.end_rows()
        return Manifest(source, n, self._stream.n is None, False, tuple(records))

    def _read(self) -> tuple[LabelSet, int]:
        """Write all entries of the stream to a file; return their labels and their number."""
        labels, count = LabelSet(), 0
        spill = Spill(self._work, INDEX, numbered=False)
        for columns in self._stream.chunks:
            spill.append(ENTRIES, columns)
            if self._stream.n is None:
                labels.add(*columns[:2])
            count += columns[0].size
            self._say("reading", count, 0)
        return labels, count

    def _entries(self, labels: LabelSet) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the entries between numbered vertices, in the order of the file."""
        for i, j, w in Spill(self._work, INDEX, numbered=False).chunks(ENTRIES, self._chunk):
            if self._stream.n is None:
                i, j = (np.searchsorted(labels.values, each) for each in (i, j))
            yield i, j, w

    def _loads(self, n: int, labels: LabelSet) -> tuple[Any, Any]:
        """Return places among the rows, and the number of rows and entries before them."""
        width = -(-n // BINS)
        loads = np.zeros(-(-n // width), dtype=np.int64)
        for i, j, _ in self._entries(labels):
            for ends in (i, j):
                loads += np.bincount(ends // width, minlength=loads.size)
        rows = np.minimum(np.arange(loads.size + 1) * width, n)
        return rows, np.concatenate([[0], np.cumsum(loads)]) + rows

    def _placed(self, labels: LabelSet) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield the entries in the rows to which they are added first, and how many were."""
        seen = 0
        for i, j, w in self._entries(labels):
            number = (np.arange(seen, seen + i.size),) if self._rule.numbered else ()
            seen += i.size
            yield seen, (*self._rule.place(i, j), w, *number)

    def _require_memory(self, records: int, shard: int, count: int) -> None:
        """Refuse a shard that cannot be sorted within the memory."""
        needed = records * BYTES_PER_RECORD
        if needed > self._memory:
            raise ProblemError(
                f"shard {shard} of {count} has {records} entries and would take {size(needed)} to "
                f"sort, and max_memory is {size(self._memory)}; give more memory (--max-memory), "
                "or more shards (--shards) unless one vertex has most of these entries"
            )
