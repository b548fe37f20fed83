"""Tables of numbers as text, one row per line, separated by commas, semicolons, tabs or blanks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from io import BytesIO
from math import inf
from typing import Any, NoReturn

import numpy as np

from condal.errors import FormatError
from condal.io.formats.numerals import (
    DECIMAL,
    DECIMAL_COMMA,
    MAX_EXACT_INTEGER,
    MISSING,
    line_blocks,
)
from condal.io.formats.signatures import is_npy, is_npz
from condal.io.formats.text import Source, Text, quote, read_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array

MAX_COLUMNS = 100_000

_BLANK = re.compile(rb"^[ \t]+$", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)
# A quoted number between delimiters, blanks or ends of lines.
_QUOTED = re.compile(rb"(?<![^\s,;])([\"'])([-+.\deE]*)\1(?![^\s,;])")
# Only some programs take these for blanks, so lines and columns would be counted in two ways.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
# A malformed number rather than a name: 1D3, 0x10, 1_000.
_LIKE_A_NUMBER = re.compile(rb"[\"']?[+-]?\.?\d.*", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of finite numbers, which begin at the offset `begin` of the text, and the names of the
    columns, if the first line has them."""

    text: Text
    names: tuple[str, ...] | None
    values: Array
    begin: int

    def column(self, name: str) -> int:
        """Return the index of a column, given by its name or by its number from 1."""
        if self.names is not None and self.names.count(name) == 1:
            return self.names.index(name)
        if name.isdecimal() and 1 <= int(name) <= self.values.shape[1]:
            return int(name) - 1
        known = f"1 to {self.values.shape[1]}"
        if self.names is not None:
            known = f"{', '.join(self.names)}, or {known}"
        raise self.text.error(f"there is no unique column {name!r}; there are {known}")

    def whole(self, place: int, noun: str, *, least: float = -inf) -> Any:
        """Return a column of exact whole numbers; FormatError names the line of another number."""
        numbers = self.values[:, place]
        wrong = (numbers != np.rint(numbers)) | (np.abs(numbers) > MAX_EXACT_INTEGER)
        wrong |= numbers < least
        if wrong.any():
            row = int(np.argmax(wrong))
            range_ = "of at most 2^53" if least == -inf else f"from {least:g} to 2^53"
            raise self.text.error(
                f"{noun} must be a whole number, {range_}; got {numbers[row]:.17g}: correct the "
                "line, or choose other columns",
                self.line(row),
            )
        return numbers.astype(np.int64)

    def line(self, row: int) -> int:
        """Return the line, from 1, of a row, from 0."""
        return self.text.line_of_row(self.begin, row)


def read_table(path: Source, *, wanted: str = "rows of numbers") -> Table:
    """Read a table of numbers, all of whose rows have the same length.

    The first line may name the columns. Lines that begin with # are skipped, and numbers may be
    quoted.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be packed with gzip or xz.
    wanted : str
        What the file should hold, for the error of an empty one.

    Returns
    -------
    Table
        The numbers, in `values`, and the names of the columns.
    """
    return next(tables([read_text(path, wanted=wanted)]))


def tables(
    pieces: Iterable[Text],
    explained: Callable[[Text], AbstractContextManager[object]] = nullcontext,
) -> Iterator[Table]:
    """Yield the rows of each piece of a text that has some; all have the form of the first.

    Each piece is parsed in the context `explained(piece)`, which may say more in an error.
    """
    form, rows, text = None, False, None
    for text in pieces:
        with explained(text):
            lines, begin = _plain(text), 0
            if form is None:
                form = _form(lines)
                if form is None:
                    continue
                begin = form.begin
            table = Table(lines, form.names, _values(lines, form, begin), begin)
        if len(table.values):
            rows = True
            yield table
    assert text is not None
    if form is None:
        raise text.error("holds only comments; wanted rows of numbers")
    if not rows:
        raise text.error("has names of columns, but no row of numbers after them")


@dataclass(frozen=True)
class _Form:
    """The offset of the rows of a table, their delimiter (None for blanks), width and names."""

    begin: int
    delimiter: bytes | None
    width: int
    names: tuple[str, ...] | None


def _form(text: Text) -> _Form | None:
    """Return the form of the table in a plain text, by its first line; None if it is blank."""
    begin, after, content = 0, 0, b""
    for content, after in text.lines():
        if not content.isspace():
            break
        begin = after
    else:
        return None
    line = text.line_at(begin)
    delimiter = _delimiter(text, content, line)
    first = _fields(content, delimiter)
    if len(first) > MAX_COLUMNS:
        raise text.error(
            f"has {len(first)} columns, more than the {MAX_COLUMNS} that are read", line
        )
    names = None
    if not all(map(DECIMAL.fullmatch, first)):
        if not _are_names(first):
            _refuse_field(text, first, line)
        names = tuple(field.decode().strip("\"' ") for field in first)
        begin = after
    return _Form(begin, delimiter, len(first), names)


