"""METIS files in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from condal.io.formats.adjacency import Entries, PairFault
from condal.io.formats.header import check_claims
from condal.io.formats.metis import (
    Plan,
    line_of_vertex,
    parse_neighbours,
    read_header,
    refuse_first_fault,
    require_edges,
    require_lines,
    without_comments,
)
from condal.io.formats.streams.coordinates import header_piece
from condal.io.formats.streams.pieces import TextPieces
from condal.io.formats.streams.rules import Neighbours
from condal.io.formats.streams.stream import EntryStream
from condal.io.formats.text import Text


class _Lines(NamedTuple):
    """Lines of vertices without comments; `before` vertices are in the pieces before."""

    text: Text
    plan: Plan
    body: bytes
    before: int

    @property
    def vertices(self) -> int:
        """The number of lines; the last of the file may lack its end."""
        ends = self.body.count(b"\n")
        return ends + (self.body != b"" and not self.body.endswith(b"\n"))


def metis_stream(pieces: TextPieces) -> EntryStream:
    """Return the entries of a METIS file."""
    text, offset = header_piece(pieces)
    plan = read_header(text)
    # m is not needed to allocate memory, and the error of a wrong m is clearer at the end.
    layout = replace(plan.layout, m=0)
    check_claims(text, layout, offset + plan.start, plan.line, size=pieces.size)
    ends = sum(lines.body.count(b"\n") for lines in _lines(pieces, text.before, plan))
    require_lines(text, plan, ends)

    def end(fault: PairFault | None, count: int) -> None:
        if fault is not None:
            for lines in _lines(pieces, text.before, plan):
                if fault.vertex < lines.before + lines.vertices:
                    vertex = fault.vertex - lines.before
                    raise text.error(fault.text, line_of_vertex(lines.text, lines.plan, vertex))
        require_edges(text, plan, count)

    rule = Neighbours(Text(pieces.path, b""), end)
    return EntryStream(plan.layout.n, rule, _entries(_lines(pieces, text.before, plan), plan))


def _lines(pieces: TextPieces, before: int, plan: Plan) -> Iterator[_Lines]:
    """Yield the lines after the header, which is in the piece after `before` lines."""
    vertices = 0
    for text in pieces:
        if text.before < before:
            continue
        start = plan.start if text.before == before else 0
        body = without_comments(text.data[start:])
        yield _Lines(text, replace(plan, start=start), body, vertices)
        vertices += body.count(b"\n")


def _entries(parts: Iterator[_Lines], plan: Plan) -> Iterator[Entries]:
    """Yield the entries of each piece; raise the error of the first faulty line."""
    n, full, lines = plan.layout.n, 0, None
    for lines in parts:
        parsed = parse_neighbours(lines.body, lines.plan, lines.before)
        vertices = max(min(lines.vertices, n - lines.before), 0)
        if parsed is None or (plan.own and parsed.full < vertices):
            refuse_first_fault(lines.text, lines.plan, lines.before)
        full += parsed.full
        yield parsed.entries
    if plan.own and full < n:
        assert lines is not None
        refuse_first_fault(lines.text, lines.plan, lines.before)
