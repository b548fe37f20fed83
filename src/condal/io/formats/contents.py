"""What a file holds, whatever it is packed with: told apart by the SHA-256 of its contents."""

from __future__ import annotations

import hashlib
import os

from condal.io.formats.text import unpacked
from condal.io.safe_files import PathLike, opened


def digest_of(path: PathLike) -> str:
    """The SHA-256 of the contents, unpacked from gzip or xz."""
    name, digest = os.fsdecode(path), hashlib.sha256()
    with opened(name) as file:
        for chunk in unpacked(file, name):
            digest.update(chunk)
    return digest.hexdigest()
