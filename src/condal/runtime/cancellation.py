"""Stops that are heard inside an oracle: a time limit, a signal, a stop from another thread.

Whatever takes long calls `heed` now and then: each product with a gradient, each call of an oracle,
each sweep. Where the solve is to end, that raises `Halt`; the iteration that was under way is given
up, and the solve ends with the state before it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from itertools import takewhile
from math import inf

from condal.runtime.consensus import root_value


class Cancelled(BaseException):
    """Raised where a solve is to end: no error, and nothing that a piece of the user's may catch.

    `asked` tells whether someone asked for it; else the time is up.
    """

    def __init__(self, alarm: Deadline, *, asked: bool) -> None:
        super().__init__("asked to stop" if asked else "the time is up")
        self.alarm, self.asked = alarm, asked


class Stopper:
    """Ends solves from another thread, within a product with a vector.

        stopper = condal.Stopper()
        threading.Timer(60, stopper.stop).start()
        result = condal.solve(problem, stopper=stopper)

    The solves that it was given to end with the status INTERRUPTED and the best answer so far; so
    do those that it is given to later.
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._solves, self._turn = 0, threading.Lock()

    def stop(self) -> None:
        """End the solves; from any thread, any number of times."""
        self._asked.set()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._asked.is_set()

    @property
    def heard(self) -> bool:
        """Whether a solve is listening."""
        return self._solves > 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The time in which a solve listens."""
        with self._turn:  # solves in several threads may have it
            self._solves += 1
        try:
            yield
        finally:
            with self._turn:
                self._solves -= 1


class Deadline:
    """What `heed` looks at: the time `until` which there is, and who may ask to stop.

    An alarm that is set while another is on listens for that one, too.
    """

    def __init__(self, *stoppers: Stopper, until: float = inf) -> None:
        self.stoppers, self.until = stoppers, until
        self.patient = False  # the time is not looked at
        self.held = 0
        self._outer: Deadline | None = None

    def look(self) -> None:
        """Raise Halt, if there is reason to."""
        listening = list(takewhile(lambda alarm: not alarm.held, self._nested()))
        reasons = root_value([alarm._reason() for alarm in listening])
        for alarm, reason in zip(listening, reasons, strict=True):
            if reason is not None:
                raise Cancelled(alarm, asked=reason == "asked")

    def _nested(self) -> Iterator[Deadline]:
        """It, and those that it listens for."""
        alarm: Deadline | None = self
        while alarm is not None:
            yield alarm
            alarm = alarm._outer

    def _reason(self) -> str | None:
        if any(stopper.stopped for stopper in self.stoppers):
            return "asked"
        late = not self.patient and time.perf_counter() >= self.until
        return "late" if late else None

    @property
    def left(self) -> float:
        """The seconds that there are."""
        until = min((alarm.until for alarm in self._nested() if not alarm.patient), default=inf)
        return root_value(until - time.perf_counter())

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The time in which the solve listens to each of its stoppers."""
        with ExitStack() as stack:
            for stopper in self.stoppers:
                stack.enter_context(stopper.listening())
            yield

    @contextmanager
    def on(self) -> Iterator[None]:
        """The time in which `heed` looks at it, in this thread."""
        self._outer = _alarm.get()
        token = _alarm.set(self)
        try:
            yield
        finally:
            _alarm.reset(token)
            self._outer = None


_alarm: ContextVar[Deadline | None] = ContextVar("alarm", default=None)


def check_cancelled() -> None:
    """Raise Halt where the solve that is under way in this thread is to end."""
    alarm = _alarm.get()
    if alarm is not None:
        alarm.look()


def seconds_left() -> float:
    """What there is until the time is up; inf without a limit."""
    alarm = _alarm.get()
    return inf if alarm is None else alarm.left


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What is done as one: a stop waits until it is done."""
    alarm = _alarm.get()
    if alarm is None:
        yield
        return
    alarm.held += 1
    try:
        yield
    finally:
        alarm.held -= 1
