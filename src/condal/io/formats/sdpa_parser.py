"""The text of a problem in the sparse SDPA format, parsed in bulk; errors name the line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from condal.errors import FormatError
from condal.io.formats import numerals
from condal.io.formats.entries import max_claim, weight_fault
from condal.io.formats.numerals import Floats, Ints
from condal.io.formats.text import Text, quote

# matrices, blocks, rows and cols, counted as in SdpaProblem, and values
Columns: TypeAlias = tuple[Ints, Ints, Ints, Ints, Floats]

# Separators become spaces, and Fortran's exponents the usual ones.
_PLAIN = bytes.maketrans(b",(){}dDqQ", b"     eEeE")
_SEPARATORS = bytes.maketrans(b",(){}", b"     ")
_NO_ENTRIES: tuple[Any, ...] = (*[np.zeros(0, np.int64)] * 4, np.zeros(0))
_NOUNS = ("matrix", "block", "row", "column")


@dataclass(frozen=True)
class _Header:
    """The right-hand side b, the sizes, and the offset of the entries."""

    b: Floats
    sizes: tuple[int, ...]
    start: int


def parse_sdpa(text: Text) -> tuple[Floats, tuple[int, ...], Columns]:
    """Return b, the sizes of the blocks, and the entries."""
    header = _header(text)
    columns = parse_entries(text.data[header.start :].translate(_PLAIN))
    if columns is None or not _fit(columns, header):
        text.refuse_first(header.start, partial(_entry_fault, header))
    matrices, values = columns[0], columns[4]
    blocks, i, j = (column - 1 for column in columns[1:4])
    rows, cols = np.minimum(i, j), np.maximum(i, j)
    _refuse_duplicates(text, header, (matrices, blocks, rows, cols))
    return header.b, header.sizes, (matrices, blocks, rows, cols, values)


class _Lines:
    """The lines of the header; comments before the first number are skipped."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.number = 0
        self.after = 0
        self._lines: Iterator[tuple[bytes, int]] = text.lines()
        self._begun = False

    def next(self, wanted: str) -> list[bytes]:
        """Return the words of the next line that has any; commas and braces also separate words."""
        for content, after in self._lines:
            self.number += 1
            self.after = after
            if not self._begun and content.lstrip()[:1] in (b'"', b"*"):
                continue
            words = numerals.WORD.findall(content.translate(_SEPARATORS))
            if words:
                self._begun = True
                return words
        raise self.error(f"the file ends before {wanted}; it is truncated")

    def error(self, message: str) -> FormatError:
        """Return the error that names the line."""
        return self.text.error(message, self.number)


def _header(text: Text) -> _Header:
    lines = _Lines(text)
    m = _count(lines, "matrices")
    _refuse_claim(lines, m, "matrices")
    blocks = _count(lines, "blocks")
    _refuse_claim(lines, blocks, "blocks")
    sizes = tuple(
        int(size) for size in _several(lines, blocks, "sizes of blocks", numerals.INTEGER)
    )
    if 0 in sizes:
        raise lines.error("a block has size 0; give its size, negative if diagonal")
    most = max_claim(len(text.data))
    if (total := sum(map(abs, sizes))) > most:
        raise lines.error(
            f"the blocks have {total} rows in all, more than the {most} that can be read from "
            f"{len(text.data)} bytes; check the sizes"
        )
    b = np.array(_several(lines, m, "numbers of b", None))
    return _Header(b, sizes, lines.after)


def _count(lines: _Lines, noun: str) -> int:
    """Return the number at the beginning of a line; a remark may follow it."""
    word, *rest = lines.next(f"the number of {noun}")
    plain = word.removeprefix(b"+")
    if not numerals.is_count(plain) or int(plain) == 0:
        raise lines.error(
            f"wanted the number of {noun}, a positive whole number, got {quote(word)}; correct "
            'the line; comments, which begin with " or *, stand before the first number'
        )
    _refuse_more(lines, rest, f"the number of {noun}")
    return int(plain)


def _refuse_claim(lines: _Lines, count: int, noun: str) -> None:
    size = len(lines.text.data)
    if count > size // 2:  # a number is at least a digit and a space
        raise lines.error(
            f"the header says {count} {noun}, but the file has only {size} bytes; it is truncated "
            "or the header is wrong"
        )


