"""Decisions that all ranks of a distributed solve must take alike: the first rank decides.

A clock, a signal or a callback may differ between ranks. A decision that depends on them goes
through `root_value`, so that all ranks follow the first. A single process decides for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

_Value = TypeVar("_Value")
_first: ContextVar[Callable[[Any], Any] | None] = ContextVar("first", default=None)


def root_value(value: _Value) -> _Value:
    """Return the value of the first rank; of a single process, its own."""
    first = _first.get()
    return value if first is None else first(value)


def is_distributed() -> bool:
    """Return whether several ranks solve together, so that none may decide alone."""
    return _first.get() is not None


@contextmanager
def root_values(first: Callable[[Any], Any]) -> Iterator[None]:
    """For the time of the context, let `first` map the value of this rank to that of the first."""
    token = _first.set(first)
    try:
        yield
    finally:
        _first.reset(token)
