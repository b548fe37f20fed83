"""The manifest of a folder of shards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from condal.errors import FormatError
from condal.io.container.array_file import MAX_EXACT_INT
from condal.io.container.atomic import created
from condal.io.container.manifest import (
    SEAL,
    STAMP,
    FolderKind,
    Kind,
    read_json,
    require_seal,
    require_version,
    sealed,
)
from condal.io.formats.signatures import SHARD_MANIFEST, is_shard_folder
from condal.io.safe_files import size_of

SHARDS = Kind(
    "condal shards",
    remedy="convert the graph again, with condal convert",
    other_version="convert the graph again, with condal convert, or use condal {writer} to read it",
)
MANIFEST = SHARD_MANIFEST
OWNER = "a folder of shards"  # in error messages
MAX_SHARDS = 4096
NUMBER_BYTES, WEIGHT_BYTES = 4, 8  # of a count or a column, at least, and of a weight
LABEL_BYTES = 8  # of a label, or of the number of a row in the file

_NAME = re.compile(r"\d{4}\.rows")
_SHA256 = re.compile("[0-9a-f]{64}")
_KEYS = (*STAMP, "source", "n", "entries", "labelled", "renumbered", "shards", SEAL)
_SHARD_KEYS = ("rows", "entries", "bytes", "sha256")


def _is_own(name: str) -> bool:
    return name == MANIFEST or _NAME.fullmatch(name) is not None


SHARD_FOLDER = FolderKind(SHARDS, MANIFEST, "conversion", OWNER, _is_own)


@dataclass(frozen=True)
class ShardRecord:
    """The rows and entries of a shard, the bytes of its file, and the SHA-256 of its head."""

    rows: int
    entries: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a folder of shards holds.

    Parameters
    ----------
    source : str
        The name of the file that was converted; empty for a matrix in memory.
    n : int
        The rows and columns of W.
    labelled : bool
        Whether the shards hold labels of the vertices; else these are 1 to n.
    renumbered : bool
        Whether the rows are in another order than in the file, and hold their numbers there.
    shards : tuple of ShardRecord
        The shards, in the order of their rows.
    """

    source: str
    n: int
    labelled: bool
    renumbered: bool
    shards: tuple[ShardRecord, ...]

    @property
    def entries(self) -> int:
        """The stored entries of W, those of both triangles."""
        return sum(shard.entries for shard in self.shards)

    @property
    def ends(self) -> list[int]:
        """Where the rows of each shard begin, and where those of the last end."""
        return list(accumulate((shard.rows for shard in self.shards), initial=0))

    @property
    def index(self) -> str:
        """The dtype of counts and columns."""
        return index_of(self.n)

    def as_json(self) -> dict[str, Any]:
        """Return the manifest as it is written, without its seal."""
        shards = [
            dict(zip(_SHARD_KEYS, (s.rows, s.entries, s.bytes, s.sha256), strict=True))
            for s in self.shards
        ]
        values = (self.source, self.n, self.entries, self.labelled, self.renumbered, shards)
        return SHARDS.stamp() | dict(zip(_KEYS[len(STAMP) : -1], values, strict=True))

    def write(self, folder: Path) -> None:
        """Write the manifest into a new folder."""
        with created(folder / MANIFEST) as file:
            file.writelines(piece.encode("ascii") for piece in sealed(self.as_json()))


def index_of(n: int) -> str:
    """Return the dtype of counts and columns of n x n matrices, as a file names it."""
    return "<i4" if n < 2**31 else "<i8"


def name_of(number: int) -> str:
    """Return the name of the file of a shard, counted from 0."""
    return f"{number:04d}.rows"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder; FormatError unless it is consistent with the files there."""
    path = folder / MANIFEST
    if not is_shard_folder(folder):
        raise FormatError(
            f"is a folder without {MANIFEST}, so not {OWNER}; make one with condal convert",
            path=str(folder),
        )
    size_of(path, OWNER)
    values = read_json(path, SHARDS.remedy)
    require_version(values, SHARDS, path)
    require_seal(values, path)
    try:
        manifest = _parse(values)
    except ValueError as error:
        SHARDS.refuse(str(error), str(path))
    for number, shard in enumerate(manifest.shards):
        file = folder / name_of(number)
        if (size := size_of(file, OWNER)) != shard.bytes:
            raise FormatError(
                f"has {size} bytes, and the manifest says {shard.bytes}: it is truncated, or of "
                f"another conversion; {SHARDS.remedy}",
                path=str(file),
            )
    return manifest


def _parse(values: dict[str, Any]) -> Manifest:
    if tuple(values) != _KEYS:
        raise ValueError("it has other fields")
    source, n, entries, labelled, renumbered, listed = (
        values[key] for key in _KEYS[len(STAMP) : -1]
    )
    if not isinstance(source, str) or {type(labelled), type(renumbered)} != {bool}:
        raise ValueError("the source is not a text, or labelled or renumbered not true or false")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_SHARDS:
        raise ValueError(f"wanted a list of 1 to {MAX_SHARDS} shards")
    manifest = Manifest(source, n, labelled, renumbered, tuple(map(_shard, listed)))
    if not _is_count(n) or not _is_count(entries):
        raise ValueError("n and entries must be whole numbers")
    if manifest.ends[-1] != n or manifest.entries != entries:
        raise ValueError("the rows or the entries of the shards do not add up to those of W")
    for shard in manifest.shards:
        per_row = NUMBER_BYTES + LABEL_BYTES * (labelled + renumbered)
        if per_row * shard.rows + (NUMBER_BYTES + WEIGHT_BYTES) * shard.entries > shard.bytes:
            raise ValueError("a shard claims more rows and entries than its bytes can hold")
    return manifest


def _shard(values: Any) -> ShardRecord:
    if not isinstance(values, dict) or tuple(values) != _SHARD_KEYS:
        raise ValueError("a shard has other fields")
    rows, entries, size, digest = (values[key] for key in _SHARD_KEYS)
    if not all(map(_is_count, (rows, entries, size))) or rows < 1:
        raise ValueError("the rows, entries and bytes of a shard must be whole numbers")
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise ValueError("a shard has no SHA-256")
    return ShardRecord(rows, entries, size, digest)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MAX_EXACT_INT
