"""What an array that many ranks hold together is, but for its rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from condal.io.checkpoint.leaves import DTYPES, MOST_DIMENSIONS, SAFE, dtype_name
from condal.linalg.points import Array

PIECE = 1 << 24  # bytes


@dataclass(frozen=True)
class Kind:
    """The dtype and the shape of a row, and how rows lie in memory."""

    dtype: str
    row: tuple[int, ...]
    by_columns: bool
    writeable: bool

    @classmethod
    def of(cls, array: Array) -> Kind:
        """That of an array without gaps."""
        name = dtype_name(array.dtype)
        assert name is not None
        flags = array.flags
        by_columns = bool(flags.f_contiguous and not flags.c_contiguous)
        return cls(name, array.shape[1:], by_columns, bool(flags.writeable))

    @classmethod
    def read(cls, part: Any) -> Kind:
        """That of a list as `as_json` makes it; ValueError for another."""
        fields: list[Any] = part if isinstance(part, list) and len(part) == 4 else [None] * 4
        name, row, by_columns, writeable = fields
        whole = isinstance(row, list) and all(type(n) is int and 0 <= n < SAFE for n in row)
        flags = type(by_columns) is bool and type(writeable) is bool
        if name not in DTYPES or not whole or len(row) >= MOST_DIMENSIONS or not flags:
            raise ValueError("there is no such array")
        return cls(name, tuple(row), by_columns, writeable)

    def as_json(self) -> list[Any]:
        """As it is written."""
        return [self.dtype, list(self.row), self.by_columns, self.writeable]

    def cuts(self, rows: int) -> list[int]:
        """Where pieces of so many rows begin, and where the last of them ends."""
        step = max(1, PIECE // max(1, prod(self.row) * DTYPES[self.dtype].itemsize))
        return [*range(0, rows, step), rows]

    def pieces(self, rows: int) -> list[tuple[str, tuple[int, ...]]]:
        """The dtype and the shape of each piece of so many rows."""
        return [(self.dtype, (end - begin, *self.row)) for begin, end in pairwise(self.cuts(rows))]

    def empty(self, rows: int) -> Array:
        """Memory for so many rows."""
        order: Any = "F" if self.by_columns else "C"
        return np.empty((rows, *self.row), DTYPES[self.dtype], order=order)
