"""The text of a file, divided into whole lines among the ranks.

A line belongs to the rank in whose share of the bytes it begins.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from typing import BinaryIO

from condal.distributed.team import Team
from condal.io.formats.text import (
    BYTE_ORDER_MARK,
    CHUNK_BYTES,
    Text,
    compression_of,
    empty_error,
    refuse_binary,
    require_text,
    unpack,
)
from condal.io.safe_files import PathLike, opened

# The bytes of a file that ranks compare: its two ends, and windows at random places between them.
END_BYTES = 1 << 16
WINDOW_BYTES, WINDOWS = 1 << 12, 64


def require_same_file(team: Team, name: str) -> int:
    """Return the length of a file; ProblemError unless all ranks see the same file.

    The length and samples of the contents are compared, all bytes of a file of up to 384 KiB.
    """
    with team.together(), opened(name) as file:
        length = os.fstat(file.fileno()).st_size
        digest = _sample_digest(file, length)
    team.require_same(length, f"the bytes of {team.agreed(name)}")
    team.require_same(digest, f"what is in {name} (SHA-256 of samples of it)")
    return length


def _sample_digest(file: BinaryIO, length: int) -> str:
    digest, random_places = hashlib.sha256(), random.Random(length)
    spacing = max((length - 2 * END_BYTES) // WINDOWS, 0)
    samples = [(0, END_BYTES), (max(length - END_BYTES, 0), END_BYTES)]
    for k in range(WINDOWS):
        place = END_BYTES + k * spacing + random_places.randint(0, max(spacing - WINDOW_BYTES, 0))
        samples.append((place, min(spacing, WINDOW_BYTES)))
    for place, count in samples:
        file.seek(place)
        digest.update(file.read(count))
    return digest.hexdigest()[:16]


def read_slice(team: Team, path: PathLike, *, wanted: str = "a graph") -> Text:
    """Read this rank's lines of a file that `read_text` would read whole.

    Every rank unpacks a packed file, but keeps only its own lines.
    """
    name = os.fsdecode(path)
    size = _text_size(team, name)
    # The first line belongs to the first rank, however few bytes a share has.
    begin, end = (max(size * rank // team.size, rank > 0) for rank in (team.rank, team.rank + 1))
    with team.together(), opened(name) as file:
        data = _lines_between(_chunks_from(file, name, max(begin - 1, 0)), begin, end)
        if begin == 0:
            data = data.removeprefix(BYTE_ORDER_MARK)
    if all(team.gathered(not data or data.isspace())):
        raise empty_error(name, wanted)
    ends = team.gathered(data.count(b"\n"))
    text = Text(name, data, before=sum(ends[: team.rank]))
    with team.together():
        require_text(text)
    return text


def _text_size(team: Team, name: str) -> int:
    """Return the number of bytes of the text, unpacked; refuse different files on the ranks."""
    length = require_same_file(team, name)
    with team.together(), opened(name) as file:
        refuse_binary(file, name)
        compression = compression_of(file, name)
    if compression is None:
        return length
    total = 0
    with team.together(), opened(name) as file:
        if team.rank == 0:
            total = sum(map(len, unpack(file, name)))
    return team.agreed(total)


def _chunks_from(file: BinaryIO, name: str, begin: int) -> Iterator[bytes]:
    """Yield the bytes of the text from `begin` on."""
    if compression_of(file, name) is None:
        file.seek(begin)
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
        return
    for chunk in unpack(file, name):
        if begin < len(chunk):
            yield chunk[begin:]
        begin = max(begin - len(chunk), 0)


def _lines_between(chunks: Iterator[bytes], begin: int, end: int) -> bytes:
    """Return the lines that begin at begin ... end - 1.

    The chunks start one byte before `begin`, which shows whether a line begins there.
    """
    pieces: list[bytes] = []
    place, inside = max(begin - 1, 0), begin == 0
    for chunk in chunks:
        first = 0
        if not inside:
            first = chunk.find(b"\n") + 1
            inside = first > 0
        if inside and place + first >= end and not pieces:
            break
        if inside:
            # The line that holds the last byte before `end` is read to its end.
            last = chunk.find(b"\n", max(end - 1 - place, first))
            pieces.append(chunk[first : last + 1 or len(chunk)])
            if last >= 0:
                break
        place += len(chunk)
    return b"".join(pieces)
