"""A text file in pieces of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from condal.errors import FormatError
from condal.io.formats.text import (
    BYTE_ORDER_MARK,
    Text,
    empty_error,
    refuse_binary,
    require_text,
    unpack,
)
from condal.io.safe_files import UNLIMITED, opened


class Piece(NamedTuple):
    """Some lines of a text, and the offset in them from which they are read."""

    text: Text
    start: int


@dataclass(frozen=True)
class TextPieces:
    """A text file, plain, gzip or xz, that was checked whole; `size` is the bytes of the text.

    Pieces have at most about `piece_bytes` bytes, unless one line has more.
    """

    path: str
    piece_bytes: int
    size: int

    @classmethod
    def checked(cls, path: str, piece_bytes: int) -> TextPieces:
        """Read the file once, and refuse what `read_text` refuses except its length."""
        size, blank = 0, True
        faults: dict[bool, FormatError] = {}  # the first by whether it is not a NUL byte
        with opened(path) as file:
            refuse_binary(file, path)
        for text in _pieces(path, piece_bytes):
            size += len(text.data)
            blank = blank and text.data.isspace()
            try:
                require_text(text)
            except FormatError as error:
                faults.setdefault(b"\0" not in text.data, error)
        if blank:
            raise empty_error(path, "a graph")
        if faults:
            raise faults[min(faults)]
        return cls(path, piece_bytes, size)

    def __iter__(self) -> Iterator[Text]:
        return _pieces(self.path, self.piece_bytes)


def _pieces(path: str, piece_bytes: int) -> Iterator[Text]:
    """Yield the lines of a file in pieces, without byte-order mark."""
    before = 0
    for data in _whole_lines(path, piece_bytes):
        begin = 0
        while begin < len(data):
            end = len(data)
            if end - begin > piece_bytes:
                inside = data.rfind(b"\n", begin, begin + piece_bytes) + 1
                end = inside or data.find(b"\n", begin) + 1 or end
            yield Text(path, data[begin:end], before)
            before += data.count(b"\n", begin, end)
            begin = end


def _whole_lines(path: str, least: int) -> Iterator[bytes]:
    """Yield the lines of a file, of some chunks at a time."""
    parts: list[bytes] = []
    length, first = 0, True
    with opened(path) as file:
        for chunk in unpack(file, path, most=UNLIMITED):
            parts.append(chunk)
            length += len(chunk)
            if length < least or b"\n" not in chunk:
                continue
            data = b"".join(parts)
            data = data.removeprefix(BYTE_ORDER_MARK) if first else data
            cut, first = data.rfind(b"\n") + 1, False
            yield data[:cut]
            parts, length = [data[cut:]], len(data) - cut
    data = b"".join(parts)
    data = data.removeprefix(BYTE_ORDER_MARK) if first else data
    if data:
        yield data
