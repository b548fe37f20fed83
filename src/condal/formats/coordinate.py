"""Lines `i j` or `i j w` with 1 <= i, j <= n, parsed in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from condal.formats.faults import refuse_first_fault
from condal.formats.header import Layout, check_claims
from condal.formats.text import Text

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Indices: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]
Entries: TypeAlias = tuple[Indices, Indices, Floats]

# Bounds the working arrays, about 20 bytes for each byte of text.
BLOCK = 1 << 23

_NEWLINE = ord("\n")


def _lookup(characters: bytes) -> npt.NDArray[np.bool_]:
    table = np.zeros(256, dtype=np.bool_)
    table[list(characters)] = True
    return table


_SPACE = _lookup(b" \t\r\n")
_IN_INTEGERS = _lookup(b" \t\r\n0123456789+-")
_IN_REALS = _lookup(b" \t\r\n0123456789+-.eE")


def read_entries(text: Text, layout: Layout, start: int, line: int) -> Entries:
    """The 0-based i and j, and w (1 where missing), of all lines from offset `start` on."""
    check_claims(text, layout, start, line - 1)
    parts: list[Entries] = []
    seen = 0
    for begin, end in _blocks(text.data, start):
        part = _bulk(text.data, begin, end, layout)
        if part is None or seen + part[0].size > layout.m:
            refuse_first_fault(text, layout, begin, line, seen)
        parts.append(part)
        seen += part[0].size
        line += text.data.count(b"\n", begin, end)
    if seen < layout.m:
        raise text.error(
            f"the header says {layout.m} {layout.noun}, but the file ends after {seen};"
            f" it is truncated or the header is wrong{layout.hint}",
            text.line_at(len(text.data) - 1),
        )
    if not parts:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    i, j, w = (np.concatenate(column) for column in zip(*parts, strict=True))
    return i, j, w


def _blocks(data: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Ranges of whole lines, of about BLOCK bytes."""
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        yield start, end
        start = end


def _bulk(data: bytes, begin: int, end: int, layout: Layout) -> Entries | None:
    """The numbers of data[begin:end], or None if any line is at fault."""
    a = np.frombuffer(data, np.uint8, end - begin, begin)
    if not (_IN_INTEGERS if layout.integer else _IN_REALS)[a].all():
        return None
    edges = np.flatnonzero(np.diff(_SPACE[a], prepend=True, append=True))
    starts, ends = edges[0::2], edges[1::2]

    upto = np.searchsorted(starts, np.flatnonzero(a == _NEWLINE))
    width = np.diff(upto, prepend=0, append=starts.size)
    first = np.cumsum(width) - width
    first, width = first[width > 0], width[width > 0]
    if not np.isin(width, layout.columns).all():
        return None

    i = _digits(a, starts[first], ends[first])
    j = _digits(a, starts[first + 1], ends[first + 1])
    third = first[width == 3] + 2
    given = _numbers(a, starts[third], ends[third])
    if i is None or j is None or given is None:
        return None
    if any(k.size and (k.min() < 1 or k.max() > layout.n) for k in (i, j)):
        return None
    w = np.ones(first.size)
    w[width == 3] = given
    return (i - 1).astype(np.int32), (j - 1).astype(np.int32), w


def _digits(a: Bytes, starts: Ints, ends: Ints) -> Ints | None:
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


def _numbers(a: Bytes, starts: Ints, ends: Ints) -> Floats | None:
    """The numbers a[start:end], or None if one is not a finite decimal number."""
    sign = np.isin(a[starts], list(b"+-"))
    whole = _digits(a, starts + sign, ends)
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
