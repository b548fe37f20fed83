"""The file of one rank: some rows of each array that all ranks hold together.

It is made as that of a checkpoint: a head with the SHA-256 of every array, and their bytes. The
rows of an array are cut into pieces, each of which is read and tried by itself: a rank that wants a
few of them reads no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from condal.distributed.checkpoint.kind import Kind
from condal.io.checkpoint.file import fill
from condal.io.checkpoint.header import DIGEST, head_of, header_of, refuse
from condal.io.checkpoint.table import Entry, table_of
from condal.io.safe_files import created, opened, sync_folder
from condal.linalg.points import Array


def write_part(place: Path, arrays: Sequence[Array]) -> str:
    """Write a new file of these arrays, and see it on the disk; the SHA-256 of its head."""
    cuts = [Kind.of(array).cuts(len(array)) for array in arrays]
    pieces = [
        np.ascontiguousarray(array[begin:end])
        for array, places in zip(arrays, cuts, strict=True)
        for begin, end in pairwise(places)
    ]
    head = head_of({}, cuts, table_of(pieces))
    with created(place) as file:
        fill(file, head, pieces)
    sync_folder(place.parent)
    return head[-DIGEST:].hex()


@contextmanager
def opened_part(
    place: Path, digest: str, kinds: Sequence[Kind], rows: Sequence[int]
) -> Iterator[Part]:
    """A part with so many rows of arrays of these kinds, to be read; FormatError unless its head is
    that of this digest, and fits the bytes that are there."""
    with opened(place) as file:
        yield Part(file, str(place), digest, kinds, rows)


class Part:
    """A part that is open; what it holds is not yet tried."""

    def __init__(
        self,
        file: BufferedReader,
        path: str,
        digest: str,
        kinds: Sequence[Kind],
        rows: Sequence[int],
    ) -> None:
        header = header_of(file, path)
        self._file, self._path, self._begin = file, path, file.tell()
        file.seek(self._begin - DIGEST)
        if file.read(DIGEST).hex() != digest:
            refuse("it is of another generation", path)
        cuts = [kind.cuts(count) for kind, count in zip(kinds, rows, strict=True)]
        pieces = [kind.pieces(count) for kind, count in zip(kinds, rows, strict=True)]
        found = [(entry.dtype, entry.shape) for entry in header.arrays]
        if header.skeleton != cuts or found != [one for many in pieces for one in many]:
            refuse("its rows are others than the manifest says", path)
        self._cuts, self._entries = cuts, header.arrays
        self._firsts = [0, *accumulate(map(len, pieces))]  # of the entries of each array

    def rows(self, number: int, begin: int, end: int) -> Iterator[tuple[int, Array]]:
        """The rows from `begin` to before `end` of an array, as far as they are here: in pieces,
        each with the number of its first."""
        for k, (first, last) in enumerate(pairwise(self._cuts[number]), self._firsts[number]):
            if max(first, begin) < min(last, end):
                piece = self._read(self._entries[k])
                yield max(first, begin), piece[max(begin - first, 0) : end - first]

    def _read(self, entry: Entry) -> Array:
        self._file.seek(self._begin + entry.offset, os.SEEK_SET)
        try:
            return entry.read(self._file)
        except ValueError as error:
            refuse(str(error), self._path)
