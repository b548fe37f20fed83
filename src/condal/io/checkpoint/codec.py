"""A tree of records and arrays as plain JSON and a list of arrays, bit for bit, and back.

The JSON has null, booleans, texts, integers, finite floats and lists as they are. Everything else
is an object of one key, which says what it is: a tuple, a dict, a number by an array of one entry
(NumPy's, and floats that are not finite), an array by its place in the list, or an instance of a
class of `known`. An array that the tree refers to twice is written once, and is one array again.

Files are not trusted: `unpack` makes no instance of another class, and calls nothing that a file
names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from condal.errors import FormatError, ProblemError
from condal.io.checkpoint import CHECKPOINT
from condal.io.checkpoint.known import attributes, class_of, is_cache, is_known, name_of
from condal.io.container.array_file import MAX_DIMENSIONS, dtype_name, filled

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


def unpack(
    skeleton: Any, arrays: Sequence[NDArray[Any]], path: str, beside: Beside | None = None
) -> Any:
    """Return the tree; FormatError, with the path of the file, unless `pack` made the skeleton."""
    try:
        return _Unpacking(arrays, beside).tree(skeleton)
    except FormatError:
        raise
    except Exception as error:  # whatever a class raises for values that it is not made for
        CHECKPOINT.refuse(str(error), path)


class _Packing:
    """The arrays so far, and the place in the tree."""

    def __init__(self, beside: Beside | None) -> None:
        self._beside = beside
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id belongs to one array for as long as it is alive
        self._where: list[str] = []

    def packed(self, value: Any) -> Any:
        """Return JSON of a value."""
        kind = type(value)
        if value is None or kind in (bool, str, int) or (kind is float and math.isfinite(value)):
            return value
        if kind is float or (isinstance(value, SCALARS) and dtype_name(value.dtype) is not None):
            return {"float" if kind is float else "scalar": self._array(np.asarray(value))}
        if isinstance(value, Enum):
            return {"instance": [self._name(value), value.name]}
        if kind is np.ndarray:
            return {"array": self._array(value)}
        if self._beside is not None and (elsewhere := self._beside.packed(value)) is not None:
            return elsewhere
        if len(self._where) >= MAX_LEVELS:
            self._refuse(f"a checkpoint is at most {MAX_LEVELS} levels deep")
        if kind is list or kind is tuple:
            items = [packed for _, packed in self._each((f"[{i}]", x) for i, x in enumerate(value))]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            if any(type(key) is not str for key in value):
                self._refuse("the keys of a dict must be texts")
            return {"dict": self._named(value)}
        return {"instance": [self._name(value), self._named(self._attributes(value))]}

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
        number = self._numbers.get(id(array))
        if number is None:
            if dtype_name(array.dtype) is None:
                self._refuse(f"a checkpoint holds no array of dtype {array.dtype}")
            if array.ndim > MAX_DIMENSIONS:
                self._refuse(f"a checkpoint holds no array of {array.ndim} dimensions")
            number = self._numbers[id(array)] = len(self.arrays)
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


class _Unpacking:
    """The arrays, and which of them were used."""

    def __init__(self, arrays: Sequence[NDArray[Any]], beside: Beside | None) -> None:
        self._arrays = arrays
        self._beside: Mapping[str, type] = {} if beside is None else beside.known
        self._used: set[int] = set()
        self._kinds: dict[str, Callable[[Any, int], Any]] = {
            "array": lambda part, level: self._array(part),
            "scalar": lambda part, level: self._number(part),
            "float": lambda part, level: float(self._number(part)),
            "tuple": self._tuple,
            "dict": self._named,
            "instance": lambda part, level: self._instance(level, *part),
            **({} if beside is None else beside.kinds()),
        }

    def tree(self, skeleton: Any) -> Any:
        """Return the tree, to which every array belongs."""
        value = self._value(skeleton, 0)
        if len(self._used) != len(self._arrays):
            raise ValueError("an array belongs to nothing")
        return value

    def _value(self, part: Any, level: int) -> Any:
        if level > MAX_LEVELS:
            raise ValueError(f"it is more than {MAX_LEVELS} levels deep")
        if part is None or isinstance(part, bool | str | int | float):
            return part
        if isinstance(part, list):
            return [self._value(item, level + 1) for item in part]
        if not isinstance(part, dict) or len(part) != 1:
            raise ValueError("an object has more than one key")
        ((kind, inside),) = part.items()
        if kind not in self._kinds:
            raise ValueError(f"there is no kind {kind[:40]!a}")
        return self._kinds[kind](inside, level + 1)

    def _array(self, number: Any) -> NDArray[Any]:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ValueError("there is no such array")
        self._used.add(number)
        return self._arrays[number]

    def _number(self, number: Any) -> Any:
        array = self._array(number)
        if array.shape != ():
            raise ValueError("a number is not an array of one entry")
        return array[()]

    def _tuple(self, part: Any, level: int) -> tuple[Any, ...]:
        if not isinstance(part, list):
            raise ValueError("a tuple is not a list")
        return tuple(self._value(item, level) for item in part)

    def _named(self, part: Any, level: int) -> dict[str, Any]:
        if not isinstance(part, dict):
            raise ValueError("named values are not an object")
        return {name: self._value(item, level) for name, item in part.items()}

    def _instance(self, level: int, name: Any, inside: Any) -> Any:
        """Return an instance with all the attributes of its class and no others."""
        cls: Any = (self._beside.get(name) or class_of(name)) if isinstance(name, str) else None
        if cls is None:
            raise ValueError(f"condal has no class {str(name)[:60]!a}")
        if issubclass(cls, Enum):
            if not isinstance(inside, str) or inside not in cls.__members__:
                raise ValueError(f"{cls.__name__} has no such member")
            return cls[inside]
        values = self._named(inside, level)
        wanted = [name for name in attributes(cls) if name in values or not is_cache(cls, name)]
        if list(values) != wanted:
            raise ValueError(f"the attributes of {cls.__name__} are not those of the class")
        if issubclass(cls, tuple):
            return cls(**values)
        instance = cls.__new__(cls)
        for attribute, value in values.items():
            object.__setattr__(instance, attribute, value)  # some are frozen
        return instance
