"""Some entries of a matrix: a Matrix Market coordinate file, or a table of row, column, value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condal.io.formats.matrix_market import is_matrix_market, parse_rectangle
from condal.io.formats.table import Table, parse_table
from condal.io.formats.text import Text, read_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array


@dataclass(frozen=True, eq=False)
class Ratings:
    """values_k at (rows_k, cols_k), from 0; `row_names` and `col_names` are their numbers in the
    file."""

    shape: tuple[int, int]
    rows: Any = field(repr=False)
    cols: Any = field(repr=False)
    values: Array = field(repr=False)
    row_names: Any = field(repr=False)
    col_names: Any = field(repr=False)


def read_ratings(path: PathLike, columns: Sequence[str] | None = None) -> Ratings:
    """The entries that a file holds. Of a table, `columns` are those of the row, the column and the
    value, by name or by number from 1; the first three if they are not given.

    In a table the rows and columns are whole numbers, such as of users and films; those that do not
    occur are left out.
    """
    text = read_text(path, wanted="entries: row, column, value")
    if is_matrix_market(text):
        if columns is not None:
            raise text.error(
                "is a Matrix Market file, whose columns are row, column, value: columns are chosen "
                "of tables alone; leave the choice out"
            )
        (m, n), entries = parse_rectangle(text)
        return Ratings((m, n), *entries, np.arange(1, m + 1), np.arange(1, n + 1))
    return _of_table(text, parse_table(text), columns)


def _of_table(text: Text, table: Table, columns: Sequence[str] | None) -> Ratings:
    if table.values.shape[1] < 3:
        raise text.error(
            f"has {table.values.shape[1]} columns; wanted at least three: row, column, value"
        )
    places = [table.column(name) for name in columns or ("1", "2", "3")]
    if columns is not None and len(set(places)) < len(places):
        raise text.error(
            f"the row, the column and the value must be three columns; got {','.join(columns)}"
        )
    values = table.values[:, places[2]]
    row_names, rows = np.unique(table.whole(places[0], "the row of an entry"), return_inverse=True)
    col_names, cols = np.unique(
        table.whole(places[1], "the column of an entry"), return_inverse=True
    )
    shape = (row_names.size, col_names.size)
    return Ratings(shape, rows.ravel(), cols.ravel(), values.copy(), row_names, col_names)
