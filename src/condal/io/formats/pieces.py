"""A text file as pieces of whole lines: one piece, or many of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from condal.io.formats.text import (
    BYTE_ORDER_MARK,
    Source,
    Text,
    empty_error,
    read_text,
    refuse_binary,
    require_text,
    unpack,
)
from condal.io.safe_files import UNLIMITED, opened


class Header(NamedTuple):
    """A line, its number, the piece that holds it, and the offsets after it in the piece and in the
    whole text."""

    content: bytes
    line: int
    text: Text
    start: int
    offset: int


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
            raise empty_error(path, "a graph")
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
