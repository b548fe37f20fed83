"""Matrices saved by `scipy.sparse.save_npz` in chunks."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from condal.errors import FormatError
from condal.io.formats import sparse_arrays
from condal.io.formats.arrays import archive_of, check_sizes, members_of, read_arrays, shown
from condal.io.formats.npy import NOT_FINITE, NUMBERS, entries_of, head_of
from condal.io.formats.streams.rules import Matrix
from condal.io.formats.streams.stream import EntryStream
from condal.io.formats.text import Text
from condal.io.safe_files import UNLIMITED

Chunk = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Vector:
    """An array of an archive, as its header describes it; its entries begin at byte `head`."""

    path: str
    info: zipfile.ZipInfo
    dtype: Any
    shape: tuple[int, ...]
    head: int

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def chunks(self, count: int) -> Iterator[Any]:
        """Yield the entries, `count` at a time; their checksum is that of the archive."""
        with archive_of(self.path) as (archive, _), archive.open(self.info) as stream:
            stream.read(self.head)
            for begin in range(0, self.size, count):
                entries = min(count, self.size - begin)
                yield entries_of(_read(stream, entries * self.dtype.itemsize), self.dtype)
            stream.read(1)  # to the end, where the checksum is compared


def _read(stream: IO[bytes], count: int) -> Any:
    return np.frombuffer(stream.read(count), np.uint8)


def archive_stream(path: str, chunk_entries: int) -> EntryStream:
    """Return the entries of a saved matrix, after all its arrays have been checked."""
    text = Text(path, b"")
    kind = sparse_arrays.sparse_format(path, text)
    wanted = sparse_arrays.INDEX_ARRAYS[kind]
    vectors = _vectors(path, {"shape", "data", *wanted}, chunk_entries)
    data = vectors["data"]
    sparse_arrays.require_real(text, data, "data")
    shape = read_arrays(path, ("shape",))["shape"]
    n, most = sparse_arrays.vertex_count(text, shape, data.size)
    for name in wanted:
        sparse_arrays.require_whole(text, vectors.get(name), name, most + 1)
    indices, others = (vectors[name] for name in wanted)
    if kind == "coo":
        outer = others.chunks(chunk_entries)
    else:
        _require_pointers(text, others, n, indices.size, chunk_entries)
        outer = _rows_of_entries(others, chunk_entries)
    sizes = {indices.size, others.size if kind == "coo" else data.size}
    if data.ndim != 1 or sizes != {data.size}:
        raise sparse_arrays.length_error(text, wanted[0], indices.size, data.size)
    for vector in (indices, others) if kind == "coo" else (indices,):
        for places in vector.chunks(chunk_entries):
            if not 0 <= places.min() <= places.max() < n:
                raise sparse_arrays.index_error(text, n)
    chunks = _chunks(outer, indices.chunks(chunk_entries), data.chunks(chunk_entries), kind)
    return EntryStream(n, Matrix(text, sparse_arrays.SYMMETRY_HINT), chunks)


def _vectors(path: str, names: set[str], chunk_entries: int) -> dict[str, Vector]:
    """Return the arrays of these names, all of whose bytes are intact and numbers finite."""
    vectors = {}
    with archive_of(path) as (archive, size):
        members = {k: info for k, info in members_of(archive, path).items() if k in names}
        check_sizes(list(members.values()), size, path, most=UNLIMITED)
        for name, info in members.items():

            def error(message: str, info: zipfile.ZipInfo = info) -> FormatError:
                return FormatError(f"{shown(info)}: {message}", path=path)

            with archive.open(info) as stream:
                dtype, shape, _, head = head_of(stream, info.file_size, NUMBERS, error)
            vectors[name] = Vector(path, info, dtype, shape, head)
            finite = [np.isfinite(part).all() for part in vectors[name].chunks(chunk_entries)]
            if not all(finite):
                raise error(NOT_FINITE)
    return vectors


def _require_pointers(text: Text, pointers: Vector, n: int, entries: int, count: int) -> None:
    """Refuse pointers that do not rise from 0 to the number of entries."""
    last, fault = 0, pointers.shape != (n + 1,)
    for k, part in enumerate(pointers.chunks(count)):
        own = part.astype(np.int64)
        fault = fault or own[0] < last or bool((np.diff(own) < 0).any()) or (k == 0 and own[0] != 0)
        last = int(own[-1])
    if fault or last != entries:
        raise sparse_arrays.pointer_error(text, n, entries)


def _rows_of_entries(pointers: Vector, count: int) -> Iterator[Any]:
    """Yield the row (or column) of each entry, `count` at a time, from the pointers."""
    pending, length = [np.zeros(0, np.int64)], 0
    seen, begin = 0, 0  # pointers of the chunks before, and the last of them
    for part in pointers.chunks(count):
        own = part.astype(np.int64)
        end = int(own[-1])
        for first in range(begin, end, count):
            places = np.arange(first, min(first + count, end))
            # The pointers up to an entry are those of its row and of the rows before.
            pending.append(seen + np.searchsorted(own, places, side="right") - 1)
            length += places.size
            if length >= count:
                joined = np.concatenate(pending)
                yield joined[:count]
                pending, length = [joined[count:]], length - count
        seen, begin = seen + own.size, end
    if length:
        yield np.concatenate(pending)


def _chunks(outer: Any, inner: Any, weights: Any, kind: str) -> Iterator[Chunk]:
    """Yield rows, columns and weights; the three have chunks of the same lengths."""
    for o, i, w in zip(outer, inner, weights, strict=True):
        places = o.astype(np.int64, copy=False), i.astype(np.int64, copy=False)
        rows, columns = places if kind == "csr" else places[::-1]
        yield rows, columns, w.astype(np.float64, copy=False)
