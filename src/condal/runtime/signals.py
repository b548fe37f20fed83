"""Ctrl-C and SIGTERM: the first stops the solve, the second ends it at once."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from condal.runtime.cancellation import Stopper

NOTICE = "stopping; Ctrl-C again aborts"
ABORTED, TERMINATED = 130, 143
DEFAULTS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class SignalHandler:
    """Stops at the first signal the solve that listens to the stopper, and is left by an exception
    at the second: KeyboardInterrupt, or `last`, and SystemExit for SIGTERM. Where no solve listens
    the first raises KeyboardInterrupt.

    Only in the main thread, and in the place of Python's own handlers alone: one that somebody has
    set stays. Python runs a handler only between its own instructions, and once for all the signals
    that came during a call to compiled code. The wakeup socket gets a byte for each, so that none
    is lost; that of somebody else's, as an event loop's, stays, and two then count as one.
    """

    def __init__(
        self,
        stopper: Stopper,
        *,
        say: Callable[[str], Any] | None = None,
        last: Callable[[], BaseException] = KeyboardInterrupt,
    ) -> None:
        self._stopper, self._say, self._last = stopper, say, last
        self._count = 0
        self._restore: list[Callable[[], Any]] = []
        self._ours: list[signal.Signals] = []
        self._leaving, self._late = False, list[int]()

    @property
    def aborted(self) -> bool:
        """Whether there was a second signal."""
        return self._count > 1

    def __enter__(self) -> SignalHandler:
        if threading.current_thread() is not threading.main_thread():
            return self
        ours = [number for number, kind in DEFAULTS.items() if signal.getsignal(number) == kind]
        self._ours = ours
        if not ours:
            return self
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
            self._restore.append(end.close)
        wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        if wakeup == -1:
            self._restore.append(lambda: signal.set_wakeup_fd(-1))
        else:
            signal.set_wakeup_fd(wakeup)
        for number in ours:
            before = signal.signal(number, self._handle)
            self._restore.append(partial(signal.signal, number, before))
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving = True  # an exception from here on would leave our handlers where they are
        while self._restore:
            self._restore.pop()()
        for number in self._late:
            signal.raise_signal(number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._leaving:
            self._late.append(number)
            return
        self._count += self._received()
        if self.aborted:
            raise self._last() if number == signal.SIGINT else SystemExit(TERMINATED)
        if self._say is not None:
            self._say(NOTICE)
        if self._stopper.heard:
            self._stopper.stop()
        else:
            raise KeyboardInterrupt

    def _received(self) -> int:
        """How many signals of ours came since the last time; others wake the socket as well."""
        try:
            came = self._read.recv(4096)
        except BlockingIOError:  # another handler has read it
            return 1
        return sum(came.count(int(number)) for number in self._ours)
