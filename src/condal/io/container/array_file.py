"""Containers of one file: a manifest with lengths and digests, then the bytes of arrays.

    name of the format and a line feed | format version, u32 | length of the JSON, u64 | JSON |
    SHA-256 of all this | arrays

All numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Sequence
from io import BufferedReader
from typing import Any, BinaryIO, NamedTuple

from numpy.typing import NDArray

from condal.errors import CondalError, ProblemError
from condal.io.container.arrays import Entry, entries_of, raw, table_of
from condal.io.container.manifest import FORMAT_VERSION, STAMP, Kind, writer_of
from condal.io.strict_json import json_object

LENGTHS = struct.Struct("<IQ")  # the format version and the length of the JSON
DIGEST_BYTES = 32
MAX_HEAD_BYTES = 256 << 20  # of JSON
KEYS = (*STAMP, "about", "skeleton", "arrays")


class Head(NamedTuple):
    """The manifest as it was read, and where the bytes of the arrays begin."""

    about: dict[str, Any]
    skeleton: Any
    arrays: list[Entry]
    digest: str
    begin: int


def magic(kind: Kind) -> bytes:
    """Return the first line of a file."""
    return kind.name.encode("ascii") + b"\n"


def head_bytes(
    kind: Kind, about: dict[str, Any], skeleton: Any, arrays: Sequence[NDArray[Any]]
) -> bytes:
    """Return all that comes before the bytes of the arrays."""
    values = {"about": about, "skeleton": skeleton, "arrays": table_of(arrays)}
    try:
        text = json.dumps(kind.stamp() | values, allow_nan=False, separators=(",", ":")).encode()
    except (RecursionError, TypeError, ValueError) as error:
        raise ProblemError(
            f"no checkpoint can be made: what it is about is not plain JSON ({error}); give texts, "
            "finite numbers, lists and dicts"
        ) from error
    if len(text) > MAX_HEAD_BYTES:
        raise ProblemError(
            f"no checkpoint can be made: its header would have {len(text)} bytes, and the limit is "
            f"{MAX_HEAD_BYTES}; solve without checkpoint=, or with a storage of fewer parts than "
            "atoms"
        )
    begin = magic(kind) + LENGTHS.pack(FORMAT_VERSION, len(text)) + text
    return begin + hashlib.sha256(begin).digest()


def write_file(file: BinaryIO, head: bytes, arrays: Sequence[NDArray[Any]]) -> None:
    """Write the head and the bytes of the arrays."""
    file.write(head)
    for array in arrays:
        file.write(raw(array))


def read_head(kind: Kind, file: BinaryIO, path: str) -> Head:
    """Read the head of an open file; every length in it is held against the size of the file."""
    size = os.fstat(file.fileno()).st_size
    first = magic(kind)
    begin = file.read(len(first) + LENGTHS.size)
    if not begin.startswith(first):
        kind.refuse("it does not begin as one", path)
    if len(begin) < len(first) + LENGTHS.size:
        kind.refuse("it ends too early", path)
    number, length = LENGTHS.unpack(begin[len(first) :])
    room = size - len(begin) - DIGEST_BYTES
    if length > min(room, MAX_HEAD_BYTES):
        kind.refuse(f"its header would have {length} bytes, of a file of {size}", path)
    text, digest = file.read(length), file.read(DIGEST_BYTES)
    if hashlib.sha256(begin + text).digest() != digest:
        kind.refuse("its header does not match its SHA-256", path)
    try:
        values = json_object(text.decode("ascii"))
        if number != FORMAT_VERSION:
            kind.refuse_version(number, writer_of(values), path)
        if tuple(values) != KEYS or values["format"] != kind.name:
            raise ValueError("its header has other keys")
        if not isinstance(values["about"], dict):
            raise ValueError("it does not say what it is about")
        arrays = entries_of(values["arrays"], room - length)
    except CondalError:
        raise
    except (RecursionError, ValueError) as error:
        kind.refuse(str(error), path)
    return Head(values["about"], values["skeleton"], arrays, digest.hex(), size - room + length)


def read_file(kind: Kind, file: BufferedReader, path: str) -> tuple[Head, list[NDArray[Any]]]:
    """Read the head and the arrays; every digest is checked."""
    head = read_head(kind, file, path)
    try:
        arrays = [entry.read(file) for entry in head.arrays]
        if file.read(1):
            raise ValueError("bytes follow its end")
    except CondalError:
        raise
    except ValueError as error:
        kind.refuse(str(error), path)
    return head, arrays
