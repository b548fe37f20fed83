"""An alarm for code that may not end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class HungError(Exception):
    """A solve that does not end."""


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise HungError after `seconds`; only in the main thread."""

    def ring(number: int, frame: Any) -> None:
        raise HungError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
