"""What the first bytes of a file say about its format."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from numpy.lib.format import MAGIC_PREFIX

from condal.io.formats.text import Text, suffixes_of, unpack
from condal.io.safe_files import PathLike, first_bytes, opened, sha256_of

NPY = MAGIC_PREFIX
ZIP = b"PK\x03\x04"
MATRIX_MARKET = b"%%matrixmarket"  # in lower case

SHARD_MANIFEST = "manifest.json"  # in a folder of shards


def is_shard_folder(path: PathLike) -> bool:
    """Whether a path is a folder with the manifest of shards, right or wrong."""
    return os.path.lexists(Path(os.fsdecode(path)) / SHARD_MANIFEST)


def is_npy(path: PathLike) -> bool:
    """Whether a file is a .npy array."""
    return first_bytes(path, len(NPY)) == NPY


def is_npz(path: PathLike) -> bool:
    """Whether a file is a .npz archive, not another zip file."""
    head = first_bytes(path, 256)
    return head.startswith(ZIP) and b".npy" in head


def is_matrix_market(text: Text) -> bool:
    """Whether the banner or the name of a file is that of the Matrix Market format."""
    begins = text.before == 0 and text.data[: len(MATRIX_MARKET)].lower() == MATRIX_MARKET
    return begins or ".mtx" in suffixes_of(text.path)


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
