"""The meter of a thread: what it computes, until when it may go on, and who decides with it.

A computation calls `spend` once for each product, sweep or factorisation. The call counts the work,
and raises `Cancelled` when a time limit, a signal or a stop from another thread is to end the
solve. The current iteration is then given up, and the solve ends with the state before it.
Decisions that an answer depends on compare work and not seconds, so a run repeats on any machine.

Several processes may solve one problem together. A clock, a signal or a callback may differ between
them, so a decision that depends on these goes through `agreed`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Any, ClassVar, Protocol, TypeVar

PRODUCT_FLOPS = 4.0  # of an entry in a product: it waits for memory, where a factorisation does not
DENSE_SPEED = 8.0  # of a dense flop in LAPACK, against a sparse one

_Value = TypeVar("_Value")


class Agreement(Protocol):
    """Several processes that solve together, and take each decision alike."""

    def agreed(self, value: _Value) -> _Value:
        """Return the value of the first process; all of them call this together."""


class Cancelled(BaseException):
    """Raised to end a solve; a BaseException, so that user code does not catch it as an error.

    `asked` is true if a stop was asked for, and false if the time is up.
    """

    def __init__(self, deadline: Deadline, *, asked: bool) -> None:
        super().__init__("asked to stop" if asked else "the time is up")
        self.deadline, self.asked = deadline, asked


class Meter:
    """The sparse flops and the products of one thread so far, and the deadline that it obeys."""

    __slots__ = ("agreement", "deadline", "due", "products", "work")

    def __init__(self) -> None:
        self.work, self.products = 0.0, 0
        self.deadline: Deadline | None = None
        self.agreement: Agreement | None = None
        self.due = inf  # when to look next; -inf wakes the meter at its next product

    def look(self) -> None:
        """Raise Cancelled if the time is up or a stop was asked for."""
        listening: list[Deadline] = []
        deadline = self.deadline
        while deadline is not None and not deadline.held:
            listening.append(deadline)
            deadline = deadline.outer
        # Before the stoppers are read: one that is asked to stop meanwhile wakes the meter again.
        self.due = -inf if self.agreement else min((one.due for one in listening), default=inf)
        if not listening:
            return
        reasons = [one.reason() for one in listening]
        if self.agreement is not None:
            reasons = self.agreement.agreed(reasons)
        for deadline, reason in zip(listening, reasons, strict=True):
            if reason is not None:
                self.due = -inf
                raise Cancelled(deadline, asked=reason == "asked")


class _Thread(threading.local):
    def __init__(self) -> None:
        self.meter = Meter()


_thread = _Thread()


def spend(flops: float, products: int = 0) -> None:
    """Count work, and raise Cancelled if the current solve of this thread is to end."""
    meter = _thread.meter
    meter.work += flops
    meter.products += products
    if time.perf_counter() >= meter.due:
        meter.look()


def work_done() -> float:
    """Return the sparse flops of this thread so far."""
    return _thread.meter.work


def products_done() -> int:
    """Return the products of this thread with vectors so far."""
    return _thread.meter.products


class Stopper:
    """Ends solves from another thread, within a few products with a vector.

    All solves that were given the stopper, now or later, end with the status INTERRUPTED and the
    best point so far.

    Examples
    --------
    >>> import threading, numpy as np, condal
    >>> stopper = condal.Stopper()
    >>> threading.Timer(60, stopper.stop).start()  # doctest: +SKIP
    >>> result = condal.solve(condal.problems.max_cut(np.eye(3)[::-1]), stopper=stopper)
    """

    polled: ClassVar[bool] = False  # it wakes nobody, so each product asks whether it has stopped

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.polled = cls.stopped is not Stopper.stopped

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._meters: list[Meter] = []  # of the threads that listen

    def stop(self) -> None:
        """End the solves. Any thread may call this, any number of times."""
        self._asked.set()
        for meter in tuple(self._meters):  # no lock: a signal may come while one is held
            meter.due = -inf

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._asked.is_set()

    @property
    def heard(self) -> bool:
        """Whether a solve is listening."""
        return len(self._meters) > 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen for the time of the context, in this thread."""
        meter = _thread.meter
        self._meters.append(meter)
        try:
            yield
        finally:
            self._meters.remove(meter)


