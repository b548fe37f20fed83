"""history.csv: a row per iteration, exact numbers, and no cell that a spreadsheet evaluates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from condal.certificates.history import History, Row
from condal.errors import FormatError

INTEGER_COLUMNS = ("k", "oracle_calls", "matvecs")
ROWS_PER_PIECE = 1 << 12
INFINITE = "1e999"  # which every reader takes for infinity: a cell -inf would be a formula
_INTEGER = re.compile(rb"[0-9]{1,18}")
_REAL = re.compile(rb"-?[0-9]{1,25}(\.[0-9]{1,25})?(e[-+]?[0-9]{1,3})?|nan")


def lines_of(history: History) -> Iterator[str]:
    """Yield the text of a history in pieces."""
    yield ",".join(Row._fields) + "\n"
    rows = list(history)
    for begin in range(0, len(rows), ROWS_PER_PIECE):
        yield "".join(
            ",".join(map(cell, Row._fields, row)) + "\n"
            for row in rows[begin : begin + ROWS_PER_PIECE]
        )


def history_of(data: bytes, path: str) -> History:
    """Read the history of a text."""
    lines = data.split(b"\n")
    if lines[0] != ",".join(Row._fields).encode() or lines.pop() != b"":
        raise FormatError(
            f"wanted the columns {', '.join(Row._fields)} on the first line, and whole lines after "
            "it; save the result again",
            path=path,
        )
    history = History()
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(b",")
        if len(cells) != len(Row._fields):
            raise FormatError(
                f"has {len(cells)} cells; wanted {len(Row._fields)}", path=path, line=number
            )
        values: list[Any] = []
        for name, cell in zip(Row._fields, cells, strict=True):
            if not (_INTEGER if name in INTEGER_COLUMNS else _REAL).fullmatch(cell):
                wanted = "a whole number" if name in INTEGER_COLUMNS else "a number"
                raise FormatError(
                    f"{name} is {cell[:40]!r}; wanted {wanted}", path=path, line=number
                )
            values.append(int(cell) if name in INTEGER_COLUMNS else float(cell))
        history.append(Row(*values))
    return history


def cell(name: str, value: float) -> str:
    """Spell a number exactly, as a cell that no spreadsheet takes for a formula."""
    if name in INTEGER_COLUMNS:
        return f"{int(value)}"
    if math.isinf(value):
        return INFINITE if value > 0 else f"-{INFINITE}"
    return repr(float(value))
