"""Lines `i j` or `i j w` with 1 <= i, j <= n, parsed in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from condal.errors import FormatError
from condal.io.formats.faults import refuse_first_fault
from condal.io.formats.header import Layout, check_claims
from condal.io.formats.text import Text
from condal.io.formats.words import IN_INTEGERS, IN_REALS, Floats, cut, digits, numbers

Indices: TypeAlias = npt.NDArray[np.int32]
Entries: TypeAlias = tuple[Indices, Indices, Floats]

# Bounds the working arrays, about 20 bytes for each byte of text.
BLOCK = 1 << 23


def read_entries(text: Text, layout: Layout, start: int, line: int) -> Entries:
    """The 0-based i and j, and w (1 where missing), of all lines from offset `start` on."""
    check_claims(text, layout, start, line - 1)
    found = scan(text, layout, start)
    if found.faulty or found.count > layout.m:
        found.refuse(text, layout, start, line)
    if found.count < layout.m:
        raise truncated(text, layout, found.count)
    return found.entries


@dataclass(frozen=True, eq=False)
class Scan:
    """The entries of some lines, a part for each block: of all before one that is `faulty`, or that
    holds more than there are to be."""

    parts: list[Entries]
    faulty: bool

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(part[0].size for part in self.parts)

    @property
    def entries(self) -> Entries:
        """All of them."""
        if not self.parts:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        i, j, w = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        return i, j, w

    def refuse(
        self, text: Text, layout: Layout, start: int, line: int, *, seen: int = 0
    ) -> NoReturn:
        """Raise the error of the first line at fault; `seen` entries of the file came before."""
        for (begin, end), part in zip(blocks(text.data, start), [*self.parts, None], strict=False):
            if part is None or seen + part[0].size > layout.m:
                refuse_first_fault(text, layout, begin, line, seen)
            seen += part[0].size
            line += text.data.count(b"\n", begin, end)
        raise AssertionError("no line is at fault")


def scan(text: Text, layout: Layout, start: int) -> Scan:
    """What stands in the lines from offset `start` on."""
    parts: list[Entries] = []
    seen = 0
    for begin, end in blocks(text.data, start):
        part = _bulk(text.data, begin, end, layout)
        if part is None:
            return Scan(parts, True)
        parts.append(part)
        seen += part[0].size
        if seen > layout.m:
            break
    return Scan(parts, False)


def truncated(text: Text, layout: Layout, seen: int) -> FormatError:
    """The error of a text that ends before all entries were there."""
    return text.error(
        f"the header says {layout.m} {layout.noun}, but the file ends after {seen};"
        f" it is truncated or the header is wrong{layout.hint}",
        text.line_at(len(text.data) - 1),
    )


def blocks(data: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Ranges of whole lines, of about BLOCK bytes."""
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        yield start, end
        start = end


def _bulk(data: bytes, begin: int, end: int, layout: Layout) -> Entries | None:
    """The numbers of data[begin:end], or None if any line is at fault."""
    a = np.frombuffer(data, np.uint8, end - begin, begin)
    if not (IN_INTEGERS if layout.integer else IN_REALS)[a].all():
        return None
    starts, ends, first, width = cut(a)
    if not np.isin(width, layout.columns).all():
        return None

    i = digits(a, starts[first], ends[first])
    j = digits(a, starts[first + 1], ends[first + 1])
    third = first[width == 3] + 2
    given = numbers(a, starts[third], ends[third])
    if i is None or j is None or given is None:
        return None
    if any(k.size and (k.min() < 1 or k.max() > layout.n) for k in (i, j)):
        return None
    w = np.ones(first.size)
    w[width == 3] = given
    return (i - 1).astype(np.int32), (j - 1).astype(np.int32), w
