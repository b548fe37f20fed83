"""Objects of untrusted JSON, whose fields are read by name and type."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from condal.errors import FormatError
from condal.io.strict_json import decoded, encoded


@dataclass(frozen=True, eq=False)
class Fields:
    """An object of a file; `within` says which, as `certificate.`. Errors do not name the file."""

    values: dict[str, Any]
    within: str = ""

    def only(self, *names: str, optional: Collection[str] = ()) -> None:
        """Refuse an object that lacks one of the names, or has a field that is not optional."""
        for name in names:
            if name not in self.values:
                raise FormatError(f"has no {self.within}{name}; save the result again")
        for name in self.values:
            if name not in names and name not in optional:
                raise FormatError(
                    f"has a field {(self.within + name)[:60]!a}, which no result has: save the "
                    "result again"
                )

    def text(self, name: str) -> str:
        """Return a string."""
        value = self.values.get(name)
        return value if isinstance(value, str) else self._refuse(name, "a text")

    def choice(self, name: str, known: Collection[str]) -> str:
        """Return one of some strings."""
        value = self.text(name)
        return value if value in known else self._refuse(name, f"one of {', '.join(known)}")

    def number(self, name: str) -> float:
        """Return a number; "nan", "inf" and "-inf" stand for those that JSON does not have."""
        try:
            return decoded(self.values.get(name))
        except ValueError:
            self._refuse(name, "a number")

    def positive(self, name: str) -> float:
        """Return a number above 0."""
        value = self.number(name)
        return value if value > 0 else self._refuse(name, "a positive number")

    def number_or_none(self, name: str) -> float | None:
        """Return a number, or None for null."""
        return None if self.absent(name) else self.number(name)

    def numbers(self, name: str) -> dict[str, float]:
        """Return an object of numbers."""
        table = self.table(name)
        return {each: table.number(each) for each in table.values}

    def whole(self, name: str) -> int:
        """Return an integer that is not negative."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            self._refuse(name, "a whole number")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.values.get(name)
        return value if isinstance(value, bool) else self._refuse(name, "true or false")

    def absent(self, name: str) -> bool:
        """Whether the field is null or missing."""
        return self.values.get(name) is None

    def table(self, name: str) -> Fields:
        """Return an object."""
        value = self.values.get(name)
        if not isinstance(value, dict):
            self._refuse(name, "an object")
        return Fields(value, f"{self.within}{name}.")

    def tables(self, name: str) -> list[Fields]:
        """Return a list of objects."""
        values = self.values.get(name)
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self._refuse(name, "a list of objects")
        within = f"{self.within}{name}"
        return [Fields(value, f"{within}[{i}].") for i, value in enumerate(values)]

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Return a list of pairs of strings."""
        values = self.values.get(name)
        if not isinstance(values, list) or not all(_is_pair(value) for value in values):
            self._refuse(name, "a list of pairs of texts")
        return [(first, second) for first, second in values]

    def declared(self, types: Mapping[str, str]) -> dict[str, Any]:
        """Return exactly the fields of these names, each by the method of its type."""
        self.only(*types)
        return {name: getattr(self, kind)(name) for name, kind in types.items()}

    def _refuse(self, name: str, wanted: str) -> NoReturn:
        raise FormatError(
            f"{self.within}{name} is {json.dumps(self.values.get(name))[:40]}; wanted {wanted}: "
            "save the result again"
        )


def written(value: Any, types: Mapping[str, str]) -> dict[str, Any]:
    """Return the attributes of these names as JSON, for `declared`."""
    return {name: _WRITERS[kind](getattr(value, name)) for name, kind in types.items()}


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "flag": bool,
    "whole": int,
    "number": encoded,
    "positive": encoded,
    "number_or_none": lambda value: None if value is None else encoded(value),
    "numbers": lambda values: {name: encoded(value) for name, value in values.items()},
}


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(isinstance(text, str) for text in value)
    )
