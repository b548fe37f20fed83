"""Tables of numbers as text: a row a line, by commas, semicolons, tabs or blanks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from io import BytesIO
from math import inf
from typing import Any, NoReturn

import numpy as np

from condal.errors import FormatError
from condal.io.formats.faults import line_of_entry
from condal.io.formats.numerals import DECIMAL, DECIMAL_COMMA, MISSING
from condal.io.formats.text import Text, quote, read_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array

MAX_COLUMNS = 100_000
LARGEST = 2**53  # above it a float may stand for several whole numbers

_BLANK = re.compile(rb"^[ \t]+$", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)
# A number in quotes, with nothing but a delimiter, a blank or a line's end beside them.
_QUOTED = re.compile(rb"(?<![^\s,;])([\"'])([-+.\deE]*)\1(?![^\s,;])")
# Blanks to some, and not to others: lines and columns would be counted in two ways.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
# A number that went wrong, rather than a name: 1D3, 0x10, 1_000.
_LIKE_A_NUMBER = re.compile(rb"[\"']?[+-]?\.?\d.*", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of finite numbers, and the names of the columns if the first line has them.

    `begin` is where the rows begin in the text.
    """

    text: Text
    names: tuple[str, ...] | None
    values: Array
    begin: int

    def column(self, name: str) -> int:
        """Where the column of that name, or of that number from 1, is."""
        if self.names is not None and self.names.count(name) == 1:
            return self.names.index(name)
        if name.isdecimal() and 1 <= int(name) <= self.values.shape[1]:
            return int(name) - 1
        known = f"1 to {self.values.shape[1]}"
        if self.names is not None:
            known = f"{', '.join(self.names)}, or {known}"
        raise self.text.error(f"there is no one column {name!r}; there are {known}")

    def whole(self, place: int, what: str, *, least: float = -inf) -> Any:
        """A column of whole numbers, each exact; FormatError names the line of the first other."""
        numbers = self.values[:, place]
        wrong = (numbers != np.rint(numbers)) | (np.abs(numbers) > LARGEST) | (numbers < least)
        if wrong.any():
            row = int(np.argmax(wrong))
            range_ = "of at most 2^53" if least == -inf else f"from {least:g} to 2^53"
            raise self.text.error(
                f"{what} must be a whole number, {range_}; got {numbers[row]:.17g}: correct the "
                "line, or choose other columns",
                self.line(row),
            )
        return numbers.astype(np.int64)

    def line(self, row: int) -> int:
        """The line, from 1, that a row, from 0, stands on."""
        return line_of_entry(self.text, self.begin, self.text.line_at(self.begin), row)


def read_table(path: PathLike, *, wanted: str = "rows of numbers") -> Table:
    """The numbers of a text file, all rows of one length; the first line may name the columns.

    Lines that begin with # are left out; numbers may stand in quotes.
    """
    return parse_table(read_text(path, wanted=wanted))


def parse_table(given: Text) -> Table:
    """`read_table` for a file already read."""
    text = plain(given)
    form = form_of(text)
    if form is None:
        raise comments_alone(text)
    if not text.data[form.begin :].strip():
        raise names_alone(text)
    return Table(text, form.names, values_of(text, form, form.begin), form.begin)


@dataclass(frozen=True)
class Form:
    """What the first line that is no comment says of a table: where its rows begin, what parts
    their fields (None for blanks), how many there are, and the names of the columns if it has
    them."""

    begin: int
    delimiter: bytes | None
    width: int
    names: tuple[str, ...] | None


def form_of(text: Text) -> Form | None:
    """The form of the table in a `plain` text; None if that is blank."""
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
    return Form(begin, delimiter, len(first), names)


def comments_alone(text: Text) -> FormatError:
    """The error of a file without a table."""
    return text.error("holds comments alone; wanted rows of numbers")


def names_alone(text: Text) -> FormatError:
    """The error of a table without rows."""
    return text.error("has names of columns, and no row of numbers after them")


def plain(text: Text) -> Text:
    """Without comments, and without quotes about numbers; the lines are as many as before."""
    data = _COMMENT.sub(b"", text.data) if b"#" in text.data else text.data
    if b'"' in data or b"'" in data:
        data = _QUOTED.sub(rb"\2", data)
    if b" \n" in data or b"\t\n" in data or data.endswith((b" ", b"\t")):
        data = _BLANK.sub(b"", data)  # which NumPy takes for a field, where others are parted
    text = replace(text, data=data)
    if (found := _CONTROL.search(data)) is not None:
        raise text.error(
            f"holds the control character {found[0].decode()!a}; remove it, or end lines with a "
            "line feed",
            text.line_at(found.start()),
        )
    return text


def _delimiter(text: Text, content: bytes, line: int) -> bytes | None:
    """What parts the fields of the first line; None for blanks."""
    if b"::" in content:
        raise text.error(
            "the columns are parted by '::'; write commas, for example with: sed 's/::/,/g'", line
        )
    words = re.split(rb"[;\t ]+", content.strip())
    if len(words) > 1 and all(DECIMAL_COMMA.fullmatch(w) or DECIMAL.fullmatch(w) for w in words):
        for word in words:
            if DECIMAL_COMMA.fullmatch(word):
                raise text.error(_decimal_comma(word), line)
    return next((d for d in (b";", b",", b"\t") if d in content), None)


def _are_names(fields: list[bytes]) -> bool:
    """Whether a first line names its columns: no number is a name, nor what stands for one."""
    if any(DECIMAL.fullmatch(field) or MISSING.fullmatch(field) for field in fields):
        return False
    return not all(map(_LIKE_A_NUMBER.fullmatch, fields))


def values_of(text: Text, form: Form, begin: int) -> Array:
    """All rows from `begin` on, at once; the error of the first line at fault where that does not
    do."""
    delimiter, width = form.delimiter, form.width
    if not text.data[begin:].strip():
        return np.empty((0, width))
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
        if not all(map(_is_number, fields)):
            _refuse_field(text, fields, number)
    raise text.error("is no table of numbers; save it as comma-separated values")


def _refuse_field(text: Text, fields: list[bytes], line: int) -> NoReturn:
    wrong = [(k, field) for k, field in enumerate(fields, 1) if not _is_number(field)]
    # In a line that is read as names, those that are none are at fault.
    column, bad = next((one for one in wrong if MISSING.fullmatch(one[1])), wrong[0])
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
