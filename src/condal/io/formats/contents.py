"""The digest of what a file holds, regardless of how it is packed."""

from __future__ import annotations

import hashlib
import os

from condal.io.formats.text import unpack
from condal.io.safe_files import PathLike, opened


def digest_of(path: PathLike) -> str:
    """Return the SHA-256 of the contents, unpacked from gzip or xz, in hexadecimal."""
    name, digest = os.fsdecode(path), hashlib.sha256()
    with opened(name) as file:
        for chunk in unpack(file, name):
            digest.update(chunk)
    return digest.hexdigest()
