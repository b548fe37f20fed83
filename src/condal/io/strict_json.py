"""JSON that a stranger may have written: read strictly, and numbers that JSON has not."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

UNBOUNDED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def json_object(text: str) -> dict[str, Any]:
    """The object of a text; ValueError, or RecursionError, for anything that is not strictly one:
    a field given twice, NaN, a number that overflows."""
    found = json.loads(
        text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite
    )
    if not isinstance(found, dict):
        raise ValueError("wanted an object")
    return found


def encoded(value: float) -> float | str:
    """A number as JSON has it, to the last digit: "nan", "inf" or "-inf" where it is not finite."""
    return float(value) if math.isfinite(value) else str(float(value))


def decoded(value: Any) -> float:
    """The number that was encoded; ValueError if it is none."""
    if isinstance(value, str) and value in UNBOUNDED:
        return UNBOUNDED[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number is too large") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field is given twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value
