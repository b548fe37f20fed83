"""The rows of a solve as they come, thinned as they grow, for others to read meanwhile."""

from __future__ import annotations

from math import isfinite
from typing import Any

from condal.result import Row

MOST = 400  # rows that are kept
COLUMNS = ("k", "objective", "bound", "gap", "infeasibility", "oracle_calls", "matvecs", "seconds")


class Rows:
    """Some of the rows so far, evenly spread, and the last.

    An iteration pays for an assignment and a comparison; one in `every`, for an append.
    """

    def __init__(self) -> None:
        self.last: Row | None = None
        self.every = 1
        self._kept: list[Row] = []
        self._left = 1

    def append(self, row: Row) -> None:
        """One more; where there are too many, every second one is dropped."""
        self.last = row
        self._left -= 1
        if self._left > 0:
            return
        # A new list, and not a shorter one: somebody may be reading the old.
        kept = [*self._kept, row]
        if len(kept) >= MOST:
            kept, self.every = kept[::2], 2 * self.every
        self._kept, self._left = kept, self.every

    def record(self) -> dict[str, Any]:
        """A column each, for JSON: what is not a finite number is None."""
        kept, last = self._kept, self.last
        if last is not None and (not kept or kept[-1] is not last):
            kept = [*kept, last]
        return {name: [_number(getattr(row, name)) for row in kept] for name in COLUMNS}


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if isfinite(value) else None
