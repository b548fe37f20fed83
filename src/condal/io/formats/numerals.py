"""Words of a file that are numbers, or stand where numbers are wanted."""

from __future__ import annotations

import re

# Digits are matched in one way only: a second one costs the square of the length of a word.
_DIGITS = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"

DECIMAL = re.compile(_DIGITS + rb"(?:[eE][+-]?\d+)?")
INTEGER = re.compile(rb"[+-]?\d+")
FORTRAN = re.compile(_DIGITS + rb"[dDqQ][+-]?\d+")
DECIMAL_COMMA = re.compile(rb"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
# Spelt as programs spell what is not known; Na is sodium.
MISSING = re.compile(rb"|\?|NA|na|n/a|N/A|#N/A|null|NULL|Null|[+-]?(?i:nan|inf|infinity)")

# Above this a float may stand for several integers, and repr is the shorter text.
_LARGEST_INTEGER = 2**53


def spell(w: float) -> str:
    """The number in the shortest text that gives it back."""
    return str(int(w)) if w.is_integer() and abs(w) <= _LARGEST_INTEGER else repr(w)
