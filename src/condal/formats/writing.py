"""Text files that appear whole under their name, or not at all."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from condal.errors import FormatError
from condal.formats.regular import PathLike


def write_text(path: PathLike, pieces: Iterable[str]) -> None:
    """Write a temporary file beside `path`, then rename; packed if named .gz or .xz."""
    name = os.fsdecode(path)
    try:
        # Through a link to its file, as open() would; a bare rename would replace the link.
        target = Path(name).resolve()
        if target.exists() and not target.is_file():
            raise FormatError(
                "is no regular file, so it is not overwritten; give another path", path=name
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
        _sync_folder(target.parent)
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FormatError(
            f"cannot be written: {reason}; check the folder, its permissions and the space left",
            path=name,
        ) from error


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


def _sync_folder(folder: Path) -> None:
    # Not every system lets a folder be opened and synced; there the rename is all there is.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
