"""Lists of entries in chunks: rudy and Matrix Market."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from condal.errors import FormatError
from condal.io.formats.adjacency import BOTH_TRIANGLES
from condal.io.formats.coordinate import Entries, scan, truncated_error
from condal.io.formats.header import Layout, check_claims
from condal.io.formats.matrix_market import (
    first_side,
    read_banner,
    read_sizes,
    require_one_triangle,
    require_square,
)
from condal.io.formats.rudy import read_header
from condal.io.formats.streams.pieces import Piece, TextPieces
from condal.io.formats.streams.rules import Edges, Matrix
from condal.io.formats.streams.stream import EntryStream
from condal.io.formats.text import Text


def rudy_stream(pieces: TextPieces) -> EntryStream:
    """Return the entries of a rudy file."""
    first = next(iter(pieces))
    layout, start = read_header(first)
    check_claims(first, layout, start, 1, size=pieces.size)
    body = _body(pieces, first.before, start)
    return EntryStream(layout.n, Edges(Text(pieces.path, b"")), _entries(layout, body))


def matrix_market_stream(pieces: TextPieces) -> EntryStream:
    """Return the entries of a Matrix Market file."""
    field, symmetry = read_banner(next(iter(pieces)))
    text, offset = header_piece(pieces)
    sizes = read_sizes(text, field)
    require_square(text, sizes)
    check_claims(text, sizes.layout, offset + sizes.start, sizes.line, size=pieces.size)
    body = _body(pieces, text.before, sizes.start)
    name = Text(pieces.path, b"")
    if symmetry == "general":
        return EntryStream(sizes.rows, Matrix(name, BOTH_TRIANGLES), _entries(sizes.layout, body))
    return EntryStream(sizes.rows, Edges(name), _one_triangle(sizes.layout, body))


def header_piece(pieces: TextPieces) -> tuple[Text, int]:
    """Return the piece with the first line that is neither blank nor a comment, and its offset.

    If there is no such line, return the last piece.
    """
    offset, text = 0, Text(pieces.path, b"")
    for text in pieces:
        if text.header() is not None:
            break
        offset += len(text.data)
    return text, offset


def _body(pieces: TextPieces, before: int, start: int) -> Iterator[Piece]:
    """Yield the lines after a header that ends at `start` in the piece after `before` lines."""
    for text in pieces:
        if text.before >= before:
            yield Piece(text, start if text.before == before else 0)


def _entries(layout: Layout, body: Iterator[Piece]) -> Iterator[Entries]:
    """Yield the entries of each piece; raise the error of the first faulty line."""
    for _, entries in _parsed(layout, body):
        yield entries


def _parsed(layout: Layout, body: Iterator[Piece]) -> Iterator[tuple[Piece, Entries]]:
    seen, piece = 0, None
    for piece in body:
        scanned = scan(piece.text, layout, piece.start)
        if scanned.faulty or seen + scanned.count > layout.m:
            scanned.refuse(piece.text, layout, piece.start, seen=seen)
        seen += scanned.count
        yield piece, scanned.entries
    assert piece is not None
    if seen < layout.m:
        raise truncated_error(piece.text, layout, seen)


def _one_triangle(layout: Layout, body: Iterator[Piece]) -> Iterator[Entries]:
    """Yield the entries; at the end raise the error of the first on another side of the diagonal
    than the first of the file."""
    side, fault = 0, None
    for piece, entries in _parsed(layout, body):
        side = side or first_side(entries)
        if fault is None and np.any(np.sign(entries[0] - entries[1]) == -side) and side:
            try:
                require_one_triangle(piece.text, entries, side, piece.start)
            except FormatError as error:
                fault = error
        yield entries
    if fault is not None:
        raise fault