def _plain(text: Text) -> Text:
    """Remove comments, and quotes around numbers; the number of lines stays."""
    data = _COMMENT.sub(b"", text.data) if b"#" in text.data else text.data
    if b'"' in data or b"'" in data:
        data = _QUOTED.sub(rb"\2", data)
    if b" \n" in data or b"\t\n" in data or data.endswith((b" ", b"\t")):
        data = _BLANK.sub(b"", data)  # NumPy takes blanks for a field if there is a delimiter
    text = replace(text, data=data)
    if (control := _CONTROL.search(data)) is not None:
        raise text.error(
            f"holds the control character {control[0].decode()!a}; remove it, or end lines with a "
            "line feed",
            text.line_at(control.start()),
        )
    return text


def _delimiter(text: Text, content: bytes, line: int) -> bytes | None:
    """Return what separates the fields of the first line; None for blanks."""
    if b"::" in content:
        raise text.error(
            "the columns are separated by '::'; write commas, for example with: sed 's/::/,/g'",
            line,
        )
    words = re.split(rb"[;\t ]+", content.strip())
    if len(words) > 1 and all(DECIMAL_COMMA.fullmatch(w) or DECIMAL.fullmatch(w) for w in words):
        for word in words:
            if DECIMAL_COMMA.fullmatch(word):
                raise text.error(_decimal_comma(word), line)
    return next((d for d in (b";", b",", b"\t") if d in content), None)


def _are_names(fields: list[bytes]) -> bool:
    """Whether a first line names its columns: no field is a number or stands for a missing one."""
    if any(DECIMAL.fullmatch(field) or MISSING.fullmatch(field) for field in fields):
        return False
    return not all(map(_LIKE_A_NUMBER.fullmatch, fields))


def _values(text: Text, form: _Form, begin: int) -> Array:
    """Parse all rows from `begin` on at once, or raise the error of the first faulty line."""
    delimiter, width = form.delimiter, form.width
    parts = [np.empty((0, width))]
    for first, end in line_blocks(text.data, begin):
        rows = text.data[first:end]
        if rows.isspace():
            continue
        try:
            values = np.loadtxt(
                BytesIO(rows),
                delimiter=None if delimiter is None else delimiter.decode(),
                comments=None,
                ndmin=2,
            )
        except ValueError:
            _refuse(text, first, delimiter, width)
        if values.shape[1] != width or not np.isfinite(values).all():
            _refuse(text, first, delimiter, width)
        parts.append(values)
    return np.concatenate(parts)


def _refuse(text: Text, begin: int, delimiter: bytes | None, width: int) -> NoReturn:
    for number, content in text.numbered_lines(begin):
        if content.isspace():
            continue
        fields = _fields(content, delimiter)
        if len(fields) != width:
            raise text.error(
                f"got {len(fields)} columns, wanted {width} as in the first line; correct the line",
                number,
            )
        if not all(map(_is_number, fields)):
            _refuse_field(text, fields, number)
    raise text.error("is not a table of numbers; save it as comma-separated values")


def _refuse_field(text: Text, fields: list[bytes], line: int) -> NoReturn:
    wrong = [(k, field) for k, field in enumerate(fields, 1) if not _is_number(field)]
    # In a line that is read as names, a missing value is the fault.
    column, bad = next((pair for pair in wrong if MISSING.fullmatch(pair[1])), wrong[0])
    if DECIMAL_COMMA.fullmatch(bad):
        raise text.error(_decimal_comma(bad), line)
    if not bad and not any(map(_is_number, fields)):
        raise text.error(
            f"column {column} has neither a name nor a number; give it one, or leave out the "
            "column",
            line,
        )
    what = f"is {quote(bad)}" if bad.strip(b"\"'") else "is missing"
    raise text.error(
        f"wanted finite decimal numbers, but column {column} {what}; correct the line, or leave "
        "out the row",
        line,
    )


def _decimal_comma(word: bytes) -> str:
    return f"got {quote(word)}, with a decimal comma; write {quote(word.replace(b',', b'.'))}"


def _is_number(field: bytes) -> bool:
    return bool(DECIMAL.fullmatch(field)) and bool(np.isfinite(float(field)))


def _fields(line: bytes, delimiter: bytes | None) -> list[bytes]:
    return [field.strip() for field in line.strip().split(delimiter)]


def read_points(path: PathLike) -> Array:
    """Read points from a .npy file, or from a table with or without names of columns.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    ndarray
        A matrix with one point per row.
    """
    name = os.fsdecode(path)
    if is_npz(path):
        raise FormatError(
            "is a .npz file, and it is not known which of its arrays holds the points: save one "
            "array with numpy.save(path, points)",
            path=name,
        )
    if not is_npy(path):
        return read_table(path, wanted="points, one per row").values
    from condal.io.formats.arrays import read_array

    array = read_array(path)
    if array.dtype.kind == "c":
        raise FormatError("holds complex numbers; points are real", path=name)
    if array.ndim != 2 or 0 in array.shape:
        raise FormatError(
            f"holds an array of shape {array.shape}; wanted two dimensions, one row per point",
            path=name,
        )
    return np.asarray(array, dtype=np.float64)
