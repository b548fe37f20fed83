"""The words of a text, cut and read as numbers in bulk."""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Table: TypeAlias = npt.NDArray[np.bool_]

# Not what bytes.split() leaves: it also cuts at vertical tabs and form feeds, which are refused.
WORD = re.compile(rb"[^ \t\r\n]+")

_NEWLINE = ord("\n")


def lookup(characters: bytes) -> Table:
    """Which of the 256 bytes are among the characters."""
    table = np.zeros(256, dtype=np.bool_)
    table[list(characters)] = True
    table.flags.writeable = False
    return table


_SPACE = lookup(b" \t\r\n")
IN_INTEGERS = lookup(b" \t\r\n0123456789+-")
IN_REALS = lookup(b" \t\r\n0123456789+-.eE")


def cut(a: Bytes) -> tuple[Ints, Ints, Ints, Ints]:
    """Where the words start and end; of each line that has any, its first word and how many."""
    edges = np.flatnonzero(np.diff(_SPACE[a], prepend=True, append=True))
    starts, ends = edges[0::2], edges[1::2]
    upto = np.searchsorted(starts, np.flatnonzero(a == _NEWLINE))
    width = np.diff(upto, prepend=0, append=starts.size)
    first = np.cumsum(width) - width
    return starts, ends, first[width > 0], width[width > 0]


def digits(a: Bytes, starts: Ints, ends: Ints) -> Ints | None:
    """The whole numbers a[start:end], or None unless each has 1 to 18 digits and no more."""
    length = ends - starts
    value = np.zeros(length.size, dtype=np.int64)
    if not length.size:
        return value
    if length.min() < 1 or length.max() > 18:
        return None
    for k in range(int(length.max())):
        # Below "0" wraps round to above 9; an index before the token is masked.
        digit = np.where(k < length, a[ends - 1 - k] - np.uint8(48), np.uint8(0))
        if digit.max() > 9:
            return None
        # Widened by hand: NumPy 1 would multiply in uint8.
        value += digit.astype(np.int64) * 10**k
    return value


def numbers(a: Bytes, starts: Ints, ends: Ints) -> Floats | None:
    """The numbers a[start:end], or None if one is not a finite decimal number."""
    sign = np.isin(a[starts], list(b"+-"))
    whole = digits(a, starts + sign, ends)
    # Up to 2^53 a whole number is exact, so it needs no rounding by float().
    if whole is not None and whole.max(initial=0) <= 2**53:
        return np.where(a[starts] == ord("-"), -whole, whole).astype(np.float64)
    data = a.tobytes()
    tokens = (data[s:e] for s, e in zip(starts.tolist(), ends.tolist(), strict=True))
    try:
        value = np.fromiter(map(float, tokens), np.float64, starts.size)
    except ValueError:
        return None
    return value if np.isfinite(value).all() else None
