"""HTML tables for notebooks, in the colours of the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condal.runtime.text import escape_controls

_LINE = "1px solid rgba(128,128,128,0.3)"
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;margin:0.3em 0"
_CELL = f"padding:0.2em 0.9em 0.2em 0;border:0;border-bottom:{_LINE};vertical-align:top"
_CAPTION = "text-align:left;caption-side:top;color:inherit;font-weight:bold;padding:0.2em 0"
_DIGITS = "font-variant-numeric:tabular-nums"


def pairs(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and values, one row each."""
    cells = "".join(
        f'<tr style="background:transparent"><th scope="row" style="{_CELL};text-align:left;'
        f'font-weight:normal;opacity:0.7">{escape_html(name)}</th>'
        f'<td style="{_CELL};text-align:left;{_DIGITS}">{escape_html(value)}</td></tr>'
        for name, value in rows
    )
    return _table(caption, cells)


def grid(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of rows under the names of their columns."""
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
