"""The file of one rank: some rows of each sharded array.

It is a container of one file, as a checkpoint is. The rows of an array are cut into pieces, each
with its own SHA-256: a rank reads and checks only the pieces that it needs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from condal.io.checkpoint import CHECKPOINT
from condal.io.container.array_file import DIGEST_BYTES, Entry, head_bytes, read_head, write_file
from condal.io.container.atomic import created, sync_folder
from condal.io.safe_files import opened
from condal.linalg.points import Array
from condal_mpi.checkpoint.shard_spec import ShardSpec


def write_part(path: Path, arrays: Sequence[Array]) -> str:
    """Write a new file of these arrays to disk; return the SHA-256 of its head."""
    cuts = [ShardSpec.of(array).cuts(len(array)) for array in arrays]
    pieces = [
        np.ascontiguousarray(array[begin:end])
        for array, places in zip(arrays, cuts, strict=True)
        for begin, end in pairwise(places)
    ]
    head = head_bytes(CHECKPOINT, {}, cuts, pieces)
    with created(path) as file:
        write_file(file, head, pieces)
    sync_folder(path.parent)
    return head[-DIGEST_BYTES:].hex()


@contextmanager
def opened_part(
    path: Path, digest: str, specs: Sequence[ShardSpec], rows: Sequence[int]
) -> Iterator[Part]:
    """Open a part with rows[k] rows of arrays of specs[k]; FormatError unless its head has this
    digest and fits the size of the file."""
    with opened(path) as file:
        yield Part(file, str(path), digest, specs, rows)


class Part:
    """An open part, whose arrays are checked when they are read."""

    def __init__(
        self,
        file: BufferedReader,
        path: str,
        digest: str,
        specs: Sequence[ShardSpec],
        rows: Sequence[int],
    ) -> None:
        head = read_head(CHECKPOINT, file, path)
        self._file, self._path, self._begin = file, path, head.begin
        if head.digest != digest:
            CHECKPOINT.refuse("it is of another generation", path)
        cuts = [spec.cuts(count) for spec, count in zip(specs, rows, strict=True)]
        pieces = [spec.pieces(count) for spec, count in zip(specs, rows, strict=True)]
        entries = [(entry.dtype, entry.shape) for entry in head.arrays]
        if head.skeleton != cuts or entries != [piece for array in pieces for piece in array]:
            CHECKPOINT.refuse("its rows are not those that the manifest names", path)
        self._cuts, self._entries = cuts, head.arrays
        self._first_entries = [0, *accumulate(map(len, pieces))]

    def rows(self, number: int, begin: int, end: int) -> Iterator[tuple[int, Array]]:
        """Read the rows begin ... end - 1 of an array as far as the part holds them: in pieces,
        each with the number of its first row."""
        pieces = enumerate(pairwise(self._cuts[number]), self._first_entries[number])
        for k, (first, last) in pieces:
            if max(first, begin) < min(last, end):
                piece = self._read(self._entries[k])
                yield max(first, begin), piece[max(begin - first, 0) : end - first]

    def _read(self, entry: Entry) -> Array:
        self._file.seek(self._begin + entry.offset, os.SEEK_SET)
        try:
            return entry.read(self._file)
        except ValueError as error:
            CHECKPOINT.refuse(str(error), self._path)
