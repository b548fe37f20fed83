"""The digest of what a file holds, regardless of how it is packed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from condal.io.formats.signatures import SHARD_MANIFEST, is_shard_folder
from condal.io.formats.text import unpack
from condal.io.safe_files import PathLike, opened, sha256_of


def digest_of(path: PathLike) -> str:
    """Return the SHA-256 of the contents, unpacked from gzip or xz, in hexadecimal.

    For a folder of shards it is the one of its manifest, which has the digests of the shards.
    """
    name, digest = os.fsdecode(path), hashlib.sha256()
    if is_shard_folder(name):
        return sha256_of(Path(name) / SHARD_MANIFEST)
    with opened(name) as file:
        for chunk in unpack(file, name):
            digest.update(chunk)
    return digest.hexdigest()
