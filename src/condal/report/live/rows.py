"""The rows of a running solve, thinned as they grow, readable from other threads."""

from __future__ import annotations

from math import isfinite
from typing import Any

from condal.certificates.history import Row

MAX_ROWS = 400
COLUMNS = (
    *("k", "objective", "bound", "gap", "infeasibility", "price", "proved"),
    *("oracle_calls", "matvecs", "seconds"),
)


class Rows:
    """Some of the rows so far, evenly spaced, and the last.

    An iteration costs an assignment and a comparison; one in `every` costs an append.
    """

    def __init__(self) -> None:
        self.last: Row | None = None
        self.every = 1
        self._thinned: list[Row] = []
        self._left = 1

    def append(self, row: Row) -> None:
        """Add a row; if there are too many, drop every second one."""
        self.last = row
        self._left -= 1
        if self._left > 0:
            return
        # A new list, as another thread may be reading the old one.
        rows = [*self._thinned, row]
        if len(rows) >= MAX_ROWS:
            rows, self.every = rows[::2], 2 * self.every
        self._thinned, self._left = rows, self.every

    def record(self) -> dict[str, Any]:
        """Return one list per column, for JSON; non-finite numbers become None."""
        rows, last = self._thinned, self.last
        if last is not None and (not rows or rows[-1] is not last):
            rows = [*rows, last]
        return {name: [_number(getattr(row, name)) for row in rows] for name in COLUMNS}


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if isfinite(value) else None
