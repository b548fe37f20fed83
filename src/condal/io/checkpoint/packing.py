"""Pack a tree of records and arrays as plain JSON and a list of arrays, bit for bit.

The JSON has null, booleans, texts, finite numbers and lists as they are. Everything else is an
object of one key, which says what it is: a tuple, a dict, a large integer, a float that is not
finite, a NumPy scalar, an array by its number, a sparse matrix, or an instance of a class of
`known`. What the tree refers to twice is written once and is one object again; objects are numbered
in the order in which they are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from condal.errors import ProblemError
from condal.io.checkpoint import leaves
from condal.io.checkpoint.known import attributes, is_cache, is_known, kind_of, name_of
from condal.io.container.arrays import MAX_DIMENSIONS, dtype_name, filled

MAX_LEVELS = 64
SCALARS = (np.bool_, np.integer, np.floating, np.complexfloating)


class Beside(Protocol):
    """What of a tree is kept elsewhere, and the classes that are known there besides `known`."""

    known: Mapping[str, type]

    def packed(self, value: Any) -> Any:
        """Return JSON of what is kept elsewhere, an object of one key; None for anything else."""

    def kinds(self) -> dict[str, Callable[[Any, int], Any]]:
        """Return what unpacks the JSON of each such key at a level; it may raise ValueError."""


def pack(value: Any, beside: Beside | None = None) -> tuple[Any, list[NDArray[Any]]]:
    """Return the tree as JSON, and its arrays without gaps, except those that are kept elsewhere.

    ProblemError for what a checkpoint cannot hold.
    """
    packing = _Packing(beside)
    return packing.packed(value), packing.arrays


class _Packing:
    """The arrays so far, and the numbers of the objects that are complete."""

    def __init__(self, beside: Beside | None) -> None:
        self._beside = beside
        self.arrays: list[NDArray[Any]] = []
        self._array_numbers: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id belongs to one object for as long as it is alive
        self._open: set[int] = set()
        self._where: list[str] = []

    def packed(self, value: Any) -> Any:
        """Return JSON of a value."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is float:
            return leaves.of_float(value)
        if kind is int:
            return leaves.of_int(value)
        if isinstance(value, SCALARS) and dtype_name(value.dtype) is not None:
            return leaves.of_scalar(value)
        if isinstance(value, Enum):
            return {"enum": [self._name(value), value.name]}
        if kind is np.ndarray:
            return {"array": self._array(value)}
        if self._beside is not None and (elsewhere := self._beside.packed(value)) is not None:
            return elsewhere
        if id(value) in self._numbers:
            return {"same": self._numbers[id(value)]}
        if kind is tuple and not value:
            return {"tuple": []}
        return self._first(value)

    def _first(self, value: Any) -> Any:
        """Return JSON of an object that is met for the first time."""
        if id(value) in self._open:
            self._refuse("a checkpoint holds no object that is part of itself")
        if len(self._where) >= MAX_LEVELS:
            self._refuse(f"a checkpoint is at most {MAX_LEVELS} levels deep")
        self._open.add(id(value))
        packed = self._composed(value)
        self._open.remove(id(value))
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return packed

    def _composed(self, value: Any) -> Any:
        kind = type(value)
        if kind is list or kind is tuple:
            items = [packed for _, packed in self._each((f"[{i}]", x) for i, x in enumerate(value))]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            if any(type(key) is not str for key in value):
                self._refuse("the keys of a dict must be texts")
            return {"dict": self._named(value)}
        if (matrix := leaves.of_sparse(value)) is not None:
            *parts, arrays = matrix
            return {"sparse": [*parts, [{"array": self._array(array)} for array in arrays]]}
        name = self._name(value)
        return {kind_of(kind): [name, self._named(self._attributes(value))]}

    def _attributes(self, value: Any) -> dict[str, Any]:
        """Return the attributes of an object that are written, by their names."""
        cls = type(value)
        names = attributes(cls)
        present = getattr(value, "__dict__", {})
        # A property among the names stands for other attributes.
        if not any(isinstance(getattr(cls, name, None), property) for name in names):
            for other in present:
                if other not in names and not is_cache(cls, other):
                    self._refuse(f"{name_of(cls)} has an attribute {other!a} that is not kept")
        written = (name for name in names if name in present or not is_cache(cls, name))
        return {name: getattr(value, name) for name in written}

    def _named(self, values: dict[str, Any]) -> dict[str, Any]:
        pairs = self._each((f".{name}", value) for name, value in values.items())
        return {place[1:]: packed for place, packed in pairs}

    def _each(self, items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        pairs = []
        for place, value in items:
            self._where.append(place)
            pairs.append((place, self.packed(value)))
            self._where.pop()
        return pairs

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

    def _name(self, value: Any) -> str:
        cls = type(value)
        name = name_of(cls)
        beside = {} if self._beside is None else self._beside.known
        if not is_known(cls) and beside.get(name) is not cls:
            self._refuse(
                f"got an instance of {cls.__module__}.{cls.__qualname__}, and a checkpoint holds "
                "only condal's own records"
            )
        return name

    def _refuse(self, why: str) -> NoReturn:
        place = "".join(self._where).lstrip(".")
        raise ProblemError(
            f"no checkpoint can be made of {place or 'this'}: {why}; solve without checkpoint=, "
            "or build the method from condal's own rules"
        )
