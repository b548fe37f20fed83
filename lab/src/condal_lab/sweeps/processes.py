"""Worker processes on this machine, each with one thread for linear algebra."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from condal.errors import CondalError
from condal_lab.sweeps.workers import MAX_TRIES, WorkerDied, Workers, WorkersError

# NumPy reads these variables when it is first imported; a spawned worker has them by then.
LIBRARIES = ("CONDAL", "OPENBLAS", "OMP", "MKL")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
READY = b""  # the first message of a worker
SENDABLE = (
    "work is sent to other processes by its name: define its function in a module, or in a "
    'script whose last lines are under `if __name__ == "__main__":`, or pass workers=0'
)


@dataclass(frozen=True)
class _Shared:
    """The file of a shared value."""

    path: Path


class _Worker:
    """A process, the end of a pipe to it, and the payload and future of its work, if it has any."""

    def __init__(self, context: Any) -> None:
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()  # so that the pipe ends with the process
        self.begun = False
        self.payload = b""
        self.future: Future[Any] | None = None

    def give(self, payload: bytes) -> bool:
        """Send the payload once the process has begun; return whether it is alive."""
        self.payload = payload
        try:
            if self.begun:
                self.connection.send_bytes(payload)
        except OSError:
            return False
        return True

    def end(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class Processes(Workers):
    """Up to `count` processes, which end at once when the `with` block ends."""

    def __init__(self, count: int) -> None:
        self._most = count
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
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
        return self._most

    def share(self, value: Any) -> Any:
        self._shared += 1
        path = Path(self._spool.name) / f"{self._shared}.pickle"
        path.write_bytes(_packed(value))
        return _Shared(path)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        payload, future = _packed((work, arguments)), Future[Any]()
        worker = self._free_worker()
        while not worker.give(payload):  # killed while idle: nobody has tried the work
            self._dismiss(worker)
            worker = self._free_worker()
        worker.future = future
        return future

    def next_done(self) -> Future[Any]:
        while True:
            busy: dict[Any, _Worker] = {w.connection: w for w in self._workers if w.future}
            for connection in wait(list(busy)):
                done = self._receive(busy[connection])
                if done is not None:
                    return done

    def _free_worker(self) -> _Worker:
        """Return a worker without work, which may be a new one."""
        for worker in self._workers:
            if worker.future is None:
                return worker
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        try:
            self._workers.append(_Worker(self._context))
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        return self._workers[-1]

    def _receive(self, worker: _Worker) -> Future[Any] | None:
        """Receive a message of a worker; return its work if it is done."""
        future = worker.future
        assert future is not None
        try:
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            return self._bury(worker, future)
        if not worker.begun:
            worker.begun = True
            return None if worker.give(worker.payload) else self._bury(worker, future)
        worker.future = None
        succeeded, value = pickle.loads(message)
        if succeeded:
            future.set_result(value)
        else:
            future.set_exception(value)
        return future

    def _dismiss(self, worker: _Worker) -> None:
        worker.end()
        self._workers.remove(worker)

    def _bury(self, worker: _Worker, future: Future[Any]) -> Future[Any]:
        """Remove a worker that died at its work."""
        self._dismiss(worker)
        if not worker.begun:
            raise WorkersError(f"a worker process ended before it began: {SENDABLE}")
        future.set_exception(
            WorkerDied(f"{MAX_TRIES} worker processes died at it, perhaps for lack of memory")
        )
        return future


def _packed(value: Any) -> bytes:
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # user objects may raise anything
        raise WorkersError(f"cannot be sent to a worker ({_text(error)}): {SENDABLE}") from error


def _serve(connection: Connection) -> None:
    """Work in a worker process: do what arrives; ignore Ctrl-C, and end with the parent."""
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
        except (KeyboardInterrupt, SystemExit):  # a signal during a solve
            return
        connection.send_bytes(answer)


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _answer(payload: bytes) -> bytes:
    """Return True and the result of the work, or False and what it raised, pickled."""
    try:
        try:
            work, arguments = pickle.loads(payload)
            values = [_value(a.path) if isinstance(a, _Shared) else a for a in arguments]
        except Exception as error:
            raise WorkersError(f"a worker cannot load it ({_text(error)}): {SENDABLE}") from None
        return pickle.dumps((True, work(*values)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return _raised(error)


def _raised(error: Exception) -> bytes:
    """Return the error, or its text where it cannot be pickled."""
    try:
        packed = pickle.dumps((False, error))
        pickle.loads(packed)
    except Exception:
        return pickle.dumps((False, CondalError(_text(error))))
    return packed


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@lru_cache(maxsize=4)
def _value(path: Path) -> Any:
    return pickle.loads(path.read_bytes())
