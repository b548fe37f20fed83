"""JSON that is not trusted: objects whose fields are taken by name and kind, and nothing else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from condal.errors import FormatError, ProblemError
from condal.io.strict_json import decoded, json_object

MAX_BYTES = 64 << 20  # of a file of JSON
DEEPEST = 32


@dataclass(frozen=True, eq=False)
class Fields:
    """An object of a file; `within` says which, as `certificate.`."""

    values: dict[str, Any]
    path: str
    within: str = ""

    def only(self, *names: str, perhaps: Collection[str] = ()) -> None:
        """Refuse an object of other fields than these, and those that it may have or not."""
        for name in names:
            if name not in self.values:
                raise FormatError(
                    f"has no {self.within}{name}; save the result again", path=self.path
                )
        for name in self.values:
            if name not in names and name not in perhaps:
                raise FormatError(
                    f"has a field {(self.within + name)[:60]!a}, which no result has: save the "
                    "result again",
                    path=self.path,
                )

    def text(self, name: str) -> str:
        """A string."""
        value = self.values.get(name)
        return value if isinstance(value, str) else self._refuse(name, "a text")

    def choice(self, name: str, known: Collection[str]) -> str:
        """One of some strings."""
        value = self.text(name)
        return value if value in known else self._refuse(name, f"one of {', '.join(known)}")

    def number(self, name: str) -> float:
        """A number; nan and infinities are the texts "nan", "inf" and "-inf"."""
        try:
            return decoded(self.values.get(name))
        except ValueError:
            self._refuse(name, "a number")

    def whole(self, name: str) -> int:
        """A whole number, not negative."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            self._refuse(name, "a whole number")
        return value

    def absent(self, name: str) -> bool:
        """Whether the field is null."""
        return self.values.get(name) is None

    def table(self, name: str) -> Fields:
        """An object."""
        value = self.values.get(name)
        if not isinstance(value, dict):
            self._refuse(name, "an object")
        return Fields(value, self.path, f"{self.within}{name}.")

    def tables(self, name: str) -> list[Fields]:
        """A list of objects."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            self._refuse(name, "a list of objects")
        within = f"{self.within}{name}"
        return [Fields(part, self.path, f"{within}[{i}].") for i, part in enumerate(value)]

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """A list of pairs of strings."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(_is_pair(part) for part in value):
            self._refuse(name, "a list of pairs of texts")
        return [(first, second) for first, second in value]

    def _refuse(self, name: str, wanted: str) -> NoReturn:
        raise FormatError(
            f"{self.within}{name} is {json.dumps(self.values.get(name))[:40]}; wanted {wanted}: "
            "save the result again",
            path=self.path,
        )


def parsed(data: bytes, path: str) -> Fields:
    """The object of a text of JSON."""
    try:
        values = json_object(data.decode("utf-8"))
        _require_shallow(values, DEEPEST)
    except (RecursionError, ValueError) as error:
        raise FormatError(
            f"is no JSON that condal wrote ({error!s:.200}); save the result again", path=path
        ) from error
    return Fields(values, path)


def seal_of(values: dict[str, Any]) -> str:
    """The SHA-256 of all of an object but its own `seal`, which tells of accidents."""
    rest = {name: value for name, value in values.items() if name != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


def plain(value: Any, what: str, depth: int = 0) -> Any:
    """The value as JSON has it: numbers of NumPy as Python's, tuples as lists."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth < DEEPEST and isinstance(value, list | tuple):
        return [plain(part, what, depth + 1) for part in value]
    if depth < DEEPEST and isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(part, what, depth + 1) for key, part in value.items()}
    raise ProblemError(
        f"{what} must be values of JSON: texts, finite numbers, true, false, None, lists and dicts "
        f"of these; got {type(value).__name__} {value!r:.40}"
    )


def _require_shallow(values: Any, levels: int) -> None:
    if levels == 0:
        raise ValueError("lists and objects within each other without end")
    if isinstance(values, dict | list):
        for part in values.values() if isinstance(values, dict) else values:
            _require_shallow(part, levels - 1)


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
    )
