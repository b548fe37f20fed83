"""The loop of a sweep: request what the folder lacks, and save each result as it arrives."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from condal.errors import CondalError
from condal.result import Result, Status
from condal_lab.sweeps.folder import SweepFolder
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.table import Entry, Table
from condal_lab.sweeps.tasks import Parameters, Task
from condal_lab.sweeps.workers import Desk, WorkerDied, Workers

# Takes the parameters of a point and the result to start from, if any; returns the result, and the
# options of `condal.save`. It raises KeyboardInterrupt where a signal ended the solve.
Work: TypeAlias = Callable[[Parameters, Result | None], tuple[Result, dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A result and the options to save it with, or an error."""

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
    """Do what the folder lacks: chains in parallel, the tasks of each in order."""
    with ExitStack() as stack:
        stack.enter_context(folder.held())
        if isinstance(watch, AbstractContextManager):
            stack.enter_context(watch)
        stack.enter_context(workers)
        desk, entries = Desk(workers), dict[str, Entry]()
        every = sorted((task for tasks in chains for task in tasks), key=lambda task: task.at)
        for task in every:
            entry = folder.entry(task)
            notify = watch.asked if entry is None or entry.failed else watch.found
            notify(task.what)
        shared = workers.share(work)
        # Begun one by one, as there is room: each holds the result to start from.
        begin = (_Chain(list(tasks), folder, entries, watch, desk, shared) for tasks in chains)
        desk.go(chain.advance for chain in begin)
    return Table(tuple(entries[task.digest] for task in every), folder.path)


@dataclass(eq=False)
class _Chain:
    """Tasks in order; each starts from the last one before it that has a point."""

    tasks: list[Task]
    folder: SweepFolder
    entries: dict[str, Entry]
    watch: Watch
    desk: Desk
    work: Any
    at: int = 0

    def advance(self) -> None:
        """Request the first task that is not done; failed tasks are tried again."""
        while self.at < len(self.tasks):
            task = self.tasks[self.at]
            entry = self.folder.entry(task)
            if entry is None or entry.failed:
                start, result = self._start()
                keep = partial(self._keep, start)
                self.desk.ask(keep, _tried, self.work, task, result, died=keep)
                return
            self.entries[task.digest] = entry
            self.at += 1

    def _start(self) -> tuple[Task | None, Result | None]:
        """Return the task and the result to start from, read from the folder: a resumed sweep
        starts from the same bits."""
        for task in reversed(self.tasks[: self.at]):
            if not self.entries[task.digest].failed:
                result = self.folder.start(task)
                if result.x is not None:
                    return task, result
        return None, None

    def _keep(self, start: Task | None, done: Outcome | WorkerDied) -> None:
        task = self.tasks[self.at]
        outcome = Outcome(None, error=str(done)) if isinstance(done, WorkerDied) else done
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
    """Do the work, in a worker; what it raises becomes text, which can always be sent."""
    try:
        result, about = work(task.parameters, start)
    except CondalError as error:
        return Outcome(None, error=_line(str(error)))
    except Exception as error:
        text = _line(f"{type(error).__name__}: {error}")
        return Outcome(None, error=text, traceback=traceback.format_exc())
    return Outcome(result, about)


def undisturbed(result: Result, *, asked: bool = False) -> Result:
    """Return the result; raise KeyboardInterrupt if a signal ended the solve, unless its own
    callback or stopper `asked` for that."""
    if result.status is Status.INTERRUPTED and not asked:
        raise KeyboardInterrupt
    return result


def _line(text: str) -> str:
    return " ".join(text.split())
