"""Cancellation inside an oracle: by a time limit, a signal, or a stop from another thread.

Long computations call `check_cancelled` at each product with a gradient, each oracle call and each
sweep. It raises `Cancelled` when the solve is to end. The current iteration is then given up, and
the solve ends with the state before it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from math import inf

from condal.runtime.consensus import root_value


class Cancelled(BaseException):
    """Raised to end a solve; a BaseException, so that user code does not catch it as an error.

    `asked` is true if a stop was asked for, and false if the time is up.
    """

    def __init__(self, deadline: Deadline, *, asked: bool) -> None:
        super().__init__("asked to stop" if asked else "the time is up")
        self.deadline, self.asked = deadline, asked


class Stopper:
    """Ends solves from another thread, within one product with a vector.

    All solves that were given the stopper, now or later, end with the status INTERRUPTED and the
    best point so far.

    Examples
    --------
    >>> import threading, numpy as np, condal
    >>> stopper = condal.Stopper()
    >>> threading.Timer(60, stopper.stop).start()  # doctest: +SKIP
    >>> result = condal.solve(condal.problems.max_cut(np.eye(3)[::-1]), stopper=stopper)
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._solves, self._turn = 0, threading.Lock()

    def stop(self) -> None:
        """End the solves. Any thread may call this, any number of times."""
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
        """Listen for the time of the context."""
        with self._turn:  # solves in several threads may have it
            self._solves += 1
        try:
            yield
        finally:
            with self._turn:
                self._solves -= 1


class Deadline:
    """The time `until` which a computation may run, and the stoppers that may end it earlier.

    A deadline that is set inside the context of another one obeys that one, too.
    """

    def __init__(self, *stoppers: Stopper, until: float = inf) -> None:
        self.stoppers, self.until = stoppers, until
        self.patient = False  # ignore the time
        self.held = 0
        self._outer: Deadline | None = None

    def check(self) -> None:
        """Raise Cancelled if the time is up or a stop was asked for."""
        listening: list[Deadline] = []
        deadline: Deadline | None = self
        while deadline is not None and not deadline.held:  # plain: each product comes here
            listening.append(deadline)
            deadline = deadline._outer
        reasons = root_value([deadline._reason() for deadline in listening])
        if not any(reasons):
            return
        for deadline, reason in zip(listening, reasons, strict=True):
            if reason is not None:
                raise Cancelled(deadline, asked=reason == "asked")

    def _nested(self) -> Iterator[Deadline]:
        """Yield this deadline, and those whose context it is in."""
        deadline: Deadline | None = self
        while deadline is not None:
            yield deadline
            deadline = deadline._outer

    def _reason(self) -> str | None:
        for stopper in self.stoppers:
            if stopper.stopped:
                return "asked"
        late = not self.patient and time.perf_counter() >= self.until
        return "late" if late else None

    def is_over(self) -> bool:
        """Return whether the time is up, for a patient deadline, too."""
        now = time.perf_counter()
        return root_value(any(now >= deadline.until for deadline in self._nested()))

    @property
    def left(self) -> float:
        """The seconds that are left."""
        until = min((one.until for one in self._nested() if not one.patient), default=inf)
        return root_value(until - time.perf_counter())

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let the stoppers know, for the time of the context, that a solve listens."""
        with ExitStack() as stack:
            for stopper in self.stoppers:
                stack.enter_context(stopper.listening())
            yield

    @contextmanager
    def on(self) -> Iterator[None]:
        """Obey the deadline, for the time of the context and in this thread."""
        self._outer = _deadline.get()
        token = _deadline.set(self)
        try:
            yield
        finally:
            _deadline.reset(token)
            self._outer = None


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def check_cancelled() -> None:
    """Raise Cancelled if the current solve of this thread is to end."""
    deadline = _deadline.get()
    if deadline is not None:
        deadline.check()


def is_cancelled() -> bool:
    """Return whether the current solve of this thread is to end."""
    try:
        check_cancelled()
    except Cancelled:
        return True
    return False


def seconds_left() -> float:
    """Return the seconds until the time is up; inf without a limit."""
    deadline = _deadline.get()
    return inf if deadline is None else deadline.left


def time_is_up() -> bool:
    """Return whether the time of the current solve is up, for its first iteration, too.

    The first iteration is never cancelled, as nothing precedes it: it looks here to be short.
    """
    deadline = _deadline.get()
    return deadline is not None and deadline.is_over()


@contextmanager
def impatient() -> Iterator[None]:
    """Obey the time limit even in a first iteration, which may otherwise end after it."""
    deadline = _deadline.get()
    if deadline is None:
        yield
        return
    before, deadline.patient = deadline.patient, False
    try:
        yield
    finally:
        deadline.patient = before


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Postpone a stop until the end of the context."""
    deadline = _deadline.get()
    if deadline is None:
        yield
        return
    deadline.held += 1
    try:
        yield
    finally:
        deadline.held -= 1
