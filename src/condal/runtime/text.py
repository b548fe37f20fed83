"""Text for people: tables for terminals and notebooks, escapes, and the name that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Control characters except tab and newline, and marks that change the direction of writing, by
# which a text can be displayed as another one.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

WIDTH = 80  # columns of a terminal
MIN_LIKENESS = 0.75  # of a name to the one that was meant
MIN_BEGINNING = 3  # letters

# Of tables in notebooks, in the colours of the page, light or dark.
_LINE = "1px solid rgba(128,128,128,0.3)"
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;margin:0.3em 0"
_CELL = f"padding:0.2em 0.9em 0.2em 0;border:0;border-bottom:{_LINE};vertical-align:top"
_CAPTION = "text-align:left;caption-side:top;color:inherit;font-weight:bold;padding:0.2em 0"
_DIGITS = "font-variant-numeric:tabular-nums"


def escape_terminal(text: str) -> str:
    """Escape text for one line of a terminal: control characters and broken encodings."""
    return "".join(c if c.isprintable() else _spelt(c) for c in text)


def escape_controls(text: str) -> str:
    """Escape text for a page: control characters only."""
    return _CONTROLS.sub(lambda match: _spelt(match[0]), text)


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values in two columns; long values wrap within their column."""
    import textwrap

    listed = list(rows)
    column = max(len(name) for name, _ in listed) + 4
    return "\n".join(
        textwrap.fill(
            value,
            WIDTH,
            initial_indent=f"  {name}".ljust(column),
            subsequent_indent=" " * column,
            break_on_hyphens=False,
        )
        for name, value in listed
    )


def pairs(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return an HTML table of names and values, one row each."""
    cells = "".join(
        f'<tr style="background:transparent"><th scope="row" style="{_CELL};text-align:left;'
        f'font-weight:normal;opacity:0.7">{escape_html(name)}</th>'
        f'<td style="{_CELL};text-align:left;{_DIGITS}">{escape_html(value)}</td></tr>'
        for name, value in rows
    )
    return _table(caption, cells)


def grid(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of rows under the names of their columns."""
    names = "".join(
        f'<th scope="col" style="{_CELL};text-align:right;font-weight:normal;opacity:0.7">'
        f"{escape_html(name)}</th>"
        for name in head
    )
    cells = "".join(
        '<tr style="background:transparent">'
        + "".join(
            f'<td style="{_CELL};text-align:right;{_DIGITS}">{escape_html(cell)}</td>'
            for cell in row
        )
        + "</tr>"
        for row in rows
    )
    return _table(caption, f'<tr style="background:transparent">{names}</tr>{cells}')


def _table(caption: str, cells: str) -> str:
    title = f'<caption style="{_CAPTION}">{escape_html(caption)}</caption>'
    return f'<table style="{_TABLE}">{title}<tbody>{cells}</tbody></table>'


def escape_html(text: str) -> str:
    """Escape text for HTML, control characters included."""
    from html import escape

    return escape(escape_controls(text))


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return " (did you mean NAME?)" for the nearest of the names; empty if none is near.

    Case, "-" and "_" matter only between equally near names, and of a dotted name only the last
    part is compared. A name is near if it begins the other.
    """
    from difflib import SequenceMatcher

    def likeness(candidate: str) -> tuple[float, float]:
        last = candidate.rpartition(".")[2]
        given, letters = (re.sub("[-_]", "", text).lower() for text in (name, last))
        nearness = SequenceMatcher(None, given, letters).ratio()
        short, long = sorted((given, letters), key=len)
        if len(short) >= MIN_BEGINNING and long.startswith(short):
            nearness = max(nearness, MIN_LIKENESS)
        return nearness, SequenceMatcher(None, name, last).ratio()

    nearest = max(names, key=likeness, default="")
    return f" (did you mean {nearest}?)" if likeness(nearest)[0] >= MIN_LIKENESS else ""


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
