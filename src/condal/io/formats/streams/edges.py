"""Edge lists in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from condal.errors import FormatError
from condal.io.formats.edge_list import (
    edge_ends,
    edge_weights,
    explain_errors,
    require_columns,
    two_weights_error,
    unify_comments,
)
from condal.io.formats.streams.pieces import TextPieces
from condal.io.formats.streams.rules import SingleEdges
from condal.io.formats.streams.stream import EntryStream
from condal.io.formats.table import (
    Table,
    TableForm,
    no_rows_error,
    no_table_error,
    plain,
    table_form,
    table_values,
)
from condal.io.formats.text import Text

Numbered = tuple[int, float]  # the number of an entry in the file, from 0, and its weight


def edge_list_stream(pieces: TextPieces) -> EntryStream:
    """Return the entries of an edge list, between labels."""
    form, before = _form(pieces)

    def error(first: Numbered, second: Numbered) -> FormatError:
        lines = [_line_of(pieces, form, before, number) for number, _ in (first, second)]
        text = Text(pieces.path, b"")
        return two_weights_error(text, (lines[0], first[1]), (lines[1], second[1]))

    rule = SingleEdges(Text(pieces.path, b""), error)
    return EntryStream(None, rule, _entries(_tables(pieces, form, before)))


def _form(pieces: TextPieces) -> tuple[TableForm, int]:
    """Check all lines; return the form of the table, and the lines before the piece with it."""
    form, before, rows = None, 0, False
    fault: FormatError | None = None
    for text in pieces:
        with explain_errors(text):
            lines = plain(unify_comments(text))
        if form is not None or fault is not None:
            rows = rows or lines.data.strip() != b""
            continue
        try:
            with explain_errors(text):
                form, before = table_form(lines), text.before
        except FormatError as error:  # raised at the end: control characters come first
            fault = error
        rows = form is not None and lines.data[form.begin :].strip() != b""
    if fault is not None:
        raise fault
    if form is None:
        raise no_table_error(Text(pieces.path, b""))
    if not rows:
        raise no_rows_error(Text(pieces.path, b""))
    return form, before


def _tables(pieces: TextPieces, form: TableForm, before: int) -> Iterator[Table]:
    """Yield the table of each piece that has rows."""
    for text in pieces:
        if text.before < before:
            continue
        lines = plain(unify_comments(text))
        begin = form.begin if text.before == before else 0
        with explain_errors(text):
            table = Table(lines, form.names, table_values(lines, form, begin), begin)
        if len(table.values):
            yield table


def _entries(tables: Iterator[Table]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the entries; at the end raise the error of the first bad end, a first end first."""
    faults: dict[int, FormatError] = {}
    for table in tables:
        columns = []
        try:
            require_columns(table)
        except FormatError as error:
            faults.setdefault(-1, error)
            continue
        for k in (0, 1):
            try:
                columns.append(edge_ends(table, k))
            except FormatError as error:
                faults.setdefault(k, error)
        if not faults:
            yield columns[0], columns[1], edge_weights(table)
    if faults:
        raise faults[min(faults)]


def _line_of(pieces: TextPieces, form: TableForm, before: int, row: int) -> int:
    """Return the line of a row of the whole table."""
    for table in _tables(pieces, form, before):
        if row < len(table.values):
            return table.line(row)
        row -= len(table.values)
    raise AssertionError("the file has changed")
