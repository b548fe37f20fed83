"""Temporary files of entries, and their distribution over ranges of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
        path = self._folder / name
        if not path.exists():
            return self._columns(np.empty(0, self._dtype))
        columns = self._columns(np.fromfile(path, self._dtype))
        path.unlink()
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
