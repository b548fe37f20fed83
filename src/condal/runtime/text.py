"""Text for people: tables, control characters spelt out, and the name that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Control characters except tab and newline, and marks that change the direction of writing, by
# which a text can be displayed as another one.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

WIDTH = 80  # columns of a terminal
MIN_LIKENESS = 0.75  # of a name to the one that was meant
MIN_BEGINNING = 3  # letters


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
