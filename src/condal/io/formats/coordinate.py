"""Lines `i j` or `i j w` with 1 <= i, j <= n, parsed in bulk; errors name the line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from condal.errors import FormatError
from condal.io.formats import numerals
from condal.io.formats.header import Layout, check_claims
from condal.io.formats.numerals import Floats
from condal.io.formats.text import Text, quote

Indices: TypeAlias = npt.NDArray[np.int32]
Entries: TypeAlias = tuple[Indices, Indices, Floats]

# Bounds the working arrays, about 20 bytes for each byte of text.
BLOCK_BYTES = 1 << 23


def read_entries(text: Text, layout: Layout, start: int) -> Entries:
    """Return the 0-based i and j, and w (1 where missing), of all lines from offset `start` on."""
    check_claims(text, layout, start, text.line_at(start - 1))
    scanned = scan(text, layout, start)
    if scanned.faulty or scanned.count > layout.m:
        scanned.refuse(text, layout, start)
    if scanned.count < layout.m:
        raise truncated_error(text, layout, scanned.count)
    return scanned.entries


@dataclass(frozen=True, eq=False)
class Scan:
    """The entries of some lines, block by block, up to a faulty or superfluous block."""

    blocks: list[Entries]
    faulty: bool

    @property
    def count(self) -> int:
        return sum(block[0].size for block in self.blocks)

    @property
    def entries(self) -> Entries:
        if not self.blocks:
            return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
        i, j, w = (np.concatenate(column) for column in zip(*self.blocks, strict=True))
        return i, j, w

    def refuse(self, text: Text, layout: Layout, start: int, *, seen: int = 0) -> NoReturn:
        """Raise the error of the first faulty line, after `seen` entries of the file."""
        blocks = zip(line_blocks(text.data, start), [*self.blocks, None], strict=False)
        for (begin, _), block in blocks:
            if block is None or seen + block[0].size > layout.m:
                _refuse_first_fault(text, layout, begin, seen)
            seen += block[0].size
        raise AssertionError("no line is faulty")


def scan(text: Text, layout: Layout, start: int) -> Scan:
    """Parse the lines from offset `start` on, up to the first faulty or superfluous block."""
    blocks: list[Entries] = []
    seen = 0
    for begin, end in line_blocks(text.data, start):
        block = _parse_block(text.data, begin, end, layout)
        if block is None:
            return Scan(blocks, True)
        blocks.append(block)
        seen += block[0].size
        if seen > layout.m:
            break
    return Scan(blocks, False)


def truncated_error(text: Text, layout: Layout, seen: int) -> FormatError:
    """Return the error of a text that ends too early, after `seen` entries."""
    return text.error(
        f"the header says {layout.m} {layout.noun}, but the file ends after {seen};"
        f" it is truncated or the header is wrong{layout.hint}",
        text.last_line,
    )


def line_blocks(data: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole lines, of about BLOCK_BYTES bytes."""
    while start < len(data):
        end = data.find(b"\n", start + BLOCK_BYTES) + 1 or len(data)
        yield start, end
        start = end


def _parse_block(data: bytes, begin: int, end: int, layout: Layout) -> Entries | None:
    """Parse data[begin:end]; None if any line is faulty."""
    a = np.frombuffer(data, np.uint8, end - begin, begin)
    if not (numerals.IN_INTEGERS if layout.integer else numerals.IN_REALS)[a].all():
        return None
    starts, ends, first, width = numerals.split_words(a)
    if not np.isin(width, layout.columns).all():
        return None

    i = numerals.parse_digits(a, starts[first], ends[first])
    j = numerals.parse_digits(a, starts[first + 1], ends[first + 1])
    third = first[width == 3] + 2
    weights = numerals.parse_numbers(a, starts[third], ends[third])
    if i is None or j is None or weights is None:
        return None
    if any(k.size and (k.min() < 1 or k.max() > layout.n) for k in (i, j)):
        return None
    w = np.ones(first.size)
    w[width == 3] = weights
    return (i - 1).astype(np.int32), (j - 1).astype(np.int32), w


def _refuse_first_fault(text: Text, layout: Layout, begin: int, seen: int) -> NoReturn:
    """Raise the error of the first faulty line from offset `begin` on."""
    for number, content in text.numbered_lines(begin):
        tokens = [word[0] for word in islice(numerals.WORD.finditer(content), 5)]
        if not tokens:
            continue
        if seen == layout.m:
            raise text.error(
                f"the header says {layout.m} {layout.noun}, but {quote(content)} follows them;"
                f" correct the header or remove the excess{layout.hint}",
                number,
            )
        if (fault := _line_fault(tokens, layout)) is not None:
            raise text.error(fault, number)
        seen += 1
    raise AssertionError("the bulk parser refused correct lines")


def _line_fault(tokens: list[bytes], layout: Layout) -> str | None:
    """Describe what is wrong with a line, or return None."""
    if len(tokens) not in layout.columns:
        got = "5 or more" if len(tokens) > 4 else str(len(tokens))
        return f"got {got} columns, wanted {layout.wanted}; correct the line"
    for token in tokens[:2]:
        if (fault := index_fault(token, layout)) is not None:
            return fault
    return None if len(tokens) == 2 else weight_fault(tokens[2], integer=layout.integer)


def index_fault(token: bytes, layout: Layout) -> str | None:
    """Describe what is wrong with an index, or return None."""
    if not numerals.is_count(token):
        return f"an index must be a whole number from 1 to {layout.n}, got {quote(token)}"
    if int(token) == 0:
        return f"got index 0, wanted 1 to {layout.n}; add 1 to all indices if they start at 0"
    if int(token) > layout.n:
        return f"got index {int(token)}, but the header says {layout.n} vertices{layout.hint}"
    return None


def weight_fault(token: bytes, *, integer: bool = False, noun: str = "weight") -> str | None:
    """Describe what is wrong with a weight or another number, or return None."""
    if numerals.FORTRAN.fullmatch(token):
        return f"got the Fortran exponent {quote(token)}; write E for the exponent, as in 1.5E3"
    if numerals.NOT_FINITE.fullmatch(token):
        return f"a {noun} must be finite, got {quote(token)}; remove the line or give a number"
    if not numerals.DECIMAL.fullmatch(token):
        return f"a {noun} must be a decimal number, got {quote(token)}"
    if integer and not numerals.INTEGER.fullmatch(token):
        return f"an integer file holds {quote(token)}; write 'real' for 'integer' in the banner"
    if not math.isfinite(float(token)):
        return f"the {noun} {quote(token)} overflows; scale all {noun}s below 1e308"
    return None
