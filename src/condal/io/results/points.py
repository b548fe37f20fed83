"""A point as named arrays and a description of it, and back: x = U diag(weights) U' is its U and
weights, x = U diag(weights) V' these and V, an array itself, and a block of several `0.U`, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from condal.errors import FormatError, ProblemError
from condal.io.results.fields import Fields
from condal.io.strict_json import encoded
from condal.linalg.points import LowRank, Outer
from condal.storage.reconstruction import Reconstruction

RECONSTRUCTION = "reconstruction"
LOW_RANK, OUTER, ARRAY, BLOCKS = "low rank", "outer", "array", "blocks"
PARTS = {LOW_RANK: ("U", "weights"), OUTER: ("U", "weights", "V"), ARRAY: ("x",)}
FORMULAS = {
    LOW_RANK: "(U * weights) @ U.conj().T",
    OUTER: "(U * weights) @ V.T",
    ARRAY: "x itself",
    BLOCKS: "a tuple of blocks, the arrays of the first named 0.U, 0.weights or 0.x, and so on",
}


def described(x: Any) -> dict[str, Any] | None:
    """What kind of point x is, and the shapes and types of its arrays; None for no point."""
    if x is None:
        return None
    if isinstance(x, tuple):
        return {"kind": BLOCKS, "blocks": [described(part) for part in x]}
    kind = _kind(x)
    arrays = {name: _array(x if kind == ARRAY else getattr(x, name)) for name in PARTS[kind]}
    shapes = {name: _shape(array) for name, array in arrays.items()}
    return {"kind": kind, "arrays": shapes}


def arrays_of(x: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays of the point, by name."""
    if isinstance(x, tuple):
        for i, part in enumerate(x):
            yield from arrays_of(part, f"{prefix}{i}.")
    elif x is not None:
        kind = _kind(x)
        for name in PARTS[kind]:
            yield prefix + name, _array(x if kind == ARRAY else getattr(x, name))


def point_of(description: Fields, arrays: Mapping[str, Any], prefix: str = "") -> Any:
    """The point of a description and its arrays; FormatError where these do not fit it."""
    kind = description.choice("kind", (*PARTS, BLOCKS))
    if kind == BLOCKS:
        description.only("kind", "blocks")
        blocks = description.tables("blocks")
        return tuple(point_of(part, arrays, f"{prefix}{i}.") for i, part in enumerate(blocks))
    description.only("kind", "arrays")
    shapes = description.table("arrays")
    shapes.only(*PARTS[kind])
    found: list[Any] = []
    for name in PARTS[kind]:
        array = arrays.get(prefix + name)
        if array is None or shapes.text(name) != _shape(array):
            held = "is not there" if array is None else f"is {_shape(array)}"
            raise FormatError(
                f"says that {prefix}{name} of x is {shapes.text(name)[:40]!a}, but it {held}: save "
                "the result again",
                path=description.path,
            )
        found.append(array)
    if kind == ARRAY:
        return found[0]
    U, weights, *V = found
    sides = [part.shape[1:] for part in (U, *V)]
    if weights.ndim != 1 or any(side != weights.shape for side in sides) or weights.dtype != float:
        raise FormatError(
            f"the arrays {prefix}U and {prefix}weights do not fit: wanted a real weight for each "
            f"column; got shapes {U.shape} and {weights.shape}",
            path=description.path,
        )
    return LowRank(U, weights) if kind == LOW_RANK else Outer(U, weights, V[0])


def accuracy_of(made: Reconstruction | None) -> dict[str, Any]:
    """The field of a record that says how accurate a sketched x is; no field for any other, so
    that records without it are what they always were."""
    if made is None:
        return {}
    missing = None if made.missing_trace is None else encoded(made.missing_trace)
    numbers = {"missing_trace": missing, "image_error": encoded(made.image_error)}
    return {RECONSTRUCTION: {"R": int(made.R), "rank": int(made.rank), **numbers}}


def reconstruction_of(record: Fields) -> Reconstruction | None:
    """What such a field says; None where there is none."""
    if record.absent(RECONSTRUCTION):
        return None
    made = record.table(RECONSTRUCTION)
    made.only("R", "rank", "missing_trace", "image_error")
    missing = None if made.absent("missing_trace") else made.number("missing_trace")
    return Reconstruction(made.whole("R"), made.whole("rank"), missing, made.number("image_error"))


def _kind(x: Any) -> str:
    return LOW_RANK if isinstance(x, LowRank) else OUTER if isinstance(x, Outer) else ARRAY


def _shape(array: Any) -> str:
    """Its type and sides, as float64[64, 14]."""
    return f"{array.dtype.name}{list(array.shape)}"


def _array(values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind not in "biufc":
        raise ProblemError(
            f"a result is saved as arrays of numbers; got {type(values).__name__} in x, of "
            f"{array.dtype}"
        )
    return array
