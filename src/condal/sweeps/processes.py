"""Worker processes on this machine: one a core, each with one thread for linear algebra."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from condal.errors import CondalError
from condal.sweeps.workers import TRIES, WorkerDied, Workers, WorkersError

# Read when NumPy is first imported: a worker that is spawned gets them in time.
LIBRARIES = ("OPENBLAS", "OMP", "MKL")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
READY = b""  # what a worker says when it has begun
SENDABLE = (
    "work goes to other processes by its name: let its function be one of a module or of a "
    'script whose last lines are under `if __name__ == "__main__":`, or pass workers=0'
)


@dataclass(frozen=True)
class _Shared:
    """The file that a value of much work is in."""

    path: Path


@dataclass(eq=False)
class _Job:
    payload: bytes
    future: Future[Any]
    deaths: int = 0


class _Worker:
    """A process, the end of a pipe to it, and what it is at: a job, or to begin."""

    def __init__(self, context: Any) -> None:
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()  # so that its end is the end of the pipe
        self.begun = False
        self.job: _Job | None = None

    @property
    def free(self) -> bool:
        """Whether it waits for work."""
        return self.begun and self.job is None

    def end(self) -> None:
        """At once, whatever it is at."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class Processes(Workers):
    """So many processes, which end at once when the `with` block is left, whatever they are at."""

    def __init__(self, count: int) -> None:
        self._most = count
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._waiting: deque[_Job] = deque()
        self._done: deque[Future[Any]] = deque()
        self._shared = 0

    def __enter__(self) -> Processes:
        self._spool = TemporaryDirectory(prefix="condal-")
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._spool.cleanup()

    @property
    def count(self) -> int:
        """As many as there may be."""
        return self._most

    def share(self, value: Any) -> Any:
        """A file in a folder that nobody else may read, and that is gone afterwards."""
        self._shared += 1
        path = Path(self._spool.name) / f"{self._shared}.pickle"
        path.write_bytes(_packed(value))
        return _Shared(path)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Given to a worker that is free, or once one is."""
        job = _Job(_packed((work, arguments)), Future())
        self._waiting.append(job)
        self._hand_out()
        return job.future

    def next_done(self) -> Future[Any]:
        """By reading what the workers send, and noticing those that end."""
        while not self._done:
            busy: dict[Any, _Worker] = {w.connection: w for w in self._workers if not w.free}
            for connection in wait(list(busy)):
                self._hear(busy[connection])
            self._hand_out()
        return self._done.popleft()

    def _hand_out(self) -> None:
        """Work to those who are free, and more workers for what is left."""
        for worker in [worker for worker in self._workers if worker.free]:
            if self._waiting:
                try:
                    worker.connection.send_bytes(self._waiting[0].payload)
                except OSError:  # killed while it had nothing to do: nobody has tried the work
                    self._dismiss(worker)
                else:
                    worker.job = self._waiting.popleft()
        beginning = sum(not worker.begun for worker in self._workers)
        while beginning < len(self._waiting) and len(self._workers) < self._most:
            self._workers.append(self._hired())
            beginning += 1

    def _hired(self) -> _Worker:
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        try:
            return _Worker(self._context)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def _hear(self, worker: _Worker) -> None:
        try:
            said = worker.connection.recv_bytes()
        except (EOFError, OSError):
            self._bury(worker)
            return
        if not worker.begun:
            worker.begun = True
            return
        assert worker.job is not None
        future, worker.job = worker.job.future, None
        held, value = pickle.loads(said)
        if held:
            future.set_result(value)
        else:
            future.set_exception(value)
        self._done.append(future)

    def _dismiss(self, worker: _Worker) -> None:
        worker.end()
        self._workers.remove(worker)

    def _bury(self, worker: _Worker) -> None:
        """One that died: its work is tried once more, by another."""
        self._dismiss(worker)
        job = worker.job
        if job is None:
            raise WorkersError(f"a worker process ended before it began: {SENDABLE}")
        job.deaths += 1
        if job.deaths < TRIES:
            self._waiting.appendleft(job)
            return
        job.future.set_exception(
            WorkerDied(f"a worker process died at it, {TRIES} times, perhaps for want of memory")
        )
        self._done.append(job.future)


def _packed(value: Any) -> bytes:
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # whatever an object of the user's own raises
        raise WorkersError(f"cannot be sent to a worker ({_told(error)}): {SENDABLE}") from error


def _serve(connection: Connection) -> None:
    """A worker: do what comes, one after the other; leave Ctrl-C to the parent, and go with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    connection.send_bytes(READY)
    while True:
        try:
            payload = connection.recv_bytes()
        except EOFError:
            return
        try:
            answer = _answer(payload)
        except (KeyboardInterrupt, SystemExit):  # a signal in the midst of a solve
            return
        connection.send_bytes(answer)


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _answer(payload: bytes) -> bytes:
    """True and what the work gave, or False and what it raised."""
    try:
        try:
            work, arguments = pickle.loads(payload)
            values = [_value(one.path) if isinstance(one, _Shared) else one for one in arguments]
        except Exception as error:
            raise WorkersError(f"a worker cannot take it ({_told(error)}): {SENDABLE}") from None
        return pickle.dumps((True, work(*values)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return _raised(error)


def _raised(error: Exception) -> bytes:
    """The error, or its words where it cannot be sent."""
    try:
        packed = pickle.dumps((False, error))
        pickle.loads(packed)
    except Exception:
        return pickle.dumps((False, CondalError(_told(error))))
    return packed


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@lru_cache(maxsize=4)
def _value(path: Path) -> Any:
    return pickle.loads(path.read_bytes())
