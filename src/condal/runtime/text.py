"""Text for people: numbers, tables for terminals and notebooks, escapes, and corrected names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

# Control characters except tab and newline, and marks that change the direction of writing, by
# which a text can be displayed as another one.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

WIDTH = 80  # columns of a terminal
DIGITS = 7  # of a number
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


def number(value: float, *, digits: int = DIGITS, up: bool = False, down: bool = False) -> str:
    """Return a number with thousands separators and all digits of its whole part; `up` and `down`
    round that way."""
    if not math.isfinite(value):
        return "none" if math.isnan(value) else f"{value}"
    size = abs(value)
    common = size == 0 or 1e-4 <= size < 1e15
    if common and size >= 1:
        digits = max(digits, len(f"{int(size)}"))
    shown = rounded(value, digits, up=up, down=down).normalize()
    return f"{shown:,f}" if common else f"{shown:e}"


def rounded(value: float, digits: int, *, up: bool = False, down: bool = False) -> Decimal:
    """Return a number rounded to so many digits, to the nearest, or `up` or `down`."""
    from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

    rounding = ROUND_CEILING if up else ROUND_FLOOR if down else ROUND_HALF_EVEN
    return Context(prec=digits, rounding=rounding).plus(Decimal(value))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 call, 1,200 calls."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(part: float, whole: float) -> str:
    """Return part / whole, rounded down."""
    return f"{math.floor(1000 * part / whole) / 10:.1f}%"


def excess_text(share: float, what: str) -> str:
    """Return an upper bound on the relative excess of a cost in words, rounded up."""
    if share == 0.0:
        return f"the best possible: no {what} costs less"
    if not math.isfinite(share):
        return f"unknown: the bound says nothing about the best {what}"
    return f"at most {math.ceil(1000 * share) / 10:.1f}% above the best possible {what}"


def sizes(counts: Iterable[int]) -> str:
    """Return the number of groups and the sizes of the eight largest."""
    listed = sorted((int(count) for count in counts), reverse=True)
    shown = ", ".join(f"{count:,}" for count in listed[:8]) + ", ..." * (len(listed) > 8)
    return f"{len(listed):,}, of {shown}"


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
