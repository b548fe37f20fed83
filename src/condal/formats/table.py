"""Tables of numbers as text: a row a line, by commas, semicolons, tabs or blanks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from typing import NoReturn

import numpy as np

from condal.formats.text import PathLike, Text, quote, read_text
from condal.points import Array

_REAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
MAX_COLUMNS = 100_000


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of finite numbers, and the names of the columns if the first line has them."""

    text: Text
    names: tuple[str, ...] | None
    values: Array

    def column(self, name: str) -> int:
        """Where the column of that name, or of that number from 1, is."""
        if self.names is not None and self.names.count(name) == 1:
            return self.names.index(name)
        if name.isdigit() and 1 <= int(name) <= self.values.shape[1]:
            return int(name) - 1
        known = f"1 to {self.values.shape[1]}"
        if self.names is not None:
            known = f"{', '.join(self.names)}, or {known}"
        raise self.text.error(f"there is no one column {name!r}; there are {known}", 1)


def read_table(path: PathLike, *, wanted: str = "rows of numbers") -> Table:
    """The numbers of a text file, all rows of one length; the first line may name the columns."""
    return parse_table(read_text(path, wanted=wanted))


def parse_table(text: Text) -> Table:
    """`read_table` for a file already read."""
    begin = 0
    for content, after in text.lines():
        if not content.isspace():
            break
        begin = after
    delimiter = next((d for d in (b";", b",", b"\t") if d in content), None)
    first = _fields(content, delimiter)
    if len(first) > MAX_COLUMNS:
        raise text.error(f"has {len(first)} columns, more than the {MAX_COLUMNS} that are read", 1)
    named = not all(_REAL.fullmatch(field) for field in first)
    names = None
    if named:
        if any(_REAL.fullmatch(field) for field in first):
            _refuse_field(text, first, text.line_at(begin))
        names = tuple(field.decode().strip("\"' ") for field in first)
        begin = after
    if not text.data[begin:].strip():
        raise text.error("has names of columns, and no row of numbers after them")
    return Table(text, names, _values(text, begin, delimiter, len(first)))


def _values(text: Text, begin: int, delimiter: bytes | None, width: int) -> Array:
    """All rows at once; the first line at fault where that does not do."""
    try:
        values = np.loadtxt(
            BytesIO(text.data[begin:]),
            delimiter=None if delimiter is None else delimiter.decode(),
            comments=None,
            ndmin=2,
        )
    except ValueError:
        _refuse(text, begin, delimiter, width)
    if values.shape[1] != width or not np.isfinite(values).all():
        _refuse(text, begin, delimiter, width)
    return values


def _refuse(text: Text, begin: int, delimiter: bytes | None, width: int) -> NoReturn:
    line = text.line_at(begin)
    for number, (content, _) in enumerate(text.lines(begin), line):
        if content.isspace():
            continue
        fields = _fields(content, delimiter)
        if len(fields) != width:
            raise text.error(
                f"got {len(fields)} columns, wanted {width} as in the first line; correct the line",
                number,
            )
        if not all(_REAL.fullmatch(field) and np.isfinite(float(field)) for field in fields):
            _refuse_field(text, fields, number)
    raise text.error("is no table of numbers; save it as comma-separated values")


def _refuse_field(text: Text, fields: list[bytes], line: int) -> NoReturn:
    bad = next(
        field for field in fields if not _REAL.fullmatch(field) or not np.isfinite(float(field))
    )
    what = "is missing" if not bad else f"is {quote(bad)}"
    raise text.error(
        f"wanted finite decimal numbers, but one {what}; correct the line, or leave out the row",
        line,
    )


def _fields(line: bytes, delimiter: bytes | None) -> list[bytes]:
    return [field.strip() for field in line.strip().split(delimiter)]
