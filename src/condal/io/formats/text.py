"""Text files, plain, gzip or xz, read whole within limits on their size."""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeAlias

from condal.errors import FormatError
from condal.io.safe_files import PathLike, most_bytes, opened
from condal.runtime.meter import spend

# xz -9 needs 65 MiB; a header may claim a dictionary of 4 GiB.
MAX_XZ_MEMORY = 256 << 20
CHUNK_BYTES = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz"}
_SUFFIXES = {".gz": "gzip", ".xz": "xz"}
_REFUSED = {
    b"BZh": "is bzip2-compressed; unpack it with bunzip2",
    b"PK\x03\x04": "is a zip archive; unpack it and name the file inside",
    b"\x28\xb5\x2f\xfd": "is zstd-compressed; unpack it with unzstd",
    b"\xff\xfe": "is UTF-16 text; convert it with: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "is UTF-16 text; convert it with: iconv -f UTF-16 -t UTF-8",
}


@dataclass(frozen=True)
class Text:
    """The bytes of a file, or of its lines after the first `before` ones.

    They are valid UTF-8 without byte-order mark and NUL, and not blank.
    """

    path: str
    data: bytes = field(repr=False)
    before: int = 0

    def error(self, message: str, line: int | None = None) -> FormatError:
        """Return the error that names this file and, where known, the line (from 1)."""
        return FormatError(message, path=self.path, line=line)

    def line_at(self, offset: int) -> int:
        """Return the number, from 1, of the line that holds the byte at `offset`."""
        return self.before + self.data.count(b"\n", 0, offset) + 1

    @property
    def last_line(self) -> int:
        """The number of the last line."""
        return self.line_at(len(self.data) - 1)

    def line_of_row(self, start: int, row: int) -> int:
        """Return the number of a row, counted from 0, of the lines that begin at `start`."""
        rows = (number for number, line in self.numbered_lines(start) if not line.isspace())
        return next(islice(rows, row, None))

    def line(self, number: int) -> bytes:
        """Return the line of a number, without its end."""
        place = number - self.before
        return self.data.split(b"\n", place)[place - 1]

    def lines(self, offset: int = 0) -> Iterator[tuple[bytes, int]]:
        """Yield each line from `offset` on, with the offset of the next line."""
        while offset < len(self.data):
            spend(0.0)
            end = self.data.find(b"\n", offset)
            after = len(self.data) if end < 0 else end + 1
            yield self.data[offset:after], after
            offset = after

    def numbered_lines(self, offset: int) -> Iterator[tuple[int, bytes]]:
        """Yield each line from `offset` on, after its number."""
        for number, (line, _) in enumerate(self.lines(offset), self.line_at(offset)):
            yield number, line

    def refuse_first(self, offset: int, fault: Callable[[bytes], str | None]) -> NoReturn:
        """Raise the error of the first line from `offset` on in which `fault` finds one."""
        for number, line in self.numbered_lines(offset):
            if (found := fault(line)) is not None:
                raise self.error(found, number)
        raise AssertionError("the bulk parser refused correct lines")


Source: TypeAlias = PathLike | Text


def read_text(source: Source, *, wanted: str = "a graph") -> Text:
    """Read a regular file of text; gzip and xz are recognised by their first bytes.

    A text that was read before is returned. `wanted` says what an empty file should hold.
    """
    if isinstance(source, Text):
        return source
    name = os.fsdecode(source)
    with opened(name) as file:
        refuse_binary(file, name)
        data = unpacked(file, name)
    text = Text(name, data.removeprefix(BYTE_ORDER_MARK))
    if not text.data or text.data.isspace():
        raise text.error(f"is empty; wanted {wanted}")
    require_text(text)
    return text


def suffixes_of(path: PathLike) -> list[str]:
    """Return the last two suffixes, in lower case: those of the format and of the compression."""
    return [suffix.lower() for suffix in Path(path).suffixes[-2:]]


