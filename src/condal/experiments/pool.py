"""Worker processes: one a core, each with one thread for linear algebra."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

# Read when NumPy is first imported: a worker that is spawned gets them in time.
LIBRARIES = ("OPENBLAS", "OMP", "MKL")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}


def cores() -> int:
    """How many processors this process may use."""
    with suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """A pool that ends at once when the `with` block is left, whatever the workers are at.

    They hold nothing that is worth waiting for: results are written by the parent, as they come.
    With `count` 0 the work is done in this process, one after the other.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._before: dict[str, str | None] = {}
        self._others: set[Any] = set()
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()

    def __enter__(self) -> Workers:
        self._executor: Executor
        if self._count == 0:
            self._executor = ThreadPoolExecutor(1)
            return self
        self._others = set(multiprocessing.active_children())
        self._before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        self._executor = ProcessPoolExecutor(
            self._count, multiprocessing.get_context("spawn"), initializer=_quiet
        )
        return self

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._executor.shutdown(wait=self._count == 0, cancel_futures=True)
        if self._count:
            for worker in set(multiprocessing.active_children()) - self._others:
                worker.terminate()
                # The executor's own thread may be the one that collects it: ask until it is known.
                while worker.is_alive():
                    worker.join(0.1)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """The work, done when a worker is free."""
        future = self._executor.submit(work, *arguments)
        future.add_done_callback(self._done.put)
        return future

    def next_done(self) -> Future[Any]:
        """The next that is done, each once, as they end.

        Not by `concurrent.futures.wait`: it takes a lock of every future, and a Ctrl-C in the
        middle of that leaves them locked for the executor's own thread, which then never ends.
        """
        return self._done.get()


def _quiet() -> None:
    """Leave Ctrl-C to the parent, and go when it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)
