"""The text of a problem in the sparse SDPA format, parsed in bulk; errors name the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import numpy as np

from condal.io.formats.faults import line_of_entry
from condal.io.formats.header import most_claimed
from condal.io.formats.numerals import DECIMAL, FORTRAN, INTEGER, NOT_FINITE
from condal.io.formats.text import Text, quote
from condal.io.formats.words import IN_REALS, WORD, Floats, Ints, cut, digits, numbers

# matrices, blocks, rows and cols counted as SdpaProblem counts them, and values
Columns: TypeAlias = tuple[Ints, Ints, Ints, Ints, Floats]

# What sets numbers off as a space does, and the exponents of Fortran as others write them.
_PLAIN = bytes.maketrans(b",(){}dDqQ", b"     eEeE")
_SEPARATORS = bytes.maketrans(b",(){}", b"     ")
_NOUNS = ("matrix", "block", "row", "column")


@dataclass(frozen=True)
class _Header:
    """b, the sizes, and where the entries begin: the offset and the number of that line."""

    b: Floats
    sizes: tuple[int, ...]
    start: int
    line: int


def parse_sdpa(text: Text) -> tuple[Floats, tuple[int, ...], Columns]:
    """b, the sizes of the blocks, and the entries."""
    header = _header(text)
    columns = _bulk(text.data[header.start :], header)
    if columns is None:
        _refuse_first_fault(text, header)
    matrices, blocks, i, j, values = columns
    rows, cols = np.minimum(i, j), np.maximum(i, j)
    _refuse_duplicates(text, header, (matrices, blocks, rows, cols))
    return header.b, header.sizes, (matrices, blocks, rows, cols, values)


class _Lines:
    """The lines of the header, one after another, without comments before the first number."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.number = 0
        self.after = 0
        self._lines: Iterator[tuple[bytes, int]] = text.lines()
        self._begun = False

    def next(self, wanted: str) -> list[bytes]:
        """The words of the next line that has any, cut at commas and braces too."""
        for content, after in self._lines:
            self.number += 1
            self.after = after
            if not self._begun and content.lstrip()[:1] in (b'"', b"*"):
                continue
            words = WORD.findall(content.translate(_SEPARATORS))
            if words:
                self._begun = True
                return words
        raise self.text.error(f"the file ends before {wanted}; it is truncated", self.number)


def _header(text: Text) -> _Header:
    lines = _Lines(text)
    m = _count(lines, "matrices")
    # A right-hand side is at least a digit and a space.
    _refuse_claim(lines, m, "matrices")
    blocks = _count(lines, "blocks")
    _refuse_claim(lines, blocks, "blocks")
    sizes = tuple(int(size) for size in _several(lines, blocks, "sizes of blocks", INTEGER))
    if 0 in sizes:
        raise text.error("a block has size 0; give its size, negative if diagonal", lines.number)
    most = most_claimed(len(text.data))
    if (total := sum(map(abs, sizes))) > most:
        raise text.error(
            f"the blocks have {total} rows in all, more than the {most} that can be read from "
            f"{len(text.data)} bytes; check the sizes",
            lines.number,
        )
    b = np.array(_several(lines, m, "numbers of b", None))
    return _Header(b, sizes, lines.after, lines.number + 1)


def _count(lines: _Lines, noun: str) -> int:
    """The number that a line begins with; what follows on the line is a remark."""
    word, *rest = lines.next(f"the number of {noun}")
    plain = word.removeprefix(b"+")
    if not plain.isdigit() or len(plain) > 18 or int(plain) == 0:
        raise lines.text.error(
            f"wanted the number of {noun}, a whole number from 1 on, got {quote(word)}; correct "
            'the line; comments, which begin with " or *, stand before the first number',
            lines.number,
        )
    _refuse_more(lines, rest, f"the number of {noun}")
    return int(plain)


def _refuse_claim(lines: _Lines, count: int, noun: str) -> None:
    size = len(lines.text.data)
    if count > size // 2:
        raise lines.text.error(
            f"the header says {count} {noun}, but the file has only {size} bytes; it is truncated "
            "or the header is wrong",
            lines.number,
        )


def _several(lines: _Lines, count: int, noun: str, kind: re.Pattern[bytes] | None) -> list[float]:
    """`count` numbers over as many lines as they take: whole ones, or any where kind is None."""
    found: list[float] = []
    while len(found) < count:
        words = lines.next(f"the {noun}: {count} are wanted, {len(found)} are there")
        mine = words[: count - len(found)]
        for word in mine:
            if kind is not None and (not kind.fullmatch(word) or len(word) > 18):
                raise lines.text.error(
                    f"wanted {count} {noun}, whole numbers, got {quote(word)} after {len(found)}; "
                    "correct the line",
                    lines.number,
                )
            if kind is None and (fault := _number_fault(word)) is not None:
                raise lines.text.error(
                    f"of the {count} {noun}, number {len(found) + 1}: {fault}", lines.number
                )
            found.append(float(word.translate(_PLAIN)))
        begun = f" (the line before ended after {len(found) - len(mine)})" * (
            len(mine) < len(found)
        )
        _refuse_more(lines, words[len(mine) :], f"{count} {noun}{begun}")
    return found


