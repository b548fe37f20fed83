"""The loop of a sweep: what the folder lacks is asked for, and kept as it comes."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from condal.errors import CondalError
from condal.result import Result, Status
from condal.sweeps.folder import SweepFolder
from condal.sweeps.table import Entry, Table
from condal.sweeps.tasks import Parameters, Task
from condal.sweeps.watch import Watch
from condal.sweeps.workers import Desk, WorkerDied, Workers

# Of the parameters of a point and the result to start from, if any: the result, and what it is
# about, as `condal.save` takes it; KeyboardInterrupt where a signal has ended it.
Work: TypeAlias = Callable[[Parameters, Result | None], tuple[Result, dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A result and what it is about, or the error in its place."""

    result: Result | None
    about: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    traceback: str = ""


def run(
    work: Work,
    chains: Sequence[Sequence[Task]],
    folder: SweepFolder,
    *,
    workers: Workers,
    watch: Watch,
) -> Table:
    """Do what the folder lacks: the chains beside each other, each in its order."""
    with ExitStack() as stack:
        stack.enter_context(folder.held())
        if isinstance(watch, AbstractContextManager):
            stack.enter_context(watch)
        stack.enter_context(workers)
        desk, entries = Desk(workers), dict[str, Entry]()
        every = sorted((task for tasks in chains for task in tasks), key=lambda task: task.at)
        for task in every:
            known = folder.entry(task)
            tell = watch.asked if known is None or known.failed else watch.found
            tell(task.what)
        shared = workers.share(work)
        # Begun one after the other, as there is room: each holds the result to start from.
        begin = (_Chain(list(tasks), folder, entries, watch, desk, shared) for tasks in chains)
        desk.go(chain.advance for chain in begin)
    return Table(tuple(entries[task.digest] for task in every), folder.path)


@dataclass(eq=False)
class _Chain:
    """Tasks in their order, each to start from the last before it that has a point."""

    tasks: list[Task]
    folder: SweepFolder
    entries: dict[str, Entry]
    watch: Watch
    desk: Desk
    work: Any
    at: int = 0

    def advance(self) -> None:
        """Ask for the first task that is not done; those that failed are tried again."""
        while self.at < len(self.tasks):
            task = self.tasks[self.at]
            entry = self.folder.entry(task)
            if entry is None or entry.failed:
                start, result = self._start()
                self.desk.ask(partial(self._keep, start), _tried, self.work, task, result)
                return
            self.entries[task.digest] = entry
            self.at += 1

    def _start(self) -> tuple[Task | None, Result | None]:
        """Read from the folder, be it just written: a sweep that was killed goes on from the very
        same."""
        for task in reversed(self.tasks[: self.at]):
            if not self.entries[task.digest].failed:
                result = self.folder.start(task)
                if result.x is not None:
                    return task, result
        return None, None

    def _keep(self, start: Task | None, done: Future[Any]) -> None:
        task = self.tasks[self.at]
        try:
            outcome: Outcome = done.result()
        except WorkerDied as error:
            outcome = Outcome(None, error=str(error))
        if outcome.result is None:
            entry = self.folder.keep_failure(task, outcome.error, outcome.traceback)
            self.watch.failed(task.what, outcome.error)
        else:
            entry = self.folder.keep(task, outcome.result, start=start, about=outcome.about)
            self.watch.done(task.what, entry.seconds, entry.gap)
        self.entries[task.digest] = entry
        self.at += 1
        self.advance()


def _tried(work: Work, task: Task, start: Result | None) -> Outcome:
    """The work, by a worker; what it raises is told in words, which can be sent from anywhere."""
    try:
        result, about = work(task.parameters, start)
    except CondalError as error:
        return Outcome(None, error=_line(str(error)))
    except Exception as error:
        told = _line(f"{type(error).__name__}: {error}")
        return Outcome(None, error=told, traceback=traceback.format_exc())
    return Outcome(result, about)


def undisturbed(result: Result, *, asked: bool = False) -> Result:
    """The result; KeyboardInterrupt where its solve was ended by a signal, and not by somebody of
    its own who `asked` for that: the point is not done."""
    if result.status is Status.INTERRUPTED and not asked:
        raise KeyboardInterrupt
    return result


def _line(text: str) -> str:
    return " ".join(text.split())
