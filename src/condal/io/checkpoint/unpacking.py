"""Unpack a tree from JSON and arrays of a file that is not trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from condal.errors import FormatError
from condal.io.checkpoint import CHECKPOINT, leaves
from condal.io.checkpoint.known import attributes, class_of, is_cache, kind_of
from condal.io.checkpoint.packing import MAX_LEVELS, Beside
from condal.io.container.arrays import MAX_EXACT_INT


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


class _Unpacking:
    """The objects that are complete, in order, and which arrays were used."""

    def __init__(self, arrays: Sequence[NDArray[Any]], beside: Beside | None) -> None:
        self._arrays = arrays
        self._beside: Mapping[str, type] = {} if beside is None else beside.known
        self._complete: list[Any] = []
        self._used: set[int] = set()
        self._kinds: dict[str, Callable[[Any, int], Any]] = {
            "int": lambda part, level: leaves.to_int(part),
            "float": lambda part, level: leaves.to_float(part),
            "scalar": lambda part, level: leaves.to_scalar(part),
            "array": lambda part, level: self._array(part),
            "same": lambda part, level: self._same(part),
            "enum": lambda part, level: self._enum(part),
            "sparse": lambda part, level: self._sparse(part),
            "tuple": self._tuple,
            "dict": lambda part, level: self._done(self._named(part, level)),
            "record": self._record,
            "row": self._row,
            "object": self._object,
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
        if part is None or isinstance(part, bool | str | float):
            return part
        if isinstance(part, int):
            if abs(part) >= MAX_EXACT_INT:
                raise ValueError("an integer is too long")
            return part
        if isinstance(part, list):
            return self._done([self._value(item, level + 1) for item in part])
        if not isinstance(part, dict) or len(part) != 1:
            raise ValueError("an object has more than one key")
        ((kind, inside),) = part.items()
        if kind not in self._kinds:
            raise ValueError(f"there is no kind {kind[:40]!a}")
        return self._kinds[kind](inside, level + 1)

    def _done(self, value: Any) -> Any:
        self._complete.append(value)
        return value

    def _same(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._complete):
            raise ValueError("it refers to an object that is not complete")
        return self._complete[number]

    def _array(self, number: Any) -> NDArray[Any]:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ValueError("there is no such array")
        self._used.add(number)
        return self._arrays[number]

    def _tuple(self, part: Any, level: int) -> tuple[Any, ...]:
        if not isinstance(part, list):
            raise ValueError("a tuple is not a list")
        items = tuple(self._value(item, level) for item in part)
        return self._done(items) if items else items  # () is written each time

    def _named(self, part: Any, level: int) -> dict[str, Any]:
        if not isinstance(part, dict):
            raise ValueError("named values are not an object")
        return {name: self._value(item, level) for name, item in part.items()}

    def _enum(self, part: Any) -> Any:
        cls, name = self._class(part, "enum")
        if not isinstance(name, str) or name not in cls.__members__:
            raise ValueError(f"{cls.__name__} has no such member")
        return cls[name]

    def _sparse(self, part: Any) -> Any:
        if not isinstance(part, list) or len(part) != 4:
            raise ValueError("invalid sparse matrix")
        form, shape, canonical, references = part
        if any(list(reference) != ["array"] for reference in references):
            raise ValueError("a sparse matrix has parts that are not arrays")
        arrays = [self._array(reference["array"]) for reference in references]
        return self._done(leaves.to_sparse(form, shape, canonical, arrays))

    def _record(self, part: Any, level: int) -> Any:
        cls, values = self._instance(part, "record", level)
        record = object.__new__(cls)
        for name, value in values.items():
            object.__setattr__(record, name, value)  # frozen, and checked when it was first made
        return self._done(record)

    def _row(self, part: Any, level: int) -> Any:
        cls, values = self._instance(part, "row", level)
        return self._done(cls(**values))

    def _object(self, part: Any, level: int) -> Any:
        cls, values = self._instance(part, "object", level)
        instance = cls.__new__(cls)
        for name, value in values.items():
            setattr(instance, name, value)
        return self._done(instance)

    def _instance(self, part: Any, kind: str, level: int) -> tuple[Any, dict[str, Any]]:
        """Return the class, and the attributes, all of them and no others."""
        cls, inside = self._class(part, kind)
        values = self._named(inside, level)
        wanted = [name for name in attributes(cls) if name in values or not is_cache(cls, name)]
        if list(values) != wanted:
            raise ValueError(f"the attributes of {cls.__name__} are not those of the class")
        return cls, values

    def _class(self, part: Any, kind: str) -> tuple[Any, Any]:
        if not isinstance(part, list) or len(part) != 2 or not isinstance(part[0], str):
            raise ValueError(f"invalid {kind}")
        cls = self._beside.get(part[0]) or class_of(part[0])
        if cls is None or kind_of(cls) != kind:
            raise ValueError(f"condal has no {kind} {part[0][:60]!a}")
        return cls, part[1]
