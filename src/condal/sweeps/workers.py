"""Who does the work: this process, others on this machine, or a Dask cluster, all by one interface.

Work is a function that can be pickled, and its arguments; it is handed back in the order in which
it ends. Nothing is kept where it is done: whoever asks for it writes what comes.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from condal.errors import CondalError, ProblemError

SCHEME = "://"  # of an address
TRIES = 2  # of work whose worker died
AHEAD = 2  # times as much work as is under way: a worker that is free finds some


class WorkersError(CondalError):
    """No work can be done by these workers; the text says what to do."""


class WorkerDied(CondalError):
    """A worker died at this work, and so did the one that tried it again; others may go on."""


def cores() -> int:
    """How many processors this process may use."""
    with suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers(ABC):
    """Those who work from the beginning of a `with` block to its end, which waits for none."""

    @staticmethod
    def of(given: int | str | None) -> Workers:
        """None for a process a core, a number of processes, 0 for this process alone, or the
        address of a Dask scheduler."""
        if isinstance(given, str) and SCHEME in given:
            from condal.sweeps.cluster import Cluster

            return Cluster(given)
        count = cores() if given is None else given
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ProblemError(
                "workers takes a number of processes, 0 for this one alone, or the address of a "
                f"Dask scheduler, such as tcp://host:8786; got {given!r}"
            )
        if count == 0:
            return Here()
        from condal.sweeps.processes import Processes

        return Processes(count)

    @abstractmethod
    def __enter__(self) -> Workers: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def share(self, value: Any) -> Any:
        """What stands for a value that much work takes, to be given to `submit`: it is sent once,
        and work gets the value itself."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How much work can be under way at once."""

    @abstractmethod
    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """The work, to be done when a worker is free."""

    @abstractmethod
    def next_done(self) -> Future[Any]:
        """The next that is done, each once, as they end; it is waited for.

        A death of a worker is tried again once, and is a `WorkerDied` then.
        """


class Here(Workers):
    """This process: work is done when it is waited for, in the order in which it came."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()

    def share(self, value: Any) -> Any:
        """The value."""
        return value

    @property
    def count(self) -> int:
        """1."""
        return 1

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Later."""
        future: Future[Any] = Future()
        self._waiting.append((future, partial(work, *arguments)))
        return future

    def next_done(self) -> Future[Any]:
        """Do the next; a Ctrl-C leaves it, as it would any other code."""
        future, work = self._waiting.popleft()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        return future


class Desk:
    """Work asked for, and what to do with each result: mostly, to ask for more."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._keepers: dict[Future[Any], Callable[[Future[Any]], None]] = {}

    def ask(
        self, keep: Callable[[Future[Any]], None], work: Callable[..., Any], *arguments: Any
    ) -> None:
        """`keep` is called with the work's future, once it is done."""
        self._keepers[self._workers.submit(work, *arguments)] = keep

    def go(self, begin: Iterable[Callable[[], None]] = ()) -> None:
        """Until all that was asked for is done, and all that its results asked for; `begin` asks
        for more, each when there are workers to spare, or nearly."""
        more = iter(begin)
        while True:
            while len(self._keepers) < AHEAD * self._workers.count:
                one = next(more, None)
                if one is None:
                    break
                one()
            if not self._keepers:
                return
            future = self._workers.next_done()
            self._keepers.pop(future)(future)
