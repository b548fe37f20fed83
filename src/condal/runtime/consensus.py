"""Decisions that processes which solve together must take alike: the first of them decides.

A clock, a signal, a callback tell each process something else. Whatever is decided by them is asked
of `agreed`, so that all go the same way; a process that is alone agrees with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

_Word = TypeVar("_Word")
_first: ContextVar[Callable[[Any], Any] | None] = ContextVar("first", default=None)


def root_value(value: _Word) -> _Word:
    """The value; that of the first process, where several solve together."""
    first = _first.get()
    return value if first is None else first(value)


def is_distributed() -> bool:
    """Whether several processes solve together: none may go its own way."""
    return _first.get() is not None


@contextmanager
def root_values(first: Callable[[Any], Any]) -> Iterator[None]:
    """The time in which `first`, given what this process thinks, tells what the first one does."""
    token = _first.set(first)
    try:
        yield
    finally:
        _first.reset(token)
