"""`TimeLimit`: one budget of seconds for all parts of a command or a call."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from condal.runtime.meter import agreed

MIN_SECONDS = 1e-9  # of a part that begins after the time is up: a limit must be positive


class TimeLimit:
    """max_seconds from its creation on, or no limit for None.

    A command or call creates it before it does anything else, and hands it to its parts: reading,
    the search for bounds, solves, proofs and roundings.
    """

    def __init__(self, max_seconds: float | None = None) -> None:
        self.began = time.perf_counter()
        self.until = inf if max_seconds is None else self.began + float(max_seconds)

    @property
    def seconds(self) -> float:
        """The seconds since its creation."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """The seconds that are left: negative if the time is up, inf without a limit."""
        return self.until - time.perf_counter()

    def is_over(self) -> bool:
        """Return whether the time is up; all ranks of a distributed solve agree."""
        return self.until < inf and agreed(self.left <= 0.0)

    @property
    def max_seconds(self) -> float | None:
        """What is left, as the positive `max_seconds` of a part; None without a limit."""
        return None if self.until == inf else max(self.left, MIN_SECONDS)

    def share(self, fraction: float) -> TimeLimit:
        """Return a limit from now on, of this fraction of what is left."""
        part = TimeLimit()
        part.until = part.began + fraction * max(self.left, 0.0)
        return part

    @contextmanager
    def on(self) -> Iterator[None]:
        """Let `current_limit` return this limit, for the time of the context."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


UNLIMITED = TimeLimit()
_current: ContextVar[TimeLimit] = ContextVar("time limit", default=UNLIMITED)


def current_limit() -> TimeLimit:
    """Return the limit of the call that is under way, for steps far below it."""
    return _current.get()
