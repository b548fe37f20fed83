"""A Dask cluster, given by the address of its scheduler: the only module that speaks to one."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pydoc import locate
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from condal.runtime import extras
from condal.runtime.version import __version__, versions
from condal.sweeps.workers import TRIES, WorkerDied, Workers, WorkersError

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 20  # how long a scheduler may stay silent, and be without any worker
FAILED = "error"  # Dask's word for work that raised
SAME = ("condal", "numpy", "scipy")  # versions of which no two mix: the last bits depend on them


@dataclass(eq=False)
class _Job:
    future: Future[Any]
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    deaths: int = 0


class Cluster(Workers):
    """The workers of a scheduler, all of this condal's version; those that join later are held to
    it with the first work that they get.

    As much is given out as there are threads, and no more: Dask counts a death against all that
    waits at that worker. It tries work again by itself, its `allowed-failures` times, each time
    that it is given to it.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._waiting: deque[_Job] = deque()
        self._running: dict[Any, _Job] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()

    def __enter__(self) -> Cluster:
        extras.require("distributed", what=f"workers at {self._address} need Dask", extra="dask")
        from distributed import Client

        try:
            self._client = Client(self._address, timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise WorkersError(
                f"no Dask scheduler answers at {self._address} ({_first_line(error)}); check the "
                "address, or start one: dask scheduler"
            ) from error
        try:
            with self._reached():
                self._check()
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # What runs there goes on to its end, and is forgotten: Dask has no way to break it off.
        with suppress(Exception):
            self._client.cancel(list(self._running), force=True)
        self._waiting.clear()
        self._running.clear()
        self._client.close()

    def _check(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError as error:
            raise WorkersError(
                f"the Dask scheduler at {self._address} has no workers; start some: "
                f"dask worker {self._address} --nthreads 1 --nworkers auto"
            ) from error
        # By a function of Python's own: there may be no condal to take one of ours from.
        found = self._client.run(locate, "condal.runtime.version.__version__")
        for worker, version in sorted(found.items()):
            if version != __version__:
                raise WorkersError(_unlike(worker, {"condal": version}, versions()))
        for worker, others in sorted(self._client.run(versions).items()):
            _require_same(worker, others, versions())
        self._count()

    def _count(self) -> None:
        """How many threads there are now: workers come and go."""
        self._threads = max(1, sum(self._client.nthreads().values()))

    @property
    def count(self) -> int:
        """The threads of its workers, as they were counted last."""
        return self._threads

    def share(self, value: Any) -> Any:
        """The result of a task, and not what Dask scatters: it is made again if its worker dies."""
        with self._reached(), _any_size():
            return self._client.submit(_given, value, pure=False)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Given out once there is a thread for it."""
        job = _Job(Future(), work, arguments)
        self._waiting.append(job)
        self._hand_out()
        return job.future

    def next_done(self) -> Future[Any]:
        """By Dask's own callbacks, in the order in which they come."""
        from distributed import KilledWorker

        while True:
            theirs = self._done.get()
            with self._reached():
                self._count()
            job = self._running.pop(theirs)
            try:
                job.future.set_result(theirs.result())
            except KilledWorker:
                job.deaths += 1
                if job.deaths < TRIES:
                    self._waiting.appendleft(job)
                    self._hand_out()
                    continue
                job.future.set_exception(
                    WorkerDied("the Dask workers that tried it died, perhaps for want of memory")
                )
            except Exception as error:
                if theirs.status != FAILED:  # it is none of the work's own
                    raise self._lost() from error
                job.future.set_exception(error)
            self._hand_out()
            return job.future

    def _hand_out(self) -> None:
        while self._waiting and len(self._running) < self._threads:
            job = self._waiting.popleft()
            with self._reached(), _any_size():
                # `pure`: a task of its own, never one that is taken for another.
                theirs = self._client.submit(
                    _held, versions(), job.work, *job.arguments, pure=False
                )
            self._running[theirs] = job
            theirs.add_done_callback(self._done.put)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """What a scheduler that is gone makes of a call to it, as one error."""
        try:
            yield
        except OSError as error:  # Dask's own are some of these
            raise self._lost() from error

    def _lost(self) -> WorkersError:
        return WorkersError(
            f"the Dask scheduler at {self._address} is lost; what is done is kept: start it, and "
            "give the same command again"
        )


def _given(value: Any) -> Any:
    return value


def _held(wanted: dict[str, str], work: Callable[..., Any], *arguments: Any) -> Any:
    """The work, done by a worker of the versions that are wanted."""
    _require_same("that was asked", versions(), wanted)
    return work(*arguments)


def _require_same(worker: str, there: dict[str, str], here: dict[str, str]) -> None:
    if any(there[name] != here[name] for name in SAME):
        raise WorkersError(_unlike(worker, there, here))


def _unlike(worker: str, there: dict[str, Any], here: dict[str, str]) -> str:
    theirs = ", ".join(f"{name} {there[name] or 'none'}" for name in SAME if name in there)
    ours = ", ".join(f"{name} {here[name]}" for name in SAME if name in there)
    return (
        f"the Dask worker {worker} has {theirs}, and here is {ours}: results of different versions "
        "do not mix; install the same on both sides"
    )


@contextmanager
def _any_size() -> Iterator[None]:
    """Without Dask's advice on large values: a family may hold its data, and a result has a
    point."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        yield


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
