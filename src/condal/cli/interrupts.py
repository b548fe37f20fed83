"""Ctrl-C: the first stops the solve, the second ends the command."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

ABORTED = 130
NOTICE = "stopping; Ctrl-C again aborts"


class Interrupts:
    """KeyboardInterrupt at the first SIGINT, SystemExit(130) at the second.

    Python runs a handler only between its own instructions, and once for all the signals that came
    during a call to compiled code. The wakeup socket gets a byte for each, so that none is lost.
    """

    def __init__(self, say: Callable[[str], Any] | None) -> None:
        self._say = say
        self._count = 0
        self._restore: list[Callable[[], Any]] = []

    def __enter__(self) -> Interrupts:
        before = signal.getsignal(signal.SIGINT)
        here = threading.current_thread() is threading.main_thread()
        if not here or before in (signal.SIG_IGN, None):
            return self
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
            self._restore.append(end.close)
        wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._restore.append(lambda: signal.set_wakeup_fd(wakeup))
        signal.signal(signal.SIGINT, self._handle)
        self._restore.append(lambda: signal.signal(signal.SIGINT, before))
        return self

    def __exit__(self, *_: object) -> None:
        while self._restore:
            self._restore.pop()()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._count += self._read.recv(4096).count(signal.SIGINT)
        if self._count > 1:
            raise SystemExit(ABORTED)
        if self._say is not None:
            self._say(NOTICE)
        raise KeyboardInterrupt
