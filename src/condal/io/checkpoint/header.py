"""The header of a checkpoint: what it is about, its tree, its arrays, and a digest of all this."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple, NoReturn

from condal.errors import FormatError, ProblemError
from condal.io.checkpoint.table import Entry, entries_of
from condal.io.strict_json import json_object

MAGIC = b"condal checkpoint\n"
FORMAT = 1
LENGTHS = struct.Struct("<IQ")  # the format, and the length of the JSON
DIGEST = 32
MOST = 256 << 20  # bytes of JSON
KEYS = ("about", "skeleton", "arrays")


class Header(NamedTuple):
    """The header as it was read."""

    about: dict[str, Any]
    skeleton: Any
    arrays: list[Entry]


def head_of(about: dict[str, Any], skeleton: Any, arrays: Sequence[Entry]) -> bytes:
    """All that comes before the bytes of the arrays."""
    table = [entry.as_json() for entry in arrays]
    parts = dict(zip(KEYS, (about, skeleton, table), strict=True))
    try:
        text = json.dumps(parts, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (RecursionError, TypeError, ValueError) as error:
        raise ProblemError(
            f"no checkpoint can be made: what it is about is no plain JSON ({error}); give texts, "
            "finite numbers, lists and dicts"
        ) from error
    if len(text) > MOST:
        raise ProblemError(
            f"no checkpoint can be made: its header would have {len(text)} bytes, and {MOST} is "
            "the most; solve without checkpoint=, or with a storage of fewer parts than atoms"
        )
    begin = MAGIC + LENGTHS.pack(FORMAT, len(text)) + text
    return begin + hashlib.sha256(begin).digest()


def header_of(file: BinaryIO, path: str) -> Header:
    """The header of an open file, every length in it held against the size of the file;
    FormatError if anything is not as it should be."""
    size = os.fstat(file.fileno()).st_size
    begin = file.read(len(MAGIC) + LENGTHS.size)
    if not begin.startswith(MAGIC):
        refuse("it does not begin as one", path)
    if len(begin) < len(MAGIC) + LENGTHS.size:
        refuse("it ends too early", path)
    number, length = LENGTHS.unpack(begin[len(MAGIC) :])
    room = size - len(begin) - DIGEST
    if length > min(room, MOST):
        refuse(f"its header would have {length} bytes, of a file of {size}", path)
    text, digest = file.read(length), file.read(DIGEST)
    if hashlib.sha256(begin + text).digest() != digest:
        refuse("the SHA-256 of its header is another", path)
    if number != FORMAT:
        raise FormatError(
            f"is a checkpoint of format {number}, and this condal reads format {FORMAT}: use the "
            "condal that wrote it, or begin anew",
            path=path,
        )
    try:
        parts = json_object(text.decode("ascii"))
        if tuple(parts) != KEYS:
            raise ValueError("its header has not the keys of one")
        if not isinstance(parts["about"], dict):
            raise ValueError("it does not say what it is about")
        return Header(parts["about"], parts["skeleton"], entries_of(parts["arrays"], room - length))
    except (RecursionError, ValueError) as error:
        refuse(str(error), path)


def refuse(why: str, path: str) -> NoReturn:
    """Raise the FormatError of a file that is no checkpoint, or no longer one."""
    raise FormatError(
        f"is damaged, or no checkpoint of condal's ({why}); give another, or begin anew", path=path
    )
