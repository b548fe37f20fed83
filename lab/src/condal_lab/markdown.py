"""Tables in Markdown, and for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
    )


def formatted(columns: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table in Markdown whose cells are formats, by the head of their column."""
    body = ([cell.format(**row) for cell in columns.values()] for row in rows)
    return markdown(tuple(columns), body)


def aligned(head: Sequence[str], body: Iterable[Sequence[str]], *, left: Sequence[str] = ()) -> str:
    """Return a table in columns, of which those in `left` begin at the left."""
    lines = [list(head), *map(list, body)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if name in left else cell.rjust(width)
            for cell, width, name in zip(line, widths, head, strict=True)
        ).rstrip()
        for line in lines
    )