def quote(token: bytes) -> str:
    """Quote a piece of a file for an error message: shortened, without control characters."""
    # Cut first: a line can be as long as the file.
    shown = token[:200].strip().decode("utf-8", "backslashreplace")
    return ascii(shown if len(shown) <= 40 else shown[:37] + "...")


def unpack(
    file: BinaryIO, name: str, *, most: int | None = None, step: int | None = None
) -> Iterator[bytes]:
    """Yield the unpacked bytes, at most `step` at a time, CHUNK_BYTES by default; refuse them as
    soon as they exceed the limit."""
    size = os.fstat(file.fileno()).st_size
    kind = compression_of(file, name)
    limit = most_bytes(size, packed=kind is not None, most=most)
    total = 0
    try:
        for chunk in _chunks(file, kind, step or CHUNK_BYTES):
            if total:
                spend(0.0)
            total += len(chunk)
            if total > limit:
                raise FormatError(
                    f"holds more than {limit} bytes of text in a file of {size} bytes, the most "
                    "that is read; unpack it by hand if you trust it, or split it",
                    path=name,
                )
            yield chunk
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise FormatError(
            f"the compressed data are truncated or damaged ({error}); fetch the file again",
            path=name,
        ) from error


def unpacked(file: BinaryIO, name: str) -> bytes:
    """Return all unpacked bytes; unlike a join of the chunks this needs their memory once."""
    data = BytesIO()
    data.writelines(unpack(file, name))
    return data.getvalue()


def compression_of(file: BinaryIO, name: str) -> str | None:
    """Return gzip, xz or None; refuse a file whose name says otherwise."""
    head = _head(file)
    kind = next((kind for magic, kind in _COMPRESSED.items() if head.startswith(magic)), None)
    named = _SUFFIXES.get(Path(name).suffix.lower())
    if named is not None and kind != named:
        raise FormatError(
            f"the name says {named}, but the contents are not {named};"
            " fetch the file again, or give it its right name",
            path=name,
        )
    return kind


def refuse_binary(file: BinaryIO, name: str) -> None:
    """Refuse files that are recognised as neither plain nor packed text."""
    head = _head(file)
    for magic, advice in _REFUSED.items():
        if head.startswith(magic):
            raise FormatError(f"{advice}; wanted plain, gzip or xz text", path=name)


def _head(file: BinaryIO) -> bytes:
    head = file.read(6)
    file.seek(0)
    return head


def _chunks(file: BinaryIO, kind: str | None, step: int) -> Iterator[bytes]:
    if kind == "xz":
        yield from _unxz(file, step)
        return
    stream = gzip.GzipFile(fileobj=file) if kind == "gzip" else file
    while chunk := stream.read(step):
        yield chunk


def _unxz(file: BinaryIO, step: int) -> Iterator[bytes]:
    # Not lzma.open: it sets no limit on the memory that a header may ask for.
    packed = file.read(step)
    while packed:
        unxz = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)
        while not unxz.eof:
            yield unxz.decompress(packed, step)
            packed = file.read(step) if unxz.needs_input else b""
            if unxz.needs_input and not packed:
                raise EOFError("the file ends inside an xz stream")
        # The format lets streams follow one another, with zeros between them.
        packed = unxz.unused_data.lstrip(b"\0")
        while not packed and (more := file.read(step)):
            packed = more.lstrip(b"\0")


def require_text(text: Text) -> None:
    """Refuse NUL bytes and bytes that are not UTF-8."""
    if (zero := text.data.find(b"\0")) >= 0:
        raise text.error(
            "holds a NUL byte; wanted text: the file is binary or an archive", text.line_at(zero)
        )
    if not text.data.isascii():
        try:
            text.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise text.error(
                f"byte 0x{text.data[error.start]:02x} is not UTF-8; convert the file, for example"
                " with: iconv -f LATIN1 -t UTF-8",
                text.line_at(error.start),
            ) from error
