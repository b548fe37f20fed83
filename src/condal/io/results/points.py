"""A point as named arrays and a description of them, and back.

x = U diag(weights) U' is stored as U and weights, x = U diag(weights) V' as these and V, an array
as x, and a tuple of blocks as `0.U`, `0.weights`, `1.x`, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from condal.errors import FormatError, ProblemError
from condal.io.formats.npy import NUMBERS
from condal.io.results.fields import Fields
from condal.linalg.points import LowRank, Outer

LOW_RANK, OUTER, ARRAY, BLOCKS = "low rank", "outer", "array", "blocks"
PARTS = {LOW_RANK: ("U", "weights"), OUTER: ("U", "weights", "V"), ARRAY: ("x",)}
FORMULAS = {
    LOW_RANK: "(U * weights) @ U.conj().T",
    OUTER: "(U * weights) @ V.T",
    ARRAY: "x itself",
    BLOCKS: "a tuple of blocks, the arrays of the first named 0.U, 0.weights or 0.x, and so on",
}


def described(x: Any) -> dict[str, Any] | None:
    """Describe the kind of a point, and the shapes and dtypes of its arrays; None if x is None."""
    if x is None:
        return None
    if isinstance(x, tuple):
        return {"kind": BLOCKS, "blocks": [described(block) for block in x]}
    return {"kind": _kind(x), "arrays": {name: _shape(array) for name, array in arrays_of(x)}}


def arrays_of(x: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of the point with their names."""
    if isinstance(x, tuple):
        for i, block in enumerate(x):
            yield from arrays_of(block, f"{prefix}{i}.")
    elif x is not None:
        kind = _kind(x)
        for name in PARTS[kind]:
            array = np.asarray(x if kind == ARRAY else getattr(x, name))
            if array.dtype.kind not in NUMBERS:
                raise ProblemError(
                    f"a result is saved as arrays of numbers; got {type(x).__name__} in x, of "
                    f"{array.dtype}"
                )
            yield prefix + name, array


def point_of(description: Fields, arrays: Mapping[str, Any], prefix: str = "") -> Any:
    """Make the point of a description and its arrays; FormatError where these do not fit."""
    kind = description.choice("kind", (*PARTS, BLOCKS))
    if kind == BLOCKS:
        description.only("kind", "blocks")
        blocks = description.tables("blocks")
        return tuple(point_of(block, arrays, f"{prefix}{i}.") for i, block in enumerate(blocks))
    description.only("kind", "arrays")
    shapes = description.table("arrays")
    shapes.only(*PARTS[kind])
    parts: list[Any] = []
    for name in PARTS[kind]:
        array = arrays.get(prefix + name)
        if array is None or shapes.text(name) != _shape(array):
            held = "is not there" if array is None else f"is {_shape(array)}"
            raise FormatError(
                f"says that {prefix}{name} of x is {shapes.text(name)[:40]!a}, but it {held}: save "
                "the result again",
                path=description.path,
            )
        parts.append(array)
    if kind == ARRAY:
        return parts[0]
    U, weights, *V = parts
    sides = [factor.shape[1:] for factor in (U, *V)]
    if weights.ndim != 1 or any(side != weights.shape for side in sides) or weights.dtype != float:
        raise FormatError(
            f"the arrays {prefix}U and {prefix}weights do not fit: wanted a real weight for each "
            f"column; got shapes {U.shape} and {weights.shape}",
            path=description.path,
        )
    return LowRank(U, weights) if kind == LOW_RANK else Outer(U, weights, V[0])


def _kind(x: Any) -> str:
    return LOW_RANK if isinstance(x, LowRank) else OUTER if isinstance(x, Outer) else ARRAY


def _shape(array: Any) -> str:
    """Return the dtype and shape, as float64[64, 14]."""
    return f"{array.dtype.name}{list(array.shape)}"
