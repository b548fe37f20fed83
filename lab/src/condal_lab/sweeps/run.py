"""`sweep`: solve a family of problems at every point of a grid, into a folder of results."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from condal.certificates.history import Row
from condal.driver.run import Callback
from condal.driver.run_record import Stop
from condal.driver.solve import solve
from condal.errors import CondalError, ProblemError
from condal.io.safe_files import PathLike
from condal.problem import Model, Problem
from condal.result import Result, Status
from condal.runtime.arguments import require_whole
from condal.runtime.limits import Bytes
from condal.types import Method
from condal_lab.sweeps.folder import SweepFolder
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.table import Entry, Table
from condal_lab.sweeps.tasks import Grid, Parameters, Task, as_json, chains
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


# A problem, or a problem and its own options for `solve`.
Instance: TypeAlias = Problem | Model | tuple[Problem | Model, dict[str, Any]]
Family: TypeAlias = Callable[..., Instance]


def sweep(
    family: Family,
    points: Grid | Iterable[Parameters],
    *,
    out: PathLike,
    along: str | None = None,
    workers: int | str | None = None,
    watch: Watch | None = None,
    name: str | None = None,
    method: Method | str | None = None,
    tol: float = 1e-3,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    max_memory: Bytes = None,
    seed: int | None = None,
) -> Table:
    """Solve ``family(**parameters)`` at every point of a grid, into a resumable folder.

    Each result is written as it arrives, whole or not at all, and is not computed again: after a
    kill, a Ctrl-C or a power cut the same call resumes the sweep. If a point fails, its row says
    why and the other points continue; the next call tries it again.

    Parameters
    ----------
    family : callable
        Makes a problem or a model of parameters, or a pair of it and a dict of options for `solve`
        that override those below. Workers import it by its name.
    points : mapping or iterable of dict
        A dict of lists of values, of which all combinations are taken, or a list of dicts. Values
        are texts, finite numbers, booleans, None, and lists and dicts of these.
    out : str or os.PathLike
        The folder, for this family and this version of condal only.
    along : str, optional
        A parameter. Points that differ only in it form a chain, in which each solve is warm-started
        from the result before. Chains are solved in parallel.
    workers : int or str, optional
        None for a process per core, with one thread each; a number of processes; 0 for this process
        alone; or the address of a Dask scheduler, such as ``"tcp://host:8786"``.
    watch : Watch, optional
        Receives what is done, such as `condal_lab.sweeps.Lines()`.
    name : str, optional
        The name of the family in the folder; by default that of the function.
    method, tol, max_iters, max_seconds, max_memory, seed
        Options of every solve, as in `solve`.

    Returns
    -------
    Table
        A row per point.

    Raises
    ------
    ProblemError
        If the points or the options are invalid.
    FormatError
        If the folder belongs to another family or version, or another sweep is writing to it.

    Examples
    --------
    >>> from condal_lab import sweep
    >>> import condal, numpy as np, tempfile
    >>> def family(radius):
    ...     f = condal.LeastSquares(np.eye(3), np.ones(3))
    ...     return condal.Problem.of(f, condal.L1Ball(3, radius))
    >>> with tempfile.TemporaryDirectory() as out:
    ...     table = sweep(family, {"radius": [1.0, 2.0]}, out=out, workers=0)
    >>> table["status"]
    ['solved', 'solved']
    """
    Stop(tol, max_iters, max_seconds)
    if seed is not None:
        require_whole(seed, "seed", least=0)
    if not callable(family):
        raise ProblemError(f"family takes a function that makes a problem; got {family!r:.60}")
    options: dict[str, Any] = {
        "method": method,
        "tol": tol,
        "max_iters": max_iters,
        "max_seconds": max_seconds,
        "max_memory": max_memory,
        "seed": seed,
    }
    tasks, team = chains(points, options, along), Workers.of(workers)
    folder = SweepFolder(out, name or _named(family))
    work = _Solving(family, options)
    return run(work, tasks, folder, workers=team, watch=watch or Watch())


@dataclass(frozen=True, eq=False)
class _Solving:
    """The work of a point: make the problem of the family and solve it."""

    family: Family
    options: dict[str, Any]

    def __call__(
        self, parameters: Parameters, start: Result | None
    ) -> tuple[Result, dict[str, Any]]:
        instance = self.family(**parameters)
        problem, own = instance if isinstance(instance, tuple) else (instance, {})
        options = {**self.options, **own}
        saved = {key: value for key, value in options.items() if key in self.options}
        settings = {key: as_json(value, f"the option {key}") for key, value in saved.items()}
        callback, stopper = _StopRequest(options.pop("callback", None)), options.get("stopper")
        result = solve(problem, **options, callback=callback, warm_start=start)
        asked = callback.asked or (stopper is not None and stopper.stopped)
        about = {"settings": {"parameters": parameters, **settings}}
        return undisturbed(result, asked=asked), about


class _StopRequest:
    """The callback of a family, if it has one, and whether it `asked` to stop."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback, self.asked = callback, False

    def __call__(self, row: Row) -> bool:
        if self._callback is not None:
            self.asked = bool(self._callback(row))
        return self.asked


def _named(family: Family) -> str:
    """Return the name by which a folder identifies its family."""
    name = getattr(family, "__qualname__", "")
    if not name or "<lambda>" in name:
        raise ProblemError(
            f"the folder identifies a family by its name, and {family!r:.60} has none: pass name="
        )
    return f"{getattr(family, '__module__', '')}.{name}"
