"""The history of a solve: a row of numbers for each iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from condal.linalg.points import Array
from condal.runtime.text import grid

ROWS_SHOWN = 5  # at each end of a history, in a notebook
ESTIMATED = ("bound", "gap")  # columns of a history: estimates, marked by ~ where they are shown
ESTIMATES = "~ marks estimates; proved is what is proved so far"


class Row(NamedTuple):
    """One iteration, in the user's units and sense.

    Parameters
    ----------
    k : int
        The number of the iteration.
    objective : float
        The objective at x_k.
    bound : float
        The best bound so far, estimated from the answers of the oracle: not a proved one.
    gap : float
        ``|bound - objective| / unit`` (`Certificate.unit`), an estimate as the bound is.
    infeasibility : float
        The relative infeasibility of x_k, before any repair.
    price : float
        The price of that infeasibility at the dual of the bound, over the same unit.
    proved : float
        The largest of gap, infeasibility and price of the best pair of point and dual that is
        proved so far; inf if none is. The result of a solve is never worse.
    lam, eta, sigma : float
        The penalty, the step and the dual step, as in the paper; nan where a method has none.
    oracle_calls, matvecs : int
        The calls of the oracle and the products with a vector so far.
    seconds : float
        The wall time so far.
    """

    k: int
    objective: float
    bound: float
    gap: float
    infeasibility: float
    price: float
    proved: float
    lam: float
    eta: float
    sigma: float
    oracle_calls: int
    matvecs: int
    seconds: float

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility and price: tol is met by its proof, not by it."""
        return max(self.gap, self.infeasibility, self.price)


class History:
    """The rows of a solve, one per iteration.

    ``history["gap"]`` is a column and ``history[-1]`` a row.

    Examples
    --------
    >>> import numpy as np, condal
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> history = condal.solve(condal.problems.max_cut(cycle + cycle.T)).history
    >>> len(history["gap"]) == len(history)
    True
    """

    columns = Row._fields
    checkpoint_fields = ("table",)

    def __init__(self) -> None:
        self._table = np.empty((16, len(self.columns)))  # numbers, as a solve may have millions
        self._count = 0

    @property
    def table(self) -> Array:
        """The rows as one array."""
        return self._table[: self._count]

    @table.setter
    def table(self, rows: Array) -> None:
        self._table, self._count = np.array(rows), len(rows)

    def append(self, row: Row) -> None:
        """Add an iteration."""
        if self._count == len(self._table):
            more = np.empty((max(16, self._count), len(self.columns)))
            self._table = np.concatenate([self._table, more])
        self._table[self._count] = row
        self._count += 1

    @property
    def last(self) -> Row:
        """The last row."""
        return self[-1]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return map(_row, self.table)

    def __getitem__(self, column: str | int) -> Any:
        """Return a column by its name, or a row by its index."""
        if isinstance(column, int):
            return _row(self.table[column])
        if column not in self.columns:
            raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}")
        return self.table[:, self.columns.index(column)].copy()

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame, if pandas is installed."""
        import pandas as pd

        return pd.DataFrame(list(self), columns=list(self.columns))

    def __repr__(self) -> str:
        names = ", ".join(map(column_label, self.columns))
        return f"History({len(self)} iterations; columns {names}; {ESTIMATES})"

    def _repr_html_(self) -> str:
        """Show the first and the last rows."""
        rows, ends = list(self), ROWS_SHOWN
        shown = [
            [marked(name, f"{value:.6g}") for name, value in zip(self.columns, row, strict=True)]
            for row in rows[:ends] + rows[ends:][-ends:]
        ]
        if len(rows) > 2 * ends:
            shown.insert(ends, ["..."] * len(self.columns))
        title = f"History of {len(self)} iterations; {ESTIMATES}"
        return grid(title, list(map(column_label, self.columns)), shown)


def column_label(name: str) -> str:
    """Return the name of a column of a history, with ~ if it holds estimates."""
    return f"~{name}" if name in ESTIMATED else name


def marked(name: str, value: str) -> str:
    """Return the text of a value in a column, with ~ if it is an estimate."""
    return f"~{value}" if name in ESTIMATED else value


def _row(numbers: Array) -> Row:
    """Return the row of the numbers; counts are whole numbers."""
    row = Row(*numbers.tolist())
    calls, matvecs = int(row.oracle_calls), int(row.matvecs)
    return row._replace(k=int(row.k), oracle_calls=calls, matvecs=matvecs)
