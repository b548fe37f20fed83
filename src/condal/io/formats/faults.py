"""The first line at fault in a list of `i j` or `i j w`, and what is wrong with it."""

from __future__ import annotations

import math
from itertools import islice
from typing import NoReturn

from condal.io.formats.header import Layout
from condal.io.formats.numerals import DECIMAL, FORTRAN, INTEGER, NOT_FINITE
from condal.io.formats.text import Text, quote
from condal.io.formats.words import WORD


def refuse_first_fault(text: Text, layout: Layout, begin: int, line: int, seen: int) -> NoReturn:
    """Raise the error of the first line at fault from offset `begin` on."""
    for number, (content, _) in enumerate(text.lines(begin), line):
        tokens = [word[0] for word in islice(WORD.finditer(content), 5)]
        if not tokens:
            continue
        if seen == layout.m:
            raise text.error(
                f"the header says {layout.m} {layout.noun}, but after them stands"
                f" {quote(content)}; correct the header or remove what is too much{layout.hint}",
                number,
            )
        if (fault := _fault(tokens, layout)) is not None:
            raise text.error(fault, number)
        seen += 1
    raise AssertionError("the bulk parser refused lines that are right")


def line_of_entry(text: Text, start: int, line: int, entry: int) -> int:
    """The line of an entry, counted from 0, of the lines that start at offset `start`."""
    for number, (content, _) in enumerate(text.lines(start), line):
        if not content.isspace():
            if entry == 0:
                return number
            entry -= 1
    raise IndexError(entry)


def _fault(tokens: list[bytes], layout: Layout) -> str | None:
    """What is wrong with a line, or None."""
    if len(tokens) not in layout.columns:
        got = "5 or more" if len(tokens) > 4 else str(len(tokens))
        return f"got {got} columns, wanted {layout.wanted}; correct the line"
    for token in tokens[:2]:
        if (fault := index_fault(token, layout)) is not None:
            return fault
    return None if len(tokens) == 2 else weight_fault(tokens[2], integer=layout.integer)


def index_fault(token: bytes, layout: Layout) -> str | None:
    """What is wrong with an index, or None."""
    if not token.isdigit() or len(token) > 18:
        return f"an index must be a whole number from 1 to {layout.n}, got {quote(token)}"
    if int(token) == 0:
        return f"got index 0, wanted 1 to {layout.n}; add 1 to all indices if they start at 0"
    if int(token) > layout.n:
        return f"got index {int(token)}, but the header says {layout.n} vertices{layout.hint}"
    return None


def weight_fault(token: bytes, *, integer: bool = False) -> str | None:
    """What is wrong with a weight, or None."""
    if FORTRAN.fullmatch(token):
        return f"got the Fortran exponent {quote(token)}; write E for the exponent, as in 1.5E3"
    if NOT_FINITE.fullmatch(token):
        return f"a weight must be finite, got {quote(token)}; remove the line or give a number"
    if not DECIMAL.fullmatch(token):
        return f"a weight must be a decimal number, got {quote(token)}"
    if integer and not INTEGER.fullmatch(token):
        return f"an integer file holds {quote(token)}; write 'real' for 'integer' in the banner"
    if not math.isfinite(float(token)):
        return f"the weight {quote(token)} overflows; scale all weights below 1e308"
    return None
