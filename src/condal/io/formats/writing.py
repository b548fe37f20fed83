"""Text files that appear whole under their name, or not at all."""

from __future__ import annotations

import errno
import gzip
import lzma
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from condal.errors import FormatError
from condal.io.container.atomic import replacing, write_errors
from condal.io.formats.numerals import spell
from condal.io.safe_files import PathLike

LINES_PER_PIECE = 1 << 16


def write_text(path: PathLike, pieces: Iterable[str]) -> None:
    """Write a temporary file beside `path`, then rename; packed if named .gz or .xz."""
    name = os.fsdecode(path)
    with write_errors(name):
        # Through a link to its file, as open() would; a bare rename would replace the link.
        target = Path(name).resolve()
        if target.is_symlink():  # Python 3.13 leaves a loop of links as it is
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not target.is_file():
            raise FormatError(
                "is no regular file, so it is not overwritten; give another path", path=name
            )
        with replacing(target) as file:
            _pack(file, target.suffix.lower(), pieces)


def triples(i: Any, j: Any, w: Any, between: str = " ") -> Iterator[str]:
    """A line `i j w` each, in pieces of bounded size."""
    for begin in range(0, len(w), LINES_PER_PIECE):
        columns = [part[begin : begin + LINES_PER_PIECE].tolist() for part in (i, j, w)]
        lines = zip(*columns[:2], map(spell, columns[2]), strict=True)
        yield "".join(f"{a}{between}{b}{between}{c}\n" for a, b, c in lines)


def _pack(file: IO[bytes], suffix: str, pieces: Iterable[str]) -> None:
    if suffix == ".gz":
        # No name and no time inside: the same graph makes the same bytes.
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            packed.writelines(piece.encode("ascii") for piece in pieces)
    elif suffix == ".xz":
        with lzma.LZMAFile(file, "wb") as packed:
            packed.writelines(piece.encode("ascii") for piece in pieces)
    else:
        file.writelines(piece.encode("ascii") for piece in pieces)
