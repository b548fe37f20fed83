"""The text of a file, shared out in whole lines: a line belongs to the rank in whose share of the
bytes it begins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from condal.distributed.reading.sameness import require_same_file
from condal.distributed.team import Team
from condal.io.formats.text import (
    CHUNK,
    MARK,
    Text,
    empty,
    packing,
    refuse_other,
    require_text,
    unpacked,
)
from condal.io.safe_files import PathLike, opened


def read_slice(team: Team, path: PathLike, *, wanted: str = "a graph") -> Text:
    """This rank's lines of a file, as `read_text` has them all: those of all ranks are the file.

    A file that is packed is unpacked by every rank, which keeps its own lines alone.
    """
    name = os.fsdecode(path)
    size = _size(team, name)
    # The first line is the first rank's, however few bytes there are for each.
    begin, end = (max(size * rank // team.size, rank > 0) for rank in (team.rank, team.rank + 1))
    with team.together(), opened(name) as file:
        data = _lines_between(_from(file, name, max(begin - 1, 0)), begin, end)
        if begin == 0:
            data = data.removeprefix(MARK)
    if all(team.gathered(not data or data.isspace())):
        raise empty(name, wanted)
    ends = team.gathered(data.count(b"\n"))
    text = Text(name, data, before=sum(ends[: team.rank]))
    with team.together():
        require_text(text)
    return text


def _size(team: Team, name: str) -> int:
    """How many bytes the text has; refused unless every rank sees the same file."""
    length = require_same_file(team, name)
    with team.together(), opened(name) as file:
        refuse_other(file, name)
        kind = packing(file, name)
    if kind is None:
        return length
    total = 0
    with team.together(), opened(name) as file:
        if team.rank == 0:
            total = sum(map(len, unpacked(file, name)))
    return team.agreed(total)


def _from(file: BinaryIO, name: str, begin: int) -> Iterator[bytes]:
    """The bytes of the text from `begin` on."""
    if packing(file, name) is None:
        file.seek(begin)
        while chunk := file.read(CHUNK):
            yield chunk
        return
    for chunk in unpacked(file, name):
        if begin < len(chunk):
            yield chunk[begin:]
        begin = max(begin - len(chunk), 0)


def _lines_between(chunks: Iterator[bytes], begin: int, end: int) -> bytes:
    """The lines that begin at begin ... end - 1, of chunks from the byte before `begin` on: only it
    tells whether a line begins there."""
    parts: list[bytes] = []
    place, inside = max(begin - 1, 0), begin == 0
    for chunk in chunks:
        first = 0
        if not inside:
            first = chunk.find(b"\n") + 1
            inside = first > 0
        if inside and place + first >= end and not parts:
            break
        if inside:
            # The line that holds the last byte before `end` goes on to its own end.
            last = chunk.find(b"\n", max(end - 1 - place, first))
            parts.append(chunk[first : last + 1 or len(chunk)])
            if last >= 0:
                break
        place += len(chunk)
    return b"".join(parts)