def _several(lines: _Lines, count: int, noun: str, kind: re.Pattern[bytes] | None) -> list[float]:
    """Return `count` numbers from as many lines as they take: whole ones unless `kind` is None."""
    values: list[float] = []
    while len(values) < count:
        words = lines.next(f"the {noun}: {count} are wanted, {len(values)} are there")
        before = len(values)
        for word in words[: count - before]:
            if kind is not None and (not kind.fullmatch(word) or len(word) > numerals.MAX_DIGITS):
                raise lines.error(
                    f"wanted {count} {noun}, whole numbers, got {quote(word)} after {len(values)}; "
                    "correct the line"
                )
            if kind is None and (fault := _number_fault(word)) is not None:
                raise lines.error(f"of the {count} {noun}, number {len(values) + 1}: {fault}")
            values.append(float(word.translate(_PLAIN)))
        begun = f" (the line before ended after {before})" if before else ""
        _refuse_more(lines, words[len(values) - before :], f"{count} {noun}{begun}")
    return values


def _refuse_more(lines: _Lines, rest: list[bytes], what: str) -> None:
    if rest and (numerals.DECIMAL.fullmatch(rest[0]) or numerals.FORTRAN.fullmatch(rest[0])):
        raise lines.error(
            f"after {what} there is one more number, {quote(rest[0])}; remove it, or correct the "
            "count in the header"
        )


def parse_entries(data: bytes) -> Columns | None:
    """Parse lines of four whole numbers and a value; None if any line is faulty."""
    parts = [_NO_ENTRIES]
    for begin, end in numerals.line_blocks(data):
        a = np.frombuffer(data, np.uint8, end - begin, begin)
        columns = numerals.parse_lines(a, 4, (5,))
        if columns is None:
            return None
        parts.append(columns)
    matrices, blocks, i, j, values = map(np.concatenate, zip(*parts, strict=True))
    return matrices, blocks, i, j, values


def _fit(columns: Columns, header: _Header) -> bool:
    """Whether all entries lie in the matrices and blocks of the header."""
    matrices, blocks, i, j, values = columns
    if not values.size:
        return True
    if matrices.max() > header.b.size or blocks.min() < 1 or blocks.max() > len(header.sizes):
        return False
    sizes = np.array(header.sizes)[blocks - 1]
    if min(i.min(), j.min()) < 1 or np.any(np.maximum(i, j) > abs(sizes)):
        return False
    return not np.any((sizes < 0) & (i != j))


def _entry_fault(header: _Header, line: bytes) -> str | None:
    """Describe what is wrong with a line, or return None."""
    words = numerals.WORD.findall(line.translate(_SEPARATORS))
    if not words:
        return None
    if len(words) != 5:
        shown = quote(b" ".join(words))
        return f"wanted 'matrix block i j value', 5 columns, got {len(words)}: {shown}"
    for word, noun in zip(words, _NOUNS, strict=False):
        if not numerals.is_count(word):
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
    plain = word.translate(_PLAIN)
    fault = weight_fault(plain, noun="value")
    return fault and fault.replace(quote(plain), quote(word))


def _refuse_duplicates(text: Text, header: _Header, places: tuple[Ints, ...]) -> None:
    order = np.lexsort(places[::-1])
    same = np.ones(max(order.size - 1, 0), dtype=bool)
    for column in places:
        same &= np.diff(column[order]) == 0
    if not same.any():
        return
    # The later entry of each pair is the fault; the first such line is named.
    pairs = np.stack([order[:-1][same], order[1:][same]])
    k = int(np.argmin(pairs.max(axis=0)))
    earlier, later = sorted(pairs[:, k].tolist())
    matrix, block, i, j = (int(column[later]) for column in places)
    raise text.error(
        f"entry ({i + 1}, {j + 1}) of block {block + 1} of matrix {matrix} was given in line "
        f"{text.line_of_row(header.start, earlier)} already, there or mirrored; give it once: "
        "readers differ in whether they add",
        text.line_of_row(header.start, later),
    )
