"""A tree of records and arrays as plain JSON and a list of arrays, and back: bit for bit.

The JSON has null, booleans, texts, finite numbers and lists as they are. All else is an object of
one key, which says what it is: a tuple, a dict, an integer too long, a float that is not finite, a
scalar of NumPy, an array by its number, a sparse matrix, or something of a class of `known`. What
the tree refers to twice is written once, and is one object again; the objects are numbered in the
order in which they are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from condal.errors import ProblemError
from condal.io.checkpoint import leaves, matrices
from condal.io.checkpoint.known import KNOWN, attributes, is_cache, is_whole, kind_of, name_of
from condal.io.checkpoint.unpacking import DEEPEST, Beside, Unpacking
from condal.io.container.arrays import MAX_DIMENSIONS, dtype_name, filled

SCALARS = (np.bool_, np.integer, np.floating, np.complexfloating)


def pack(value: Any, beside: Beside | None = None) -> tuple[Any, list[NDArray[Any]]]:
    """The tree as JSON, and its arrays, each without gaps in its memory, but those that are kept
    elsewhere.

    ProblemError for what no checkpoint holds.
    """
    packing = _Packing(beside)
    return packing.packed(value), packing.arrays


def unpack(
    skeleton: Any, arrays: Sequence[NDArray[Any]], path: str, beside: Beside | None = None
) -> Any:
    """The tree; FormatError, with the path of the file, unless `pack` makes such a skeleton."""
    return Unpacking(arrays, path, beside).whole(skeleton)


class _Packing:
    """The arrays so far, and the numbers of the objects that are complete."""

    def __init__(self, beside: Beside | None) -> None:
        self._beside = beside
        self._classes: Mapping[str, type] = KNOWN if beside is None else {**KNOWN, **beside.known}
        self.arrays: list[NDArray[Any]] = []
        self._array_numbers: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is that of one object for as long as it is alive
        self._open: set[int] = set()
        self._where: list[str] = []

    def packed(self, value: Any) -> Any:
        """JSON of a value."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is float:
            return leaves.of_float(value)
        if kind is int:
            return self._sure(value, leaves.of_int(value))
        if isinstance(value, SCALARS):
            return self._sure(value, leaves.of_scalar(value))
        if isinstance(value, Enum):
            return {"enum": [self._known(value), value.name]}
        if kind is np.ndarray:
            return {"array": self._array(value)}
        if self._beside is not None and (elsewhere := self._beside.packed(value)) is not None:
            return elsewhere
        if id(value) in self._numbers:
            return {"same": self._numbers[id(value)]}
        if kind is tuple and not value:
            return {"tuple": []}
        return self._noted(value)

    def _noted(self, value: Any) -> Any:
        """JSON of an object that is met for the first time."""
        if id(value) in self._open:
            self._refuse("a checkpoint holds no object that is part of itself")
        if len(self._where) >= DEEPEST:
            self._refuse(f"a checkpoint is at most {DEEPEST} levels deep")
        self._open.add(id(value))
        packed = self._composed(value)
        self._open.remove(id(value))
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return packed

    def _composed(self, value: Any) -> Any:
        kind = type(value)
        if kind is list:
            return self._each(value)
        if kind is tuple:
            return {"tuple": self._each(value)}
        if kind is dict:
            if any(type(key) is not str for key in value):
                self._refuse("the keys of a dict must be texts")
            return {"dict": self._named(value)}
        if (parts := matrices.parts_of(value)) is not None:
            arrays = [{"array": self._array(array)} for array in parts.arrays]
            return {"sparse": [parts.format, list(parts.shape), parts.canonical, arrays]}
        name = self._known(value)
        return {kind_of(kind): [name, self._named(self._held(value))]}

    def _held(self, value: Any) -> dict[str, Any]:
        """The attributes of an object, by their names."""
        cls = type(value)
        names = attributes(cls)
        inside = getattr(value, "__dict__", {})
        for other in inside:
            if other not in names and not is_cache(cls, other) and is_whole(cls):
                self._refuse(f"{name_of(cls)} has an attribute {other!a} that is not kept")
        return {
            name: getattr(value, name)
            for name in names
            if name in inside or not is_cache(cls, name)
        }

    def _each(self, values: Sequence[Any]) -> list[Any]:
        packed = []
        for i, value in enumerate(values):
            self._where.append(f"[{i}]")
            packed.append(self.packed(value))
            self._where.pop()
        return packed

    def _named(self, values: dict[str, Any]) -> dict[str, Any]:
        packed = {}
        for name, value in values.items():
            self._where.append(f".{name}")
            packed[name] = self.packed(value)
            self._where.pop()
        return packed

    def _array(self, array: NDArray[Any]) -> int:
        number = self._array_numbers.get(id(array))
        if number is None:
            if dtype_name(array.dtype) is None:
                self._refuse(f"a checkpoint holds no array of dtype {array.dtype}")
            if array.ndim > MAX_DIMENSIONS:
                self._refuse(f"a checkpoint holds no array of {array.ndim} dimensions")
            number = self._array_numbers[id(array)] = len(self.arrays)
            self._alive.append(array)
            self.arrays.append(filled(array))
        return number

    def _known(self, value: Any) -> str:
        cls = type(value)
        name = name_of(cls)
        if self._classes.get(name) is not cls:
            self._refuse_class(value)
        return name

    def _sure(self, value: Any, packed: Any) -> Any:
        if packed is None:
            self._refuse_class(value)
        return packed

    def _refuse_class(self, value: Any) -> NoReturn:
        cls = type(value)
        self._refuse(
            f"got one of {cls.__module__}.{cls.__qualname__}, and a checkpoint holds condal's own "
            "records alone"
        )

    def _refuse(self, why: str) -> NoReturn:
        place = "".join(self._where).lstrip(".")
        raise ProblemError(
            f"no checkpoint can be made of {place or 'this'}: {why}; solve without checkpoint=, "
            "or build the method from condal's own rules"
        )
