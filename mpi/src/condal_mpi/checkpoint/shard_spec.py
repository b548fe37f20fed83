"""The type and layout of an array that is sharded by rows over ranks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from condal.io.container.array_file import DTYPES, MAX_DIMENSIONS, MAX_EXACT_INT, dtype_name
from condal.linalg.points import Array

PIECE_BYTES = 1 << 24


@dataclass(frozen=True)
class ShardSpec:
    """The dtype and the shape of a row, and how rows lie in memory."""

    dtype: str
    row: tuple[int, ...]
    by_columns: bool
    writeable: bool

    @classmethod
    def of(cls, array: Array) -> ShardSpec:
        """Describe an array without gaps."""
        name = dtype_name(array.dtype)
        assert name is not None
        flags = array.flags
        by_columns = bool(flags.f_contiguous and not flags.c_contiguous)
        return cls(name, array.shape[1:], by_columns, bool(flags.writeable))

    @classmethod
    def read(cls, values: Any) -> ShardSpec:
        """Read a list that `as_json` made; ValueError for another value."""
        fields: list[Any] = values if isinstance(values, list) and len(values) == 4 else [None] * 4
        name, row, by_columns, writeable = fields
        whole = isinstance(row, list) and all(
            type(n) is int and 0 <= n < MAX_EXACT_INT for n in row
        )
        flags = type(by_columns) is bool and type(writeable) is bool
        if name not in DTYPES or not whole or len(row) >= MAX_DIMENSIONS or not flags:
            raise ValueError("there is no such array")
        return cls(name, tuple(row), by_columns, writeable)

    def as_json(self) -> list[Any]:
        """Return the spec as it is written."""
        return [self.dtype, list(self.row), self.by_columns, self.writeable]

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
