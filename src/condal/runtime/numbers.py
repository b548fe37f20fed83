"""Numbers in text for people: rounded to the safe side, with thousands separators."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

DIGITS = 7


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
