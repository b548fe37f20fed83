"""Lines `i j` or `i j w` with 1 <= i, j <= n, parsed in bulk; errors name the line.

A file is one piece of whole lines, or many of bounded size. The counts that a header claims are
checked against it before anything is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from condal.errors import FormatError
from condal.io.formats import numerals
from condal.io.formats.numerals import Floats
from condal.io.formats.text import (
    BYTE_ORDER_MARK,
    Source,
    Text,
    quote,
    read_text,
    refuse_binary,
    require_text,
    unpack,
)
from condal.io.safe_files import UNLIMITED, opened

Indices: TypeAlias = npt.NDArray[np.int32]
Entries: TypeAlias = tuple[Indices, Indices, Floats]

MAX_VERTICES = 10**9
ALWAYS_ALLOWED = 10**6  # vertices, or rows, that a file of any size may claim


class Header(NamedTuple):
    """A line, its number, the piece that holds it, and the offsets after it in the piece and in the
    whole text."""

    content: bytes
    line: int
    text: Text
    start: int
    offset: int

    def error(self, message: str) -> FormatError:
        """Return the error that names the line."""
        return self.text.error(message, self.line)


@dataclass(frozen=True)
class TextPieces:
    """The pieces of a text of `size` bytes; they can be read several times.

    With `piece_bytes` each has at most about as many, unless one line has more.
    """

    path: str
    size: int
    piece_bytes: int = 0
    whole: Text | None = None

    @classmethod
    def of_whole(cls, source: Source) -> TextPieces:
        """Read a file whole, as `read_text` does."""
        text = read_text(source)
        return cls(text.path, len(text.data), whole=text)

    @classmethod
    def checked(cls, path: str, piece_bytes: int) -> TextPieces:
        """Read a file of any length once, and refuse what `read_text` refuses."""
        size, blank = 0, True
        with opened(path) as file:
            refuse_binary(file, path)
        for text in _pieces(path, piece_bytes):
            size += len(text.data)
            blank = blank and text.data.isspace()
            require_text(text)
        if blank:
            raise FormatError("is empty; wanted a graph", path=path)
        return cls(path, size, piece_bytes)

    def __iter__(self) -> Iterator[Text]:
        return _pieces(self.path, self.piece_bytes) if self.whole is None else iter((self.whole,))

    @property
    def name(self) -> Text:
        """The file without its text, for errors."""
        return Text(self.path, b"")

    def header(self, comment: bytes | None = b"%") -> Header:
        """Return the first line that is neither blank nor a comment; None for the first of all.

        If there is no such line, the content is blank, and the line is the last one.
        """
        offset, text = 0, self.name
        for text in self:
            for line, (content, after) in enumerate(text.lines(), text.before + 1):
                words = content.strip()
                if comment is None or (words and not words.startswith(comment)):
                    return Header(content, line, text, after, offset + after)
            offset += len(text.data)
        return Header(b"", text.last_line, text, len(text.data), offset)

    def after(self, header: Header) -> Iterator[tuple[Text, int]]:
        """Yield the pieces after a line, with the offsets from which they are read."""
        for text in self:
            if text.before >= header.text.before:
                yield text, header.start if text.before == header.text.before else 0


def _pieces(path: str, piece_bytes: int) -> Iterator[Text]:
    """Yield the lines of a file in pieces, without byte-order mark."""
    before, parts = 0, list[bytes]()

    def text() -> Text:
        data = b"".join(parts)
        return Text(path, data if before else data.removeprefix(BYTE_ORDER_MARK), before)

    with opened(path) as file:
        for chunk in unpack(file, path, most=UNLIMITED, step=piece_bytes):
            lines, end, rest = chunk.rpartition(b"\n")
            if end:
                parts.append(lines + end)
                piece = text()
                yield piece
                before += piece.data.count(b"\n")
                parts.clear()
            parts.append(rest)
    if (last := text()).data:
        yield last


@dataclass(frozen=True)
class Layout:
    """The claim of a header: m lines of `columns` numbers, with indices in 1..n.

    `hint` ends the message of an error about a false claim.
    """

    n: int
    m: int
    noun: str
    columns: tuple[int, ...]
    integer: bool = False
    hint: str = ""


def read_count(
    error: Callable[[str], FormatError], token: bytes, noun: str, *, hint: str = ""
) -> int:
    """Return a count from a header, which must consist of digits; `hint` ends the error."""
    if not numerals.is_count(token):
        raise error(
            f"the number of {noun} must be a whole number without sign, of at most 18"
            f" digits, got {quote(token)}; correct the header{hint}"
        )
    return int(token)


def max_claim(size: int) -> int:
    """Return how many vertices, or rows, a header may claim before `size` bytes or numbers.

    Isolated vertices need no bytes, so a small file may have many, within limits.
    """
    return max(ALWAYS_ALLOWED, 16 * size)


def check_claims(pieces: TextPieces, layout: Layout, header: Header) -> None:
    """Refuse an n or m that the file is too small for, before anything is allocated."""
    if layout.n == 0:
        raise header.error(f"the header says 0 vertices; wanted at least 1{layout.hint}")
    if layout.n > MAX_VERTICES:
        raise header.error(
            f"the header says {layout.n} vertices, more than the {MAX_VERTICES} that can be read;"
            " check the header"
        )
    if layout.n > max_claim(pieces.size):
        raise header.error(
            f"the header says {layout.n} vertices, but the text has only {pieces.size} bytes;"
            " check the header, or number the vertices without gaps"
        )
    # A line is at least '1 1' and its end; the last may lack the end.
    rest = pieces.size - header.offset
    most = (rest + 1) // (2 * min(layout.columns))
    if layout.m > most:
        raise header.error(
            f"the header says {layout.m} {layout.noun}, but the {rest} bytes"
            f" after it can hold at most {most}; the file is truncated or the header is wrong"
            f"{layout.hint}"
        )


def read_entries(
    pieces: TextPieces,
    layout: Layout,
    header: Header,
    check: Callable[[Text, int, Entries], None] | None = None,
) -> Iterator[Entries]:
    """Yield the 0-based i and j, and w (1 where missing), of all lines after the header.

    `check` is called with each block of entries, its piece of the text and the offset there.
    """
    seen, text = 0, header.text
    for text, start in pieces.after(header):
        for begin, end in numerals.line_blocks(text.data, start):
            block = _parse_block(text.data, begin, end, layout)
            if block is None or seen + block[0].size > layout.m:
                _refuse_first_fault(text, layout, begin, seen)
            if check is not None:
                check(text, begin, block)
            seen += block[0].size
            yield block
    if seen < layout.m:
        raise text.error(
            f"the header says {layout.m} {layout.noun}, but the file ends after {seen};"
            f" it is truncated or the header is wrong{layout.hint}",
            text.last_line,
        )


def _parse_block(data: bytes, begin: int, end: int, layout: Layout) -> Entries | None:
    """Parse data[begin:end]; None if any line is faulty."""
    a = np.frombuffer(data, np.uint8, end - begin, begin)
    known = numerals.IN_INTEGERS if layout.integer else numerals.IN_REALS
    columns = numerals.parse_lines(a, 2, layout.columns, known)
    if columns is None or any(k.size and (k.min() < 1 or k.max() > layout.n) for k in columns[:2]):
        return None
    i, j, w = columns
    return (i - 1).astype(np.int32), (j - 1).astype(np.int32), w


def _refuse_first_fault(text: Text, layout: Layout, begin: int, seen: int) -> NoReturn:
    """Raise the error of the first faulty line from offset `begin` on."""
    numbers = count(seen)

    def fault(content: bytes) -> str | None:
        tokens = [word[0] for word in islice(numerals.WORD.finditer(content), 5)]
        if tokens and next(numbers) == layout.m:
            return (
                f"the header says {layout.m} {layout.noun}, but {quote(content)} follows them;"
                f" correct the header or remove the excess{layout.hint}"
            )
        return _line_fault(tokens, layout) if tokens else None

    text.refuse_first(begin, fault)


def _line_fault(tokens: list[bytes], layout: Layout) -> str | None:
    """Describe what is wrong with a line, or return None."""
    if len(tokens) not in layout.columns:
        got = "5 or more" if len(tokens) > 4 else str(len(tokens))
        wanted = " or ".join(f"'{' '.join('ijw'[:width])}'" for width in layout.columns)
        return f"got {got} columns, wanted {wanted}; correct the line"
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
