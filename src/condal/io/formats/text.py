"""Text files, plain, gzip or xz, read whole after every claim about their size is checked."""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from condal.errors import FormatError
from condal.io.safe_files import PathLike, most_bytes, opened

# xz -9 needs 65 MiB; a header may claim a dictionary of 4 GiB.
XZ_MEMORY = 256 << 20
CHUNK = 1 << 20
MARK = b"\xef\xbb\xbf"  # of the order of bytes, which UTF-8 does not need

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
    """The bytes of a file: valid UTF-8, no byte-order mark, no NUL, not blank; or some of its
    lines, after the `before` first ones."""

    path: str
    data: bytes = field(repr=False)
    before: int = 0

    def error(self, message: str, line: int | None = None) -> FormatError:
        """The error that names this file and, where known, the line (from 1)."""
        return FormatError(message, path=self.path, line=line)

    def line_at(self, offset: int) -> int:
        """The number, from 1, of the line that holds the byte at `offset`."""
        return self.before + self.data.count(b"\n", 0, offset) + 1

    def line(self, number: int) -> bytes:
        """The line of a number, without its end."""
        place = number - self.before
        return self.data.split(b"\n", place)[place - 1]

    def lines(self, offset: int = 0) -> Iterator[tuple[bytes, int]]:
        """Each line from `offset` on, with the offset of the line after it."""
        while offset < len(self.data):
            end = self.data.find(b"\n", offset)
            after = len(self.data) if end < 0 else end + 1
            yield self.data[offset:after], after
            offset = after

    def header(self, comment: bytes = b"%") -> tuple[bytes, int, int] | None:
        """The first line that is neither blank nor a comment, the offset after it, its number."""
        for number, (content, after) in enumerate(self.lines(), self.before + 1):
            if not content.isspace() and not content.lstrip().startswith(comment):
                return content, after, number
        return None


def read_text(path: PathLike, *, wanted: str = "a graph") -> Text:
    """The text of a regular file, which is to hold what is `wanted`; gzip and xz are told by their
    first bytes."""
    name = os.fsdecode(path)
    with opened(name) as file:
        refuse_other(file, name)
        data = b"".join(unpacked(file, name))
    text = Text(name, data.removeprefix(MARK))
    if not text.data or text.data.isspace():
        raise empty(name, wanted)
    require_text(text)
    return text


def suffixes_of(path: PathLike) -> list[str]:
    """What its name says that a file is, and what it is packed with: the last two suffixes."""
    return [suffix.lower() for suffix in Path(path).suffixes[-2:]]


def quote(token: bytes) -> str:
    """A piece of a file as an error shows it: short, and no control character."""
    # Cut first: a line can be as long as the file.
    shown = token[:200].strip().decode("utf-8", "backslashreplace")
    return ascii(shown if len(shown) <= 40 else shown[:37] + "...")


def unpacked(file: BinaryIO, name: str) -> Iterator[bytes]:
    """The unpacked bytes in chunks; refused as soon as they pass the limit."""
    size = os.fstat(file.fileno()).st_size
    kind = packing(file, name)
    limit = most_bytes(size, packed=kind is not None)
    total = 0
    try:
        for chunk in _chunks(file, kind):
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


def packing(file: BinaryIO, name: str) -> str | None:
    """What a file is packed with: gzip, xz, or None; refused where its name says another."""
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


def refuse_other(file: BinaryIO, name: str) -> None:
    """Refuse what is known to be no text, plain or packed."""
    head = _head(file)
    for magic, advice in _REFUSED.items():
        if head.startswith(magic):
            raise FormatError(f"{advice}; wanted plain, gzip or xz text", path=name)


def _head(file: BinaryIO) -> bytes:
    head = file.read(6)
    file.seek(0)
    return head


def _chunks(file: BinaryIO, kind: str | None) -> Iterator[bytes]:
    if kind == "xz":
        yield from _unxz(file)
        return
    stream = gzip.GzipFile(fileobj=file) if kind == "gzip" else file
    while chunk := stream.read(CHUNK):
        yield chunk


def _unxz(file: BinaryIO) -> Iterator[bytes]:
    # Not lzma.open: it sets no limit on the memory that a header may ask for.
    packed = file.read(CHUNK)
    while packed:
        unxz = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
        while not unxz.eof:
            yield unxz.decompress(packed, CHUNK)
            packed = file.read(CHUNK) if unxz.needs_input else b""
            if unxz.needs_input and not packed:
                raise EOFError("the file ends inside an xz stream")
        # The format lets streams follow one another, with zeros between them.
        packed = unxz.unused_data.lstrip(b"\0")
        while not packed and (more := file.read(CHUNK)):
            packed = more.lstrip(b"\0")


def empty(name: str, wanted: str) -> FormatError:
    """The error of a file that is blank."""
    return FormatError(f"is empty; wanted {wanted}", path=name)


def require_text(text: Text) -> None:
    """Refuse bytes that are no text."""
    if (zero := text.data.find(b"\0")) >= 0:
        raise text.error(
            "holds a NUL byte; wanted text: the file is binary or an archive",
            text.line_at(zero),
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
