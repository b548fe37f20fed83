"""Workers behind one interface: this process, processes on this machine, or a Dask cluster.

Work is a function that can be pickled, and its arguments; results return in the order in which they
end. Workers store nothing: whoever requested the work writes the results.
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
MAX_TRIES = 2  # of work whose worker died
REQUESTED_PER_WORKER = 2  # so that a free worker finds work


class WorkersError(CondalError):
    """These workers cannot work; the text says what to do."""


class WorkerDied(CondalError):
    """A worker died at this work, and so did the one that tried it again; others may continue."""


def cores() -> int:
    """Return the number of processors that this process may use."""
    with suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers(ABC):
    """Workers for the duration of a `with` block, whose end waits for none of them."""

    @staticmethod
    def of(given: int | str | None) -> Workers:
        """Make workers: None for a process per core, a number of processes, 0 for this process
        alone, or the address of a Dask scheduler."""
        if isinstance(given, str) and SCHEME in given:
            from condal_lab.sweeps.cluster import Cluster

            return Cluster(given)
        count = cores() if given is None else given
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ProblemError(
                "workers takes a number of processes, 0 for this one alone, or the address of a "
                f"Dask scheduler, such as tcp://host:8786; got {given!r}"
            )
        if count == 0:
            return Here()
        from condal_lab.sweeps.processes import Processes

        return Processes(count)

    @abstractmethod
    def __enter__(self) -> Workers: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return a handle to a value that many calls take, to be passed to `submit`: the value is
        sent once, and the work receives the value itself."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of calls that can run at once."""

    @abstractmethod
    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Request work, to be done when a worker is free."""

    @abstractmethod
    def next_done(self) -> Future[Any]:
        """Wait for the next work that is done, and return it; each once, as they end.

        Work whose worker died is tried once more, and then fails with `WorkerDied`.
        """


class Here(Workers):
    """This process: work is done when it is waited for, in the order of the requests."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()

    def share(self, value: Any) -> Any:
        return value

    @property
    def count(self) -> int:
        return 1

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, partial(work, *arguments)))
        return future

    def next_done(self) -> Future[Any]:
        future, work = self._waiting.popleft()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        return future


class Desk:
    """Requested work, and what to do with each result, which may request more."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._keepers: dict[Future[Any], Callable[[Future[Any]], None]] = {}

    def ask(
        self, keep: Callable[[Future[Any]], None], work: Callable[..., Any], *arguments: Any
    ) -> None:
        """Request work; `keep` is called with its future once it is done."""
        self._keepers[self._workers.submit(work, *arguments)] = keep

    def go(self, begin: Iterable[Callable[[], None]] = ()) -> None:
        """Run until all requested work is done; each of `begin` requests more, and is called when
        workers are free or nearly so."""
        more = iter(begin)
        while True:
            while len(self._keepers) < REQUESTED_PER_WORKER * self._workers.count:
                request = next(more, None)
                if request is None:
                    break
                request()
            if not self._keepers:
                return
            future = self._workers.next_done()
            self._keepers.pop(future)(future)
