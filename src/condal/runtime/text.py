"""Text of strangers made plain: what would act on a screen, or hide on it, is spelt out."""

from __future__ import annotations

import re

# But for tabs and ends of lines: controls, which move a cursor and colour a terminal, and marks
# that turn the direction of writing, by which a text can be shown as another one.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape_terminal(text: str) -> str:
    """The text on one line, for a terminal: control characters and broken encodings spelt out."""
    return "".join(c if c.isprintable() else _spelt(c) for c in text)


def escape_controls(text: str) -> str:
    """The text for a page: only what acts is spelt out."""
    return _ACTING.sub(lambda found: _spelt(found[0]), text)


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
