"""Ctrl-C and SIGTERM: the first signal stops the solve, the second ends it at once."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from condal.runtime.meter import Stopper

NOTICE = "stopping; Ctrl-C again aborts"
ABORTED, TERMINATED = 130, 143
DEFAULTS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class SignalHandler:
    """Stops the solve that listens to the stopper at the first signal, and raises at the second:
    `last` (KeyboardInterrupt by default), or SystemExit for SIGTERM. If no solve listens, the first
    signal raises KeyboardInterrupt.

    It acts in the main thread only, and replaces only Python's own handlers. Python runs a handler
    between its own instructions, and once for all signals that arrive during a call to compiled
    code. The wakeup socket gets a byte per signal, so none is lost. The wakeup socket of another
    owner, such as an event loop, stays in place; two signals may then count as one.
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
    def came(self) -> bool:
        """Whether there was a signal."""
        return self._count > 0

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
        self._leaving = True  # an exception from here on would leave our handlers installed
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
        """Count our signals since the last call; others wake the socket as well."""
        try:
            came = self._read.recv(4096)
        except BlockingIOError:  # another handler has read it
            return 1
        return sum(came.count(int(number)) for number in self._ours)
