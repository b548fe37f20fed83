"""JSON of unknown origin, read strictly, and values that JSON does not have."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import numpy as np

from condal.errors import ProblemError

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
MAX_DEPTH = 32  # of lists and objects within each other


def json_object(text: str) -> dict[str, Any]:
    """Parse an object; ValueError or RecursionError for anything that is not strictly one, such as
    a field given twice, NaN, or a number that overflows."""
    values = json.loads(
        text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite
    )
    if not isinstance(values, dict):
        raise ValueError("wanted an object")
    return values


def require_shallow(values: Any, levels: int = MAX_DEPTH) -> None:
    """Raise ValueError if lists and objects are nested more than `levels` deep."""
    if levels == 0:
        raise ValueError("lists and objects are nested too deeply")
    if isinstance(values, dict | list):
        for value in values.values() if isinstance(values, dict) else values:
            require_shallow(value, levels - 1)


def plain(value: Any, what: str, depth: int = 0) -> Any:
    """Return the value as JSON has it: NumPy's numbers as Python's, tuples as lists."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth < MAX_DEPTH and isinstance(value, list | tuple):
        return [plain(item, what, depth + 1) for item in value]
    if depth < MAX_DEPTH and isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(item, what, depth + 1) for key, item in value.items()}
    raise ProblemError(
        f"{what} must be values of JSON: texts, finite numbers, true, false, None, lists and dicts "
        f"of these; got {type(value).__name__} {value!r:.40}"
    )


def encoded(value: float) -> float | str:
    """Encode a number to the last digit: as "nan", "inf" or "-inf" where it is not finite."""
    return float(value) if math.isfinite(value) else str(float(value))


def decoded(value: Any) -> float:
    """Decode what `encoded` returned; ValueError for anything else."""
    if isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number is too large") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a field is given twice")
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value
