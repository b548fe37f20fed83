"""The checkpoint of a solve: written at intervals, and read back to resume it."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from condal.certificates import judge
from condal.certificates.history import Row
from condal.driver.run import Callback, Run
from condal.driver.run_record import EVERY_SECONDS, RunRecord, Stop
from condal.errors import MISFITS, CondalError, FormatError, PieceError, ProblemError
from condal.io.checkpoint import CHECKPOINT
from condal.io.checkpoint.about import about_of, described, require_same
from condal.io.checkpoint.codec import pack
from condal.io.checkpoint.file import Contents, read, write
from condal.io.container.atomic import previous, resolve_target
from condal.io.container.lock import locked
from condal.io.safe_files import PathLike
from condal.problem import Problem
from condal.result import Result, unbegun
from condal.runtime.limits import TimeLimit
from condal.runtime.meter import Stopper, agreed

DAMAGED = ".damaged"
WRITING_SHARE = 0.1  # of the time, at most, is spent on writing


@dataclass(frozen=True)
class Checkpoint:
    """A file that a solve writes at intervals.

    Parameters
    ----------
    path : str or path
        The file.
    every_seconds : float
        The time between two writes; 0 writes after each iteration.
    options : mapping
        Plain JSON that is stored with it.
    say : callable, optional
        Called with a text when something goes wrong; by default a warning is issued.
    """

    path: PathLike
    every_seconds: float = EVERY_SECONDS
    options: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | bytes | os.PathLike):
            raise ProblemError(
                f"checkpoint takes the path of a file, such as 'run.checkpoint'; got {self.path!r}"
            )
        if isinstance(self.every_seconds, bool) or not (
            isinstance(self.every_seconds, int | float) and 0 <= self.every_seconds < inf
        ):
            raise ProblemError(
                f"every_seconds must be a number of seconds, such as 60; got {self.every_seconds!r}"
            )

    @classmethod
    def of(cls, given: PathLike | Checkpoint, every_seconds: float) -> Checkpoint:
        """Return the checkpoint at a path, or the one that is given."""
        return given if isinstance(given, Checkpoint) else cls(given, every_seconds)


@contextmanager
def fitting(path: str, others: Sequence[Exception] = ()) -> Iterator[None]:
    """Raise FormatError for an exception that the values of a checkpoint raise, not for others."""
    try:
        yield
    except (*MISFITS, StopIteration) as error:
        if isinstance(error, CondalError) or error in others:
            raise
        CHECKPOINT.refuse(f"{type(error).__name__}: {error!s:.200}", path)


class CheckpointWriter:
    """Writes the checkpoint of one solve; while it is entered, no other process can."""

    def __init__(self, checkpoint: Checkpoint, problem: Problem) -> None:
        self.checkpoint, self.problem = checkpoint, problem
        self.path = str(resolve_target(checkpoint.path))  # a callback may change the directory
        self.options: dict[str, Any] = dict(checkpoint.options)
        self._described: dict[str, Any] | None = None
        self._next, self._last_error = 0.0, ""
        self.seconds = 0.0  # that the last write took
        self._lock: AbstractContextManager[None] | None = None

    def __enter__(self) -> CheckpointWriter:
        self._lock = locked(self.path)
        self._lock.__enter__()
        self._next = time.perf_counter() + self.checkpoint.every_seconds
        return self

    def __exit__(self, *error: Any) -> None:
        if self._lock is not None:
            self._lock.__exit__(*error)

    def require_new(self, held: Any) -> None:
        """Raise FormatError if there is a checkpoint already, or if it could not hold `held`."""
        self._require_free()
        self._require_packable(held)
        self._described = self._describe(self.problem)

    def read(self) -> tuple[RunRecord, dict[str, Any], dict[str, Any]]:
        """Return the record, the certification and the options; FormatError for another solve."""
        contents = self._contents()
        note = require_same(contents.about, self.problem, self.path, describe=self._describe)
        for text in (contents.note, note):
            if text:
                self._say(text)
        if contents.generation > 0:
            self._set_aside()
        fields, options = contents.value, contents.about["options"]
        self._described = contents.about["problem"]
        self.options = dict(options)
        with fitting(self.path):
            certification = fields.pop("certification")
            return RunRecord(**fields), certification, options

    def due(self) -> bool:
        """Return whether it is time to write."""
        return agreed(time.perf_counter() >= self._next)

    def save(self, run: Run) -> None:
        """Write the state of a run after an iteration."""
        record, status, row = run.record, run.reasons.status, run.record.history.last
        record.ended = status if status in judge.PROVED else None
        record.seconds, record.cpu_seconds = run.budget.spent
        certification = run.certifier.memory() if record.memory is None else record.memory
        # Without the oracle calls of an iteration that was given up.
        counts = replace(run.counts, oracle_calls=row.oracle_calls, matvecs=row.matvecs)
        self.write({**record.packed(), "counts": counts, "certification": certification}, row)

    def write(self, value: Any, row: Row) -> None:
        """Write the checkpoint; if that fails, the previous one stays and the solve continues."""
        began, every = time.perf_counter(), self.checkpoint.every_seconds
        assert self._described is not None
        about = about_of(
            self._described, options=self.options, k=row.k, objective=row.objective, bound=row.bound
        )
        try:
            self._write(about, value)
            self._last_error = ""
        except CondalError as error:
            if str(error) != self._last_error:  # say it once, as it may be tried for hours
                self._last_error = str(error)
                self._say(self._last_error)
        now = time.perf_counter()
        self.seconds = now - began
        self._next = now + (max(every, self.seconds / WRITING_SHARE) if every else 0.0)

    # One process writes one file; many ranks override these.

    def _describe(self, problem: Problem) -> dict[str, Any]:
        return described(problem)

    def _require_free(self) -> None:
        target = resolve_target(self.path)
        if os.path.lexists(target) or os.path.lexists(previous(target)):
            raise FormatError(
                "exists already and is not overwritten: resume it with condal.resume (condal "
                "resume), remove it, or give another path",
                path=self.path,
            )

    def _require_packable(self, held: Any) -> None:
        pack(held)

    def _contents(self) -> Contents:
        return read(self.path)

    def _set_aside(self) -> None:
        """Rename a damaged file, so that it does not replace the previous one."""
        target = resolve_target(self.path)
        with suppress(OSError):
            target.replace(target.with_name(target.name + DAMAGED))

    def _write(self, about: dict[str, Any], value: Any) -> None:
        write(self.path, about, value)

    def _say(self, text: str) -> None:
        if self.checkpoint.say is not None:
            self.checkpoint.say(text)
        else:
            warnings.warn(text, RuntimeWarning, stacklevel=2)


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


class ResumedRun(Run):
    """A run that a checkpoint holds; FormatError for what values that no solve has raise."""

    def run(self, callback: Callback | None, say: Callable[[str], Any] | None = None) -> Result:
        """Run the rest of the solve."""
        assert self.writer is not None
        raised: list[Exception] = []  # by the callback, whose errors are its own

        def noting(row: Row) -> Any:
            try:
                return callback and callback(row)
            except Exception as error:
                raised.append(error)
                raise

        with fitting(self.writer.path, raised):
            return super().run(noting, say)


def resumed_run(
    writer: CheckpointWriter,
    prepare: Callable[[Problem], Problem],
    stopper: Stopper | None,
    stop: Stop,
    limit: TimeLimit,
    *,
    tol: float | None,
    seed: int,
) -> Run:
    """Return the run that a checkpoint holds, on the problem as `prepare` makes it.

    Its tolerance is that of the checkpoint if tol is None. `seed` is that of its proofs.
    """
    record, certification, options = writer.read()
    try:
        problem = prepare(writer.problem)
        with fitting(writer.path):
            stop = replace(stop, tol=options["tol"]) if tol is None else stop
            stop = replace(stop, failure=options.get("failure", stop.failure))
            before = Stop(options["tol"], max_iters=1)  # any limit: a tol of 0 needs one
            record.aim_at(stop.aim, before=before.aim)
            writer.options["tol"] = float(stop.tol)
            same = {"seed": seed, "max_bytes": options["max_bytes"]}
            run = ResumedRun(
                problem, stop, record, writer=writer, stopper=stopper, limit=limit, **same
            )
            ledger = run.certifier.ledger
            run.certifier.recall(certification)
            if record.answer is not None:
                record.answer = ledger.proved_again(record.answer)
    except PieceError as fault:
        fault.result = unbegun(writer.problem, record.method, str(fault))
        raise
    if record.ended is not ledger.status:
        record.ended = None
    return run
