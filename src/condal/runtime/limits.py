"""What a command or a call may use, and what ends it: seconds, memory, Ctrl-C and SIGTERM."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from math import inf
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, TypeAlias

from condal.errors import ProblemError
from condal.runtime.meter import Stopper, agreed

Bytes: TypeAlias = int | float | str | None

MIN_SECONDS = 1e-9  # of a part that begins after the time is up: a limit must be positive
FLOAT_BYTES = 8
TRIANGLE_MATRICES = 3  # n x n, at least, that a solve holds of images and duals of all entries
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 1024**power for power, unit in enumerate("KMGT", 1)}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?I?)B?\s*")
NOTICE = "stopping; Ctrl-C again aborts"
ABORTED, TERMINATED = 130, 143
SIGNAL_DEFAULTS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


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
        return TimeLimit(fraction * max(self.left, 0.0))

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


class SignalHandler:
    """Stops the solve that listens to the stopper at the first signal, and raises at the second:
    `last` (KeyboardInterrupt by default), or SystemExit for SIGTERM. If no solve listens, the first
    signal raises KeyboardInterrupt.

    It acts in the main thread only, and replaces only Python's own handlers. Python runs a handler
    between its own instructions, and once for all signals that arrive during a call to compiled
    code. The wakeup socket gets a byte per signal, so none is lost. The wakeup socket of another
    owner, such as an event loop, stays in place; two signals may then count as one.
    A SIGTERM is for the whole process: after the solve that it ended, no other one begins.
    """

    terminating: ClassVar[bool] = False

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
        self._ours = [one for one, kind in SIGNAL_DEFAULTS.items() if signal.getsignal(one) == kind]
        if not self._ours:
            return self
        if self.terminating:
            raise SystemExit(TERMINATED)
        import socket

        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
            self._restore.append(end.close)
        wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        if wakeup == -1:
            self._restore.append(lambda: signal.set_wakeup_fd(-1))
        else:
            signal.set_wakeup_fd(wakeup)
        for number in self._ours:
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
            SignalHandler.terminating |= number == signal.SIGTERM
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


def bytes_of(size: Bytes, name: str = "max_memory") -> float:
    """Return the bytes of a number or a text such as "4 GB" or "512 MiB"; inf for None."""
    if size is None:
        return inf
    match = _SIZE.fullmatch(size.upper()) if isinstance(size, str) else None
    if match is not None and match[2] in UNITS:
        size = float(match[1]) * UNITS[match[2]]
    if isinstance(size, bool | str) or not isinstance(size, int | float) or not 0 < size < inf:
        raise ProblemError(
            f"{name} must be a number of bytes, or a text such as '4 GB' or '512 MiB'; got {size!r}"
        )
    return float(size)


def size(count: float) -> str:
    """Format a number of bytes to two digits, in the unit that fits."""
    value, units = float(f"{count:.1e}"), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:g} {units[0]}"


def physical() -> int | None:
    """Return the memory of the machine in bytes; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def available(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may use: the memory of the machine, or the limit of the
    process's control group (cgroup v1 or v2) where that is less."""
    limits = physical(), *_cgroup_limits(root)
    return min((limit for limit in limits if limit is not None), default=None)


def _cgroup_limits(root: Path) -> Iterator[int]:
    """Yield the limits of the control groups of this process and of those above them.

    A container may see its own group at the top of the tree, whatever /proc says of its path.
    """
    mount = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, _, controllers_and_path = line.partition(":")
        controllers, _, path = controllers_and_path.partition(":")
        if not controllers:
            top, name = mount, "memory.max"
        elif "memory" in controllers.split(","):
            top, name = mount / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = Path(path.strip().lstrip("/"))
        for level in {Path(), group, *group.parents}:
            try:
                text = (top / level / name).read_text(encoding="utf-8").strip()
            except (OSError, ValueError):
                continue
            if text.isdecimal():  # no limit is "max"
                yield int(text)


def require_matrices(count: float, side: int, what: str, *, advice: str) -> None:
    """Raise ProblemError if dense matrices of this side need more memory than there is.

    `count` is the least number of matrices that `what` holds at the same time, so that what cannot
    be solved is refused before the first of them is made.
    """
    needed, limit = count * FLOAT_BYTES * float(side) ** 2, available()
    if limit is not None and needed > limit:
        raise ProblemError(
            f"{what} needs at least {size(needed)} of memory, for {count:g} matrices of {side} x "
            f"{side}, and this machine allows {size(limit)}: {advice}"
        )
