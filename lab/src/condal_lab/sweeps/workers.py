"""Workers behind one interface: this process, processes on this machine, or a Dask cluster.

Work is a function that can be pickled, and its arguments; results return in the order in which they
end. Workers store nothing: whoever requested the work writes the results.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from condal.errors import CondalError, ProblemError

SCHEME = "://"  # of an address
MAX_TRIES = 2  # of work whose worker died


class WorkersError(CondalError):
    """These workers cannot work; the text says what to do."""


class WorkerDied(CondalError):
    """A worker died at this work; others may continue."""


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
        """Begin work; no more than `count` calls at once."""

    @abstractmethod
    def next_done(self) -> Future[Any]:
        """Wait for the next work that is done, and return it; each once, as they end.

        Work whose worker died fails with `WorkerDied`.
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


@dataclass(eq=False)
class _Request:
    keep: Callable[[Any], None]
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    died: Callable[[WorkerDied], None] | None
    tries: int = 0


class Desk:
    """Requested work, and what to do with each result, which may request more.

    No more work is submitted than can run at once. Work whose worker died is tried once more.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._waiting: deque[_Request] = deque()
        self._running: dict[Future[Any], _Request] = {}

    def ask(
        self,
        keep: Callable[[Any], None],
        work: Callable[..., Any],
        *arguments: Any,
        died: Callable[[WorkerDied], None] | None = None,
    ) -> None:
        """Request work; `keep` is called with its result, or `died` if its workers died."""
        self._waiting.append(_Request(keep, work, arguments, died))

    def go(self, begin: Iterable[Callable[[], None]] = ()) -> None:
        """Run until all requested work is done; each of `begin` requests more, and is called when
        a worker is free."""
        more = iter(begin)
        self._hand_out(more)
        while self._running:
            future = self._workers.next_done()
            request = self._running.pop(future)
            request.tries += 1
            try:
                result = future.result()
            except WorkerDied as error:
                if request.tries < MAX_TRIES:
                    self._waiting.appendleft(request)
                elif request.died is not None:
                    request.died(error)
                else:
                    raise CondalError(
                        f"{error}; finished runs are kept: repeat the command with fewer --workers"
                    ) from error
            else:
                self._hand_out(more)  # the workers go on while the result is kept
                request.keep(result)
            self._hand_out(more)

    def _hand_out(self, more: Iterator[Callable[[], None]]) -> None:
        while len(self._running) < self._workers.count:
            if self._waiting:
                request = self._waiting.popleft()
                self._running[self._workers.submit(request.work, *request.arguments)] = request
            elif (begin := next(more, None)) is not None:
                begin()
            else:
                return
