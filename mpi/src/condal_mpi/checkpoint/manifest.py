"""The parts of a checkpoint on many ranks: as the manifest names them, and the file of each.

A part is the file of one rank, with some rows of each sharded array. It is a container of one
file, as a checkpoint is. The rows of an array are cut into pieces, each with its own SHA-256: a
rank reads and checks only the pieces that it needs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from condal.io.checkpoint import CHECKPOINT
from condal.io.container.array_file import (
    DIGEST_BYTES,
    DTYPES,
    MAX_DIMENSIONS,
    MAX_EXACT_INT,
    Entry,
    dtype_name,
    head_bytes,
    read_head,
    write_file,
)
from condal.io.container.atomic import created, sync_folder
from condal.io.safe_files import opened
from condal.linalg.points import Array

PIECE_BYTES = 1 << 24


@dataclass(frozen=True)
class ShardSpec:
    """The dtype and the shape of a row, and how rows lie in memory."""

    dtype: str
    row: tuple[int, ...]
    by_columns: bool

    @classmethod
    def of(cls, array: Array) -> ShardSpec:
        """Describe an array without gaps."""
        name = dtype_name(array.dtype)
        assert name is not None
        flags = array.flags
        by_columns = bool(flags.f_contiguous and not flags.c_contiguous)
        return cls(name, array.shape[1:], by_columns)

    @classmethod
    def read(cls, values: Any) -> ShardSpec:
        """Read a list that `as_json` made; ValueError for another value."""
        fields: list[Any] = values if isinstance(values, list) and len(values) == 3 else [None] * 3
        name, row, by_columns = fields
        whole = isinstance(row, list) and all(
            type(n) is int and 0 <= n < MAX_EXACT_INT for n in row
        )
        flagged = type(by_columns) is bool
        if name not in DTYPES or not whole or len(row) >= MAX_DIMENSIONS or not flagged:
            raise ValueError("there is no such array")
        return cls(name, tuple(row), by_columns)

    def as_json(self) -> list[Any]:
        """Return the spec as it is written."""
        return [self.dtype, list(self.row), self.by_columns]

    def cuts(self, rows: int) -> list[int]:
        """Return where the pieces of `rows` rows begin, and where the last one ends."""
        step = max(1, PIECE_BYTES // max(1, prod(self.row) * DTYPES[self.dtype].itemsize))
        return [*range(0, rows, step), rows]

    def pieces(self, rows: int) -> list[tuple[str, tuple[int, ...]]]:
        """Return the dtype and the shape of each piece of `rows` rows."""
        return [(self.dtype, (end - begin, *self.row)) for begin, end in pairwise(self.cuts(rows))]

    def empty(self, rows: int) -> Array:
        """Allocate `rows` rows."""
        order: Any = "F" if self.by_columns else "C"
        return np.empty((rows, *self.row), DTYPES[self.dtype], order=order)


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


class Part:
    """An open part with rows[k] rows of arrays of specs[k], which are checked when they are read.

    FormatError unless its head has this digest and fits the size of the file.
    """

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


KEYS = ("generation", "digests", "specs", "ends")
GENERATION = re.compile(r"[0-9a-f]{16}")
PART_NAME = re.compile(r"([0-9a-f]{16})\.\d+\.rows")
_SHA256 = re.compile(f"[0-9a-f]{{{2 * DIGEST_BYTES}}}")


@dataclass(frozen=True)
class Parts:
    """The parts of a generation, one per rank that wrote it.

    `digests` are those of their heads. Part r holds the rows ends[k][r] ... ends[k][r + 1] - 1 of
    array k, which is of specs[k].
    """

    generation: str
    digests: tuple[str, ...]
    specs: tuple[ShardSpec, ...]
    ends: tuple[tuple[int, ...], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the parts as they are written."""
        specs, ends = [spec.as_json() for spec in self.specs], [list(rows) for rows in self.ends]
        values = (self.generation, list(self.digests), specs, ends)
        return dict(zip(KEYS, values, strict=True))

    @classmethod
    def read(cls, values: Any) -> Parts:
        """Read an object that `as_json` made; ValueError for another value."""
        if not isinstance(values, dict) or tuple(values) != KEYS:
            raise ValueError("it does not say which parts it has")
        generation, digests, specs, ends = (values[key] for key in KEYS)
        if not isinstance(generation, str) or not GENERATION.fullmatch(generation):
            raise ValueError("it has no generation")
        listed = all(isinstance(value, list) for value in (digests, specs, ends))
        if not listed or len(specs) != len(ends) or not digests:
            raise ValueError("it has no parts")
        if not all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in digests):
            raise ValueError("a part has no SHA-256")
        if not all(_rises(rows, len(digests)) for rows in ends):
            raise ValueError("a part has invalid rows")
        return cls(
            generation, tuple(digests), tuple(map(ShardSpec.read, specs)), tuple(map(tuple, ends))
        )

    def name(self, rank: int) -> str:
        """Return the name of the file of a rank."""
        return f"{self.generation}.{rank}.rows"

    def joined(self, folder: Path, wanted: Sequence[tuple[int, int]]) -> list[Array]:
        """Read the rows wanted[k] of each array k from the files in the folder; nothing is
        allocated before all the files are seen to be there."""
        needed = [
            (rank, folder / self.name(rank))
            for rank in range(len(self.digests))
            if any(
                rows[rank] < end and begin < rows[rank + 1]
                for rows, (begin, end) in zip(self.ends, wanted, strict=True)
            )
        ]
        for rank, path in needed:
            with opened(path) as file:
                self._part(rank, file, path)
        pairs = zip(self.specs, wanted, strict=True)
        arrays = [spec.empty(end - begin) for spec, (begin, end) in pairs]
        for rank, path in needed:
            with opened(path) as file:
                part = self._part(rank, file, path)
                for k, (begin, end) in enumerate(wanted):
                    first = self.ends[k][rank]
                    for row, piece in part.rows(k, begin - first, end - first):
                        at = first + row - begin
                        arrays[k][at : at + len(piece)] = piece
        return arrays

    def _part(self, rank: int, file: BufferedReader, path: Path) -> Part:
        rows = [ends[rank + 1] - ends[rank] for ends in self.ends]
        return Part(file, str(path), self.digests[rank], self.specs, rows)


def _rises(ends: Any, parts: int) -> bool:
    whole = isinstance(ends, list) and all(type(n) is int and 0 <= n < MAX_EXACT_INT for n in ends)
    return (
        whole and len(ends) == parts + 1 and ends[0] == 0 and all(a <= b for a, b in pairwise(ends))
    )


def without_parts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of the solve alone, as a checkpoint of one process does."""
    return {key: value for key, value in about.items() if key != "parts"}
