"""Workers of a Dask cluster, given by the address of its scheduler."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pydoc import locate
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from condal.runtime import extras
from condal.runtime.version import __version__, versions
from condal_lab.sweeps.workers import WorkerDied, Workers, WorkersError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SILENT_SECONDS = 20  # of a scheduler, or without any worker
FAILED = "error"  # Dask's status of work that raised
COMPARED = ("condal", "numpy", "scipy")  # the last bits depend on these versions


class Cluster(Workers):
    """The workers of a scheduler, all with this version of condal; a worker that joins later is
    checked with its first work.

    There is never more work than threads, since Dask counts the death of a worker against all the
    work that waits there. Each submission is tried again by Dask itself, `allowed-failures` times.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._running: dict[Any, Future[Any]] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()

    def __enter__(self) -> Cluster:
        what = f"workers at {self._address} need Dask"
        extras.require("distributed", what=what, extra="dask", package=extras.LAB)
        from distributed import Client

        try:
            self._client = Client(self._address, timeout=MAX_SILENT_SECONDS, set_as_default=False)
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
        # What runs there runs to its end and is ignored: Dask cannot interrupt it.
        with suppress(Exception):
            self._client.cancel(list(self._running), force=True)
        self._running.clear()
        self._client.close()

    def _check(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=MAX_SILENT_SECONDS)
        except TimeoutError as error:
            raise WorkersError(
                f"the Dask scheduler at {self._address} has no workers; start some: "
                f"dask worker {self._address} --nthreads 1 --nworkers auto"
            ) from error
        # By a function of Python itself: there may be no condal on the worker.
        theirs = self._client.run(locate, "condal.runtime.version.__version__")
        for worker, version in sorted(theirs.items()):
            if version != __version__:
                raise WorkersError(_mismatch(worker, {"condal": version}, versions()))
        for worker, others in sorted(self._client.run(versions).items()):
            _require_same(worker, others, versions())
        self._count()

    def _count(self) -> None:
        """Count the threads: workers come and go."""
        self._threads = max(1, sum(self._client.nthreads().values()))

    @property
    def count(self) -> int:
        return self._threads

    def share(self, value: Any) -> Any:
        # The result of a task rather than scattered data: Dask makes it again if its worker dies.
        with self._reached(), _any_size():
            return self._client.submit(_given, value, pure=False)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._reached(), _any_size():
            # Not `pure`: Dask must not take one task for another.
            theirs = self._client.submit(_checked, versions(), work, *arguments, pure=False)
        self._running[theirs] = future
        theirs.add_done_callback(self._done.put)
        return future

    def next_done(self) -> Future[Any]:
        from distributed import KilledWorker

        theirs = self._done.get()
        with self._reached():
            self._count()
        future = self._running.pop(theirs)
        try:
            future.set_result(theirs.result())
        except KilledWorker:
            future.set_exception(
                WorkerDied("the Dask workers that tried it died, perhaps for lack of memory")
            )
        except Exception as error:
            if theirs.status != FAILED:  # the work did not raise it
                raise self._lost() from error
            future.set_exception(error)
        return future

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Turn the errors of a lost scheduler into a WorkersError."""
        try:
            yield
        except OSError as error:  # the base of Dask's own
            raise self._lost() from error

    def _lost(self) -> WorkersError:
        return WorkersError(
            f"the Dask scheduler at {self._address} is lost; finished results are saved: start it, "
            "and give the same command again"
        )


def _given(value: Any) -> Any:
    return value


def _checked(wanted: dict[str, str], work: Callable[..., Any], *arguments: Any) -> Any:
    """Do the work if the worker has the versions that are wanted."""
    _require_same("that was asked", versions(), wanted)
    return work(*arguments)


def _require_same(worker: str, remote: dict[str, str], local: dict[str, str]) -> None:
    if any(remote[name] != local[name] for name in COMPARED):
        raise WorkersError(_mismatch(worker, remote, local))


def _mismatch(worker: str, remote: dict[str, Any], local: dict[str, str]) -> str:
    theirs = ", ".join(f"{name} {remote[name] or 'none'}" for name in COMPARED if name in remote)
    ours = ", ".join(f"{name} {local[name]}" for name in COMPARED if name in remote)
    return (
        f"the Dask worker {worker} has {theirs}, and here is {ours}: results of different versions "
        "do not mix; install the same on both sides"
    )


@contextmanager
def _any_size() -> Iterator[None]:
    """Silence Dask's advice on large values: families hold data, and results hold points."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        yield


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
