"""Numbers in text: what counts as one, parsed in bulk, and the shortest spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from condal.runtime.meter import check_cancelled

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

MAX_EXACT_INTEGER = 2**53  # above it a float may stand for several integers
MAX_DIGITS = 18  # of an integer that surely fits in 64 bits
BLOCK_BYTES = 1 << 23  # bounds the working arrays, about 20 bytes for each byte of text

# Not what bytes.split() leaves: it also cuts at vertical tabs and form feeds, which are refused.
WORD = re.compile(rb"[^ \t\r\n]+")

# Digits are matched in one way only: a second one costs the square of the length of a word.
_DIGITS = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"

DECIMAL = re.compile(_DIGITS + rb"(?:[eE][+-]?\d+)?")
INTEGER = re.compile(rb"[+-]?\d+")
FORTRAN = re.compile(_DIGITS + rb"[dDqQ][+-]?\d+")
DECIMAL_COMMA = re.compile(rb"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
# The spellings of unknown values by other programs; Na is sodium.
MISSING = re.compile(rb"|\?|NA|na|n/a|N/A|#N/A|null|NULL|Null|[+-]?(?i:nan|inf|infinity)")


def spell(w: float) -> str:
    """Write a number as the shortest text that reads back as the same number."""
    return str(int(w)) if w.is_integer() and abs(w) <= MAX_EXACT_INTEGER else repr(w)


def is_count(word: bytes) -> bool:
    """Whether a word is a whole number without sign that fits in 64 bits."""
    return word.isdigit() and len(word) <= MAX_DIGITS


def _lookup(characters: bytes) -> npt.NDArray[np.bool_]:
    """Return a table that says which of the 256 bytes are among the characters."""
    table = np.zeros(256, dtype=np.bool_)
    table[list(characters)] = True
    table.flags.writeable = False
    return table


_SPACE = _lookup(b" \t\r\n")
IN_INTEGERS = _lookup(b" \t\r\n0123456789+-")
IN_REALS = _lookup(b" \t\r\n0123456789+-.eE")


def line_blocks(data: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole lines, of about BLOCK_BYTES bytes.

    All but the first ask whether the time is up, so a small file is read whatever the limit.
    """
    begin = start
    while begin < len(data):
        if begin > start:
            check_cancelled()
        end = data.find(b"\n", begin + BLOCK_BYTES) + 1 or len(data)
        yield begin, end
        begin = end


def split_words(a: Bytes) -> tuple[Ints, Ints, Ints, Ints]:
    """Find the words of a text.

    Return where the words start and end and, for each line with words, its first word and the
    number of its words.
    """
    edges = np.flatnonzero(np.diff(_SPACE[a], prepend=True, append=True))
    starts, ends = edges[0::2], edges[1::2]
    upto = np.searchsorted(starts, np.flatnonzero(a == ord("\n")))
    width = np.diff(upto, prepend=0, append=starts.size)
    first = np.cumsum(width) - width
    return starts, ends, first[width > 0], width[width > 0]


def parse_digits(a: Bytes, starts: Ints, ends: Ints) -> Ints | None:
    """Parse the words a[start:end] of 1 to 18 digits; None if any word is different."""
    length = ends - starts
    value = np.zeros(length.size, dtype=np.int64)
    if not length.size:
        return value
    if length.min() < 1 or length.max() > MAX_DIGITS:
        return None
    for k in range(int(length.max())):
        # Below "0" wraps round to above 9; an index before the token is masked.
        digit = np.where(k < length, a[ends - 1 - k] - np.uint8(48), np.uint8(0))
        if digit.max() > 9:
            return None
        # Widened by hand: NumPy 1 would multiply in uint8.
        value += digit.astype(np.int64) * 10**k
    return value


def parse_numbers(a: Bytes, starts: Ints, ends: Ints) -> Floats | None:
    """Parse the words a[start:end]; None if any word is not a finite decimal number."""
    sign = np.isin(a[starts], list(b"+-"))
    whole = parse_digits(a, starts + sign, ends)
    # An exact integer needs no rounding by float().
    if whole is not None and whole.max(initial=0) <= MAX_EXACT_INTEGER:
        return np.where(a[starts] == ord("-"), -whole, whole).astype(np.float64)
    data = a.tobytes()
    tokens = (data[s:e] for s, e in zip(starts.tolist(), ends.tolist(), strict=True))
    try:
        value = np.fromiter(map(float, tokens), np.float64, starts.size)
    except ValueError:
        return None
    return value if np.isfinite(value).all() else None


def parse_lines(
    a: Bytes, whole: int, widths: Sequence[int], known: npt.NDArray[np.bool_] = IN_REALS
) -> tuple[Any, ...] | None:
    """Parse lines of `whole` whole numbers and a number, 1 where it is missing, into columns.

    None if any line is faulty, or does not have one of these widths.
    """
    starts, ends, first, width = split_words(a)
    if not known[a].all() or not np.isin(width, widths).all():
        return None
    columns = [parse_digits(a, starts[first + k], ends[first + k]) for k in range(whole)]
    has_number = width > whole
    last = first[has_number] + whole
    numbers = parse_numbers(a, starts[last], ends[last])
    if numbers is None or any(column is None for column in columns):
        return None
    values = np.ones(first.size)
    values[has_number] = numbers
    return *columns, values


def parse_all(data: bytes) -> Floats | None:
    """Parse all words of a text; None if any is not a finite decimal number."""
    parts = [np.zeros(0)]
    for begin, end in line_blocks(data):
        a = np.frombuffer(data, np.uint8, end - begin, begin)
        starts, ends, *_ = split_words(a)
        values = parse_numbers(a, starts, ends) if IN_REALS[a].all() else None
        if values is None:
            return None
        parts.append(values)
    return np.concatenate(parts)