class Deadline:
    """The time `until` which a computation may run, and the stoppers that may end it earlier.

    A deadline that is set inside the context of another one obeys that one, too.
    """

    def __init__(self, *stoppers: Stopper, until: float = inf) -> None:
        self.stoppers, self.until = stoppers, until
        self.patient = False  # ignore the time
        self.held = 0
        self.outer: Deadline | None = None

    def allow(self, until: float, *, patient: bool) -> None:
        """Set the time anew; a patient deadline ignores it."""
        self.until, self.patient = until, patient
        _thread.meter.due = -inf

    @property
    def due(self) -> float:
        """When it must be asked for its reason again; a stopper that is not polled says so."""
        if any(stopper.polled for stopper in self.stoppers):
            return -inf
        return inf if self.patient else self.until

    def reason(self) -> str | None:
        """Return why to end: "asked", "late" or None."""
        if any(stopper.stopped for stopper in self.stoppers):
            return "asked"
        return "late" if not self.patient and time.perf_counter() >= self.until else None

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
        meter = _thread.meter
        with self.listening():
            self.outer, meter.deadline, meter.due = meter.deadline, self, -inf
            try:
                yield
            finally:
                meter.deadline, meter.due, self.outer = self.outer, -inf, None


def check_cancelled() -> None:
    """Raise Cancelled if the current solve of this thread is to end."""
    _thread.meter.look()


def is_cancelled() -> bool:
    """Return whether the current solve of this thread is to end."""
    try:
        check_cancelled()
    except Cancelled:
        return True
    return False


def _until(*, of_patient: bool) -> float:
    """Return when the first deadline of this thread is, with those that ignore the time or not."""
    until, deadline = inf, _thread.meter.deadline
    while deadline is not None:
        if of_patient or not deadline.patient:
            until = min(until, deadline.until)
        deadline = deadline.outer
    return until


def seconds_left() -> float:
    """Return the seconds until the time is up; inf without a limit."""
    return agreed(_until(of_patient=False) - time.perf_counter())


def time_is_up() -> bool:
    """Return whether the time of the current solve is up, for its first iteration, too: that is
    never cancelled, as nothing precedes it, and looks here to be short."""
    return agreed(time.perf_counter() >= _until(of_patient=True))


@contextmanager
def impatient() -> Iterator[None]:
    """Obey the time limit even in a first iteration, which may otherwise end after it."""
    deadline = _thread.meter.deadline
    if deadline is None:
        yield
        return
    before = deadline.patient
    deadline.allow(deadline.until, patient=False)
    try:
        yield
    finally:
        deadline.allow(deadline.until, patient=before)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Postpone a stop until the end of the context."""
    deadline = _thread.meter.deadline
    if deadline is None:
        yield
        return
    deadline.held += 1
    try:
        yield
    finally:
        deadline.held -= 1
        _thread.meter.due = -inf


def agreed(value: _Value) -> _Value:
    """Return the value that all processes of the solve take; alone, a process takes its own."""
    agreement = _thread.meter.agreement
    return value if agreement is None else agreement.agreed(value)


def decides_alone() -> bool:
    """Return whether this process may decide by itself what the others would not know of."""
    return _thread.meter.agreement is None


@contextmanager
def agreeing(agreement: Agreement) -> Iterator[None]:
    """For the time of the context, take decisions together with other processes."""
    meter: Any = _thread.meter
    before, meter.agreement, meter.due = meter.agreement, agreement, -inf
    try:
        yield
    finally:
        meter.agreement, meter.due = before, -inf
