"""What `solve` and `resume` share, in one process and on many ranks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from condal.driver.checkpoint_writer import Checkpoint, CheckpointWriter
from condal.driver.run import Callback, Run
from condal.driver.stop import Stop
from condal.errors import PieceError, ProblemError
from condal.io.safe_files import PathLike
from condal.problem import Problem
from condal.result import Result, unbegun
from condal.runtime.cancellation import Stopper

_VERBS = {
    "method": ("iterates", "method takes a record such as condal.CGAL()"),
    "storage": ("move", "storage takes an object such as condal.storage.Sketch(n, 10)"),
    "warm_start": ("history", "warm_start takes the Result of an earlier solve"),
    "callback": ("__call__", "callback takes a function of one Row"),
    "stopper": ("stop", "stopper takes a condal.Stopper()"),
}


def require_kinds(**given: Any) -> None:
    """Raise ProblemError unless each option, if it is given, is an object of its kind."""
    for name, value in given.items():
        verb, wanted = _VERBS[name]
        if value is not None and (isinstance(value, type) or not hasattr(value, verb)):
            raise ProblemError(f"{wanted}; got {value!r}")


def new_checkpoint(
    stack: ExitStack,
    writer: type[CheckpointWriter],
    checkpoint: PathLike | Checkpoint | None,
    every_seconds: float,
    problem: Problem,
    held: Any,
    options: dict[str, Any],
) -> CheckpointWriter | None:
    """Open the writer of a new checkpoint, if one is asked for; `held` is what it must hold."""
    if checkpoint is None:
        return None
    opened = stack.enter_context(writer(Checkpoint.of(checkpoint, every_seconds), problem))
    opened.options |= options
    opened.require_new(held)
    return opened


def resumed_run(
    writer: CheckpointWriter,
    prepare: Callable[[Problem], Problem],
    stopper: Stopper | None,
    *,
    tol: float | None,
    **limits: Any,
) -> Run:
    """Return the run that a checkpoint holds, on the problem as `prepare` makes it."""
    record, certification, options = writer.read()
    stop = Stop(options["tol"] if tol is None else tol, **limits)
    writer.options["tol"] = float(stop.tol)
    same = {"seed": options["seed"], "max_bytes": options["max_bytes"]}
    try:
        problem = prepare(writer.problem)
        run = Run(problem, stop, record, writer=writer, stopper=stopper, **same)
        run.recall(certification)
    except PieceError as fault:
        fault.result = unbegun(writer.problem, record.method, str(fault))
        raise
    return run


def finish(run: Run, callback: Callback | None, stack: ExitStack) -> Result:
    """Enter the callback, if it is a context manager, and run."""
    if isinstance(callback, AbstractContextManager):
        stack.enter_context(callback)
    return run.run(callback)
