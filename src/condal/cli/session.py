"""One solve by a command: build the model, solve it, describe and write the result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import click

from condal.cli import result_text
from condal.cli.application import Application, Chosen
from condal.cli.outputs import Outcome, Outputs, Sinks
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.limits import ABORTED, SignalHandler, TimeLimit
from condal.runtime.meter import Cancelled, Deadline, Stopper
from condal.runtime.text import escape_terminal

NO_ANSWER = ("answer", "none: interrupted while the result was rounded")
PROVABLE = ("max-cut", "sdp")  # what a proof file can be about
STOPPED_EARLY = "condal: {why} before {what}; nothing is written"
TIME_IS_UP = "the time was up (raise --max-seconds)"
INTERRUPTED_SECONDS = 0.5  # of the answer to an interrupted solve
MIN_BUILD_SECONDS = 1.0  # a shorter limit ends the solve, but no file that is read by then


class Session:
    """One solve of an application's file, from its model to what is printed and written.

    The constructor refuses every output that could not be written at the end.
    """

    def __init__(
        self,
        context: click.Context,
        application: Application,
        file: str,
        outputs: Outputs,
        inputs: dict[str, str],
        checkpoint: str | None = None,
        *,
        limit: TimeLimit,
    ) -> None:
        if outputs.proof is not None and application.name not in PROVABLE:
            names = " and ".join(f"--as {name}" for name in PROVABLE)
            raise click.UsageError(f"--proof is for {names}; got --as {application.name}")
        self.context, self.application, self.limit = context, application, limit
        self.file, self.outputs = file, outputs
        self.sinks = Sinks(outputs, file, inputs, checkpoint)
        self.progress = None if outputs.quiet else Progress()
        self.stopper = Stopper()

    @property
    def say(self) -> Callable[[str], Any] | None:
        """The function that prints a line during the solve; None if quiet."""
        return None if self.progress is None else self.progress.note

    def warn(self, text: str) -> None:
        """Print a line, even if quiet."""
        (self.say or partial(click.echo, err=True))(text)

    def run(
        self,
        own: dict[str, Any],
        settings: dict[str, Any],
        solve: Callable[..., Result],
        checkpoint: str | None,
    ) -> None:
        """Build the model, solve it, print and write the result, and exit.

        `own` holds the options of the application and `settings` those of the solve. `solve` is
        called with the model, a callback and a stopper, and may write the checkpoint.
        """
        signals = SignalHandler(self.stopper, say=self.say, last=lambda: SystemExit(ABORTED))
        with signals, _log_to(self.say, self.outputs.verbose):
            outcome = self._outcome({**settings, **own}, settings, solve, signals)
        if outcome.result.x is None and outcome.result.status is Status.INTERRUPTED:
            self._stop_early("there was a point")
        self.sinks.write(outcome, checkpoint)
        answered = outcome.answer is not None
        code = result_text.exit_code(outcome.result) if answered else result_text.STOPPED
        self.context.exit(code)

    def _outcome(
        self,
        chosen: dict[str, Any],
        settings: dict[str, Any],
        solve: Callable[..., Result],
        signals: SignalHandler,
    ) -> Outcome:
        """Build the model, solve it and interpret the result, unless a signal comes too early."""
        chosen |= {"say": self.say, "limit": self.limit}
        what, progress = "the problem was built", self.progress
        try:
            until = max(self.limit.until, self.limit.began + MIN_BUILD_SECONDS)
            with Deadline(until=until).on():
                model = self.application.build(self.file, chosen)
            if self.outputs.proof is not None:
                from condal.problems.proof_files import require_affordable

                require_affordable(model)
            what, reading = "there was a point", self.limit.seconds
            with progress or nullcontext():
                result = solve(model, callback=progress, stopper=self.stopper)
                outcome = interpret(
                    self.application, model, result, chosen, settings, reading=reading
                )
                if progress is not None:
                    progress.conclude(outcome.result)
        except Cancelled:
            self._stop_early(what, TIME_IS_UP)
        except KeyboardInterrupt:
            if not signals.came:
                raise
            self._stop_early(what)
        return outcome if self.outputs.folder is None else drawn(outcome)

    def _stop_early(self, what: str, why: str = "interrupted") -> NoReturn:
        """Exit before there is anything to write."""
        click.echo(STOPPED_EARLY.format(why=why, what=what), err=True)
        self.context.exit(result_text.STOPPED)


class _Said(logging.Handler):
    """A handler that passes each record to a function as a line of text."""

    def __init__(self, say: Callable[[str], Any]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say(escape_terminal(record.getMessage()))


@contextmanager
def _log_to(say: Callable[[str], Any] | None, verbose: int) -> Iterator[None]:
    """Pass what the solve logs to `say`: methods and result if verbose is 1, every row if 2."""
    if say is None or not verbose:
        yield
        return
    log, handler = logging.getLogger("condal"), _Said(say)
    level = log.level
    log.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def interpret(
    application: Application,
    model: Any,
    result: Result,
    chosen: Chosen,
    settings: dict[str, Any],
    *,
    reading: float,
) -> Outcome:
    """Return what the application makes of a result; None and the reason for no answer.

    The seconds of the result become those of the command: reading, solve and answer.
    """
    began, answer, rows = TimeLimit(), None, []
    limit: TimeLimit = chosen["limit"]
    if result.x is not None:
        stopped = result.status is Status.INTERRUPTED
        left = TimeLimit(min(limit.left, INTERRUPTED_SECONDS)) if stopped else limit
        try:
            answer = application.answer(model, result, {**chosen, "limit": left})
            rows = application.describe(result, answer)
        except KeyboardInterrupt:
            answer, rows = None, [NO_ANSWER]
    # A resumed solve counts the seconds before, and the plan of a solve is made before its clock.
    seconds = max(reading + result.seconds + began.seconds, limit.seconds)
    figures = application.figures(model, answer)
    timed = replace(result, seconds=seconds)
    return Outcome(application, model, timed, answer, rows, figures, {}, chosen, settings)


def drawn(outcome: Outcome) -> Outcome:
    """Return the outcome with the answer as arrays to draw; none if interrupted."""
    try:
        picture = {} if outcome.answer is None else outcome.answer.picture()
    except (KeyboardInterrupt, MemoryError):
        return outcome
    return replace(outcome, picture=picture)
