"""JSON and arrays of a file that is not trusted, as the tree that they were made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from numpy.typing import NDArray

from condal.errors import FormatError
from condal.io.checkpoint import CHECKPOINT, leaves, matrices
from condal.io.checkpoint.known import KNOWN, attributes, is_cache, kind_of
from condal.io.container.arrays import MAX_EXACT_INT

DEEPEST = 64


class Beside(Protocol):
    """What of a tree is kept elsewhere, and the classes that are known there besides `KNOWN`."""

    known: Mapping[str, type]

    def packed(self, value: Any) -> Any:
        """JSON of what is kept elsewhere, an object of one key; None for all else."""

    def kinds(self) -> dict[str, Callable[[Any, int], Any]]:
        """By that key, what makes the value again of the JSON, and how deep it is; ValueError if
        there is none."""


class Unpacking:
    """The objects that are complete, in order, and which arrays were asked for."""

    def __init__(
        self, arrays: Sequence[NDArray[Any]], path: str, beside: Beside | None = None
    ) -> None:
        self._arrays, self._path = arrays, path
        self._known: Mapping[str, type] = KNOWN if beside is None else {**KNOWN, **beside.known}
        self._made: list[Any] = []
        self._asked: set[int] = set()
        self._kinds: dict[str, Callable[[Any, int], Any]] = {
            "int": lambda part, depth: leaves.to_int(part),
            "float": lambda part, depth: leaves.to_float(part),
            "scalar": lambda part, depth: leaves.to_scalar(part),
            "array": lambda part, depth: self._array(part),
            "same": lambda part, depth: self._same(part),
            "enum": lambda part, depth: self._enum(part),
            "tuple": self._tuple,
            "dict": self._dict,
            "sparse": self._sparse,
            "record": self._record,
            "row": self._row,
            "object": self._object,
            **({} if beside is None else beside.kinds()),
        }

    def whole(self, skeleton: Any) -> Any:
        """The tree, to which every array belongs."""
        try:
            value = self._value(skeleton, 0)
        except FormatError:
            raise
        except Exception as error:  # whatever a class makes of what it is not made for
            self._refuse(str(error))
        if len(self._asked) != len(self._arrays):
            self._refuse("an array belongs to nothing")
        return value

    def _value(self, part: Any, depth: int) -> Any:
        if depth > DEEPEST:
            self._refuse(f"it is more than {DEEPEST} levels deep")
        if part is None or isinstance(part, bool | str | float):
            return part
        if isinstance(part, int):
            return part if abs(part) < MAX_EXACT_INT else self._refuse("an integer is too long")
        if isinstance(part, list):
            return self._done([self._value(each, depth + 1) for each in part])
        if not isinstance(part, dict) or len(part) != 1:
            self._refuse("an object has more than one key")
        ((kind, inside),) = part.items()
        if kind not in self._kinds:
            self._refuse(f"there is no kind {kind[:40]!a}")
        return self._kinds[kind](inside, depth + 1)

    def _done(self, value: Any) -> Any:
        self._made.append(value)
        return value

    def _same(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._made):
            self._refuse("an object that is not complete is asked for again")
        return self._made[number]

    def _array(self, number: Any) -> NDArray[Any]:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            self._refuse("there is no such array")
        self._asked.add(number)
        return self._arrays[number]

    def _tuple(self, part: Any, depth: int) -> tuple[Any, ...]:
        if not isinstance(part, list):
            self._refuse("a tuple is no list")
        made = tuple(self._value(each, depth) for each in part)
        return made if not made else self._done(made)  # () is met every time anew

    def _dict(self, part: Any, depth: int) -> dict[str, Any]:
        made = self._named(part, depth)
        self._made.append(made)
        return made

    def _named(self, part: Any, depth: int) -> dict[str, Any]:
        if not isinstance(part, dict):
            self._refuse("names and values are no object")
        return {name: self._value(each, depth) for name, each in part.items()}

    def _enum(self, part: Any) -> Any:
        cls, name = self._class(part, "enum")
        if not isinstance(name, str) or name not in cls.__members__:
            self._refuse(f"{cls.__name__} has no such member")
        return cls[name]

    def _sparse(self, part: Any, depth: int) -> Any:
        if not isinstance(part, list) or len(part) != 4:
            self._refuse("no sparse matrix")
        form, shape, canonical, arrays = part
        return self._done(matrices.matrix_of(form, shape, canonical, self._parts(arrays)))

    def _parts(self, part: Any) -> list[NDArray[Any]]:
        if not isinstance(part, list) or any(
            not isinstance(each, dict) or list(each) != ["array"] for each in part
        ):
            self._refuse("arrays are no list of such")
        return [self._array(each["array"]) for each in part]

    def _record(self, part: Any, depth: int) -> Any:
        cls, values = self._held(part, "record", depth)
        made = object.__new__(cls)
        for name, value in values.items():
            object.__setattr__(made, name, value)  # frozen, and checked when it was first made
        return self._done(made)

    def _row(self, part: Any, depth: int) -> Any:
        cls, values = self._held(part, "row", depth)
        return self._done(cls(**values))

    def _object(self, part: Any, depth: int) -> Any:
        cls, values = self._held(part, "object", depth)
        made = cls.__new__(cls)
        for name, value in values.items():
            setattr(made, name, value)
        return self._done(made)

    def _held(self, part: Any, kind: str, depth: int) -> tuple[Any, dict[str, Any]]:
        """The class, and the attributes, all of them and no others."""
        cls, inside = self._class(part, kind)
        values = self._named(inside, depth)
        wanted = [n for n in attributes(cls) if n in values or not is_cache(cls, n)]
        if list(values) != wanted:
            self._refuse(f"the attributes of {cls.__name__} are not those that it has")
        return cls, values

    def _class(self, part: Any, kind: str) -> tuple[Any, Any]:
        if not isinstance(part, list) or len(part) != 2 or not isinstance(part[0], str):
            self._refuse(f"no {kind}")
        cls = self._known.get(part[0])
        if cls is None or kind_of(cls) != kind:
            self._refuse(f"condal has no {kind} {part[0][:60]!a}")
        return cls, part[1]

    def _refuse(self, why: str) -> NoReturn:
        CHECKPOINT.refuse(why, self._path)
