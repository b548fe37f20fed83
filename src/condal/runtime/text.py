"""Escape untrusted text: characters that act on a screen, or hide on it, are spelt out."""

from __future__ import annotations

import re

# Control characters except tab and newline, and marks that change the direction of writing, by
# which a text can be displayed as another one.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape_terminal(text: str) -> str:
    """Escape text for one line of a terminal: control characters and broken encodings."""
    return "".join(c if c.isprintable() else _spelt(c) for c in text)


def escape_controls(text: str) -> str:
    """Escape text for a page: control characters only."""
    return _CONTROLS.sub(lambda match: _spelt(match[0]), text)


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
