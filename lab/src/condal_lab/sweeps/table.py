"""The table of a sweep: a row per point; each result is read on demand."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from condal.errors import CondalError, ProblemError
from condal.io.formats.writing import write_text
from condal.io.results.reading import load
from condal.io.results.record import cell
from condal.io.safe_files import PathLike
from condal.report.progress import clock
from condal.result import Result, Status
from condal.runtime.text import escape_terminal, grid

FAILED = "failed"
SOLVED = Status.SOLVED.name.lower()
NUMBERS = ("objective", "bound", "gap", "infeasibility", "price", "seconds")
COUNTS = ("iterations", "oracle_calls")
COLUMNS = ("status", *NUMBERS, *COUNTS)
TABLE_WIDTH = 80
MIN_CUT_WIDTH = 14  # of a column that is cut off: no number is longer
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # of cells that a spreadsheet evaluates


@dataclass(frozen=True)
class Entry:
    """A row of a table: a point of a sweep, and its result in figures.

    Attributes
    ----------
    parameters : dict
        The parameters of the point.
    status : str
        Status of the result in lower case, or "failed".
    objective, bound, gap, infeasibility, price, seconds : float
        Figures of the result; NaN for a failed point.
    iterations, oracle_calls : int
        Counts of the result.
    figures : dict
        What the result means, where an application says so.
    start : str or None
        Name of the point whose result was the warm start.
    error, traceback : str
        Why the point failed.
    folder : Path or None
        Where the result is saved.
    """

    parameters: dict[str, Any]
    status: str
    objective: float = math.nan
    bound: float = math.nan
    gap: float = math.nan
    infeasibility: float = math.nan
    price: float = math.nan
    seconds: float = math.nan
    iterations: int = 0
    oracle_calls: int = 0
    figures: dict[str, float | None] = field(default_factory=dict)
    start: str | None = None
    error: str = ""
    traceback: str = ""
    folder: Path | None = None

    @property
    def solved(self) -> bool:
        """Whether the result is proved to be within the tolerance."""
        return self.status == SOLVED

    @property
    def failed(self) -> bool:
        """Whether there is no result."""
        return self.status == FAILED

    @property
    def result(self) -> Result:
        """The result, read from its folder at each access."""
        if self.folder is None:
            raise CondalError(f"the point has no result: {self.error}")
        return load(self.folder).result

    @property
    def values(self) -> dict[str, Any]:
        """The parameters, the columns of all rows, and the figures of the application."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        return {**self.parameters, **columns, **self.figures, **columns, **self.parameters}

    def value(self, column: str) -> Any:
        """Return one of the values."""
        if column not in self.values:
            raise ProblemError(f"no column {column!r}; there are {', '.join(self.values)}")
        return self.values[column]


@dataclass(frozen=True, eq=False)
class Table:
    """The points of a sweep, in the order in which they were given.

    ``table[0]`` is a row, ``table["gap"]`` a column, with None where a row has no such value.

    Attributes
    ----------
    rows : tuple of Entry
        The rows.
    folder : Path
        The folder of the sweep.
    """

    rows: tuple[Entry, ...]
    folder: Path

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.rows)

    def __getitem__(self, at: int | str) -> Any:
        if isinstance(at, int):
            return self.rows[at]
        if at not in self.columns:
            raise KeyError(f"no column {at!r}; there are {', '.join(self.columns)}")
        return [row.values.get(at) for row in self.rows]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the parameters, of the columns of all rows, and of the figures."""
        parameters = dict.fromkeys(name for row in self.rows for name in row.parameters)
        figures = dict.fromkeys(name for row in self.rows for name in row.figures)
        return tuple(dict.fromkeys([*parameters, *COLUMNS, *figures]))

    def label(self, row: Entry) -> str:
        """Return the parameters of a row that are not the same in all rows, in words."""
        varying = [
            name
            for name, value in row.parameters.items()
            if any(other.parameters.get(name) != value for other in self.rows)
        ]
        named = varying or list(row.parameters)
        return ", ".join(f"{name} {_short_text(row.parameters[name])}" for name in named)

    @property
    def failed(self) -> tuple[Entry, ...]:
        """The rows without a result."""
        return tuple(row for row in self.rows if row.failed)

    def best(
        self, by: str | Callable[[Entry], float] = "objective", *, highest: bool = False
    ) -> Entry:
        """Return the solved row with the lowest, or highest, value of a column or function; the
        first of equal ones.

        Parameters
        ----------
        by : str or callable
            A column, or a function of a row.
        highest : bool
            Whether higher is better.

        Raises
        ------
        ProblemError
            If no row is solved.
        """
        solved = [row for row in self.rows if row.solved]
        if not solved:
            raise ProblemError("no point of the table is solved, so none is the best")

        def order(row: Entry) -> float:
            given = by(row) if callable(by) else row.value(by)
            value = math.nan if given is None else float(given)
            return math.inf if math.isnan(value) else -value if highest else value

        return min(solved, key=order)

    def to_csv(self, path: PathLike) -> None:
        """Write all columns to a CSV file, with exact numbers and no cell that is a formula."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_cell(name) for name in (*self.columns, "error")])
        for row in self.rows:
            values = [_cell(row.values.get(name)) for name in self.columns]
            writer.writerow([*values, _cell(row.error)])
        write_text(path, [text.getvalue()])

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame; pandas must be installed."""
        import pandas as pd

        return pd.DataFrame({name: self[name] for name in self.columns})

    def __str__(self) -> str:
        head, rows = self._texts()
        lines = [list(map(escape_terminal, line)) for line in (head, *rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        while sum(widths) + 2 * len(widths) - 2 > TABLE_WIDTH and max(widths) > MIN_CUT_WIDTH:
            widths[widths.index(max(widths))] -= 1  # of the longest text, which is cut off
        shown = (
            "  ".join(
                _cut(word, width).rjust(width) for word, width in zip(line, widths, strict=True)
            )
            for line in lines
        )
        text = [line[:TABLE_WIDTH].rstrip() for line in shown]
        if self.failed:
            count = "1 point" if len(self.failed) == 1 else f"{len(self.failed)} points"
            why = f"{count} failed, the first by: {self.failed[0].error}"
            text += ["", *textwrap.wrap(escape_terminal(why), TABLE_WIDTH)]
        return "\n".join(text)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return grid(f"{len(self)} points in {self.folder}", *self._texts())

    def _texts(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        names = list(dict.fromkeys(name for row in self.rows for name in row.parameters))
        figure = next((name for row in self.rows for name in row.figures), None)
        figures = [] if figure is None else [figure]
        head = [*names, "status", "objective", *figures, "gap", "time"]
        rows: list[Sequence[str]] = []
        for row in self.rows:
            words = [_short_text(row.parameters.get(name)) for name in names]
            ends = [""] * (3 + len(figures))
            if not row.failed:
                values = [row.objective, *(row.figures.get(name) for name in figures)]
                ends = ["" if value is None else f"{value:#.7g}" for value in values]
                ends += [f"{row.gap:.1e}", clock(row.seconds)]
            rows.append([*words, row.status.replace("_", " "), *ends])
        return head, rows


def _short_text(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else f"{value}"


def _cut(word: str, width: int) -> str:
    return word if len(word) <= width else f"{word[: width - 3]}..."


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return cell("", value)
    text = f"{value}".encode("ascii", "backslashreplace").decode()
    return f"'{text}" if text.startswith(FORMULA_STARTS) and not isinstance(value, int) else text
