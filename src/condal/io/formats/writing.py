"""Text files that are written completely or not at all."""

from __future__ import annotations

import gzip
import lzma
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from condal.errors import FormatError
from condal.io.formats.numerals import spell
from condal.io.safe_files import PathLike, sync_folder

LINES_PER_PIECE = 1 << 16


def write_text(path: PathLike, pieces: Iterable[str]) -> None:
    """Write a temporary file beside `path`, then rename it; packed if named .gz or .xz."""
    name = os.fsdecode(path)
    try:
        # Through a link to its file, as open() would; a bare rename would replace the link.
        target = Path(name).resolve()
        if target.exists() and not target.is_file():
            raise FormatError(
                "is not a regular file, so it is not overwritten; give another path", path=name
            )
        spare = target.with_name(f".condal-{secrets.token_hex(8)}.tmp")
        try:
            with spare.open("xb") as file:
                _pack(file, target.suffix.lower(), pieces)
                file.flush()
                os.fsync(file.fileno())
            spare.replace(target)
        finally:
            spare.unlink(missing_ok=True)
        sync_folder(target.parent)
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FormatError(
            f"cannot be written: {reason}; check the folder, its permissions and the space left",
            path=name,
        ) from error


def triples(i: Any, j: Any, w: Any, separator: str = " ") -> Iterator[str]:
    """Yield lines `i j w` in pieces of bounded size."""
    for begin in range(0, len(w), LINES_PER_PIECE):
        columns = [column[begin : begin + LINES_PER_PIECE].tolist() for column in (i, j, w)]
        lines = zip(*columns[:2], map(spell, columns[2]), strict=True)
        yield "".join(f"{a}{separator}{b}{separator}{c}\n" for a, b, c in lines)


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
