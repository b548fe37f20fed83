"""An alarm for code that may not end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# A solve that waits uses no processor time, so the clock on the wall ends it in the end; on a busy
# machine that clock alone would call a slow solve a hung one.
WALL_PER_CPU = 20


class HungError(Exception):
    """A solve that does not end."""


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise HungError after `seconds` of processor time; only in the main thread."""

    def ring(number: int, frame: Any) -> None:
        if number == signal.SIGPROF:
            raise HungError(f"no end after {seconds} s of processor time")
        raise HungError(f"no end after {WALL_PER_CPU * seconds} s on the clock")

    before = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WALL_PER_CPU * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
