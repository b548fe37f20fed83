"""Some entries of a matrix: a Matrix Market coordinate file, or a table of row, column, value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condal.io.formats.coordinate import read_rectangle
from condal.io.formats.signatures import is_matrix_market
from condal.io.formats.table import Table, read_table
from condal.io.formats.text import Text, read_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array


@dataclass(frozen=True, eq=False)
class Ratings:
    """Known entries of a matrix: values_k at (rows_k, cols_k), counted from 0.

    Parameters
    ----------
    shape : tuple of int
        The numbers of rows and columns.
    rows, cols : ndarray of int
        The places of the entries.
    values : ndarray
        The entries.
    row_names, col_names : ndarray of int
        The numbers of the rows and columns in the file.
    """

    shape: tuple[int, int]
    rows: Any = field(repr=False)
    cols: Any = field(repr=False)
    values: Array = field(repr=False)
    row_names: Any = field(repr=False)
    col_names: Any = field(repr=False)


def read_ratings(path: PathLike, columns: Sequence[str] | None = None) -> Ratings:
    """Read known entries of a matrix.

    In a table, rows and columns are named by whole numbers, such as those of users and films.
    Numbers that do not occur are left out.

    Parameters
    ----------
    path : str or os.PathLike
        A Matrix Market file or a table.
    columns : sequence of str, optional
        The columns of a table that hold the row, the column and the value, by name or by number
        from 1. By default the first three.

    Returns
    -------
    Ratings
        The entries.
    """
    text = read_text(path, wanted="entries: row, column, value")
    if is_matrix_market(text):
        if columns is not None:
            raise text.error(
                "is a Matrix Market file, whose columns are row, column, value: columns can only "
                "be chosen for tables; leave the choice out"
            )
        (m, n), entries = read_rectangle(text)
        return Ratings((m, n), *entries, np.arange(1, m + 1), np.arange(1, n + 1))
    return _from_table(text, read_table(text), columns)


def _from_table(text: Text, table: Table, columns: Sequence[str] | None) -> Ratings:
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