def _refuse_more(lines: _Lines, rest: list[bytes], what: str) -> None:
    if rest and (DECIMAL.fullmatch(rest[0]) or FORTRAN.fullmatch(rest[0])):
        raise lines.text.error(
            f"after {what} stands one more number, {quote(rest[0])}; remove it, or correct the "
            "count that the header gives",
            lines.number,
        )


def _bulk(data: bytes, header: _Header) -> Columns | None:
    """The entries, or None if any line is at fault."""
    a = np.frombuffer(data.translate(_PLAIN), np.uint8)
    if not IN_REALS[a].all():
        return None
    starts, ends, first, width = cut(a)
    if np.any(width != 5):
        return None
    found = [digits(a, starts[first + k], ends[first + k]) for k in range(4)]
    values = numbers(a, starts[first + 4], ends[first + 4])
    if values is None or any(part is None for part in found):
        return None
    matrices, blocks, i, j = (part for part in found if part is not None)
    if not values.size:
        return matrices, blocks, i, j, values
    if matrices.max() > header.b.size or blocks.min() < 1 or blocks.max() > len(header.sizes):
        return None
    sizes = np.array(header.sizes)[blocks - 1]
    if min(i.min(), j.min()) < 1 or np.any(np.maximum(i, j) > abs(sizes)):
        return None
    if np.any((sizes < 0) & (i != j)):
        return None
    return matrices, blocks - 1, i - 1, j - 1, values


def _refuse_first_fault(text: Text, header: _Header) -> NoReturn:
    """Raise the error of the first entry at fault."""
    for number, (content, _) in enumerate(text.lines(header.start), header.line):
        words = WORD.findall(content.translate(_SEPARATORS))
        if words and (fault := _entry_fault(words, header)) is not None:
            raise text.error(fault, number)
    raise AssertionError("the bulk parser refused lines that are right")


def _entry_fault(words: list[bytes], header: _Header) -> str | None:
    """What is wrong with a line, or None."""
    if len(words) != 5:
        shown = quote(b" ".join(words))
        return f"wanted 'matrix block i j value', 5 columns, got {len(words)}: {shown}"
    for word, noun in zip(words, _NOUNS, strict=False):
        if not word.isdigit() or len(word) > 18:
            return f"the {noun} of an entry must be a whole number, got {quote(word)}"
    matrix, block, i, j = map(int, words[:4])
    if matrix > header.b.size:
        return f"got matrix {matrix}, but the header says {header.b.size} of them"
    if not 1 <= block <= len(header.sizes):
        return f"got block {block}, wanted 1 to {len(header.sizes)}, as the header says"
    size = abs(header.sizes[block - 1])
    for place, noun in ((i, "row"), (j, "column")):
        if not 1 <= place <= size:
            from_zero = "; add 1 to all rows and columns if they start at 0" * (place == 0)
            return f"got {noun} {place} of block {block}, wanted 1 to {size}{from_zero}"
    if header.sizes[block - 1] < 0 and i != j:
        return f"entry ({i}, {j}) lies off the diagonal of block {block}, which is diagonal"
    return _number_fault(words[4])


def _number_fault(word: bytes) -> str | None:
    if NOT_FINITE.fullmatch(word):
        return f"it must be finite, got {quote(word)}; remove it or give a number"
    if not (DECIMAL.fullmatch(word) or FORTRAN.fullmatch(word)):
        return f"wanted a decimal number, got {quote(word)}; correct the line"
    if not math.isfinite(float(word.translate(_PLAIN))):
        return f"{quote(word)} overflows; scale the numbers below 1e308"
    return None


def _refuse_duplicates(text: Text, header: _Header, places: tuple[Ints, ...]) -> None:
    order = np.lexsort(places[::-1])
    same = np.ones(max(order.size - 1, 0), dtype=bool)
    for part in places:
        same &= np.diff(part[order]) == 0
    if not same.any():
        return
    # Of each pair that stands twice the later line is at fault; the first such line is named.
    pairs = np.stack([order[:-1][same], order[1:][same]])
    again = pairs.max(axis=0)
    k = int(np.argmin(again))
    matrix, block, i, j = (int(part[again[k]]) for part in places)
    before = line_of_entry(text, header.start, header.line, int(pairs.min(axis=0)[k]))
    raise text.error(
        f"entry ({i + 1}, {j + 1}) of block {block + 1} of matrix {matrix} was given in line "
        f"{before} already, there or mirrored; give it once: readers differ in whether they add",
        line_of_entry(text, header.start, header.line, int(again[k])),
    )
