"""Fields of records that are computed on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Deferred(Generic[T]):
    """A field of a frozen dataclass: a value, or a function without arguments that returns it.

    The function is called on first use, once.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, owner: type) -> T:
        if record is None:
            raise AttributeError(self.name)
        value = record.__dict__[self.name]
        if callable(value):
            value = record.__dict__[self.name] = value()
        return value

    def __set__(self, record: Any, value: T | Callable[[], T]) -> None:
        record.__dict__[self.name] = value
