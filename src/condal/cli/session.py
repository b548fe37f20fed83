"""One solve by a command: build the model, solve it, print and write the result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from condal.cli import output_paths, result_text
from condal.cli.application import NO_ANSWER, Application, Chosen, Lines
from condal.cli.options import options_to_save
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.meter import Stopper
from condal.runtime.signals import ABORTED, SignalHandler
from condal.runtime.text import escape_terminal
from condal.runtime.time_limit import TimeLimit

if TYPE_CHECKING:
    from condal.report.pictures import Picture

RESUMABLE = (Status.INTERRUPTED, Status.MAX_ITERS, Status.MAX_SECONDS)
STOPPED_EARLY = "condal: interrupted before {what}; nothing is written"


@dataclass(frozen=True)
class Outputs:
    """Where the result goes, and what is shown during the solve."""

    json_target: str | None
    out_target: str | None
    folder: str | None
    overwrite: bool
    quiet: bool
    verbose: int = 0


OPTIONS = (
    click.option(
        "--json", "json_target", metavar="FILE", help="Write the result as JSON; - for stdout."
    ),
    click.option("--out", "out_target", metavar="FILE", help="Write the answer; - for stdout."),
    click.option("--save", "folder", metavar="DIR", help="Save the whole result in a new folder."),
    click.option("--overwrite", is_flag=True, help="Let --save replace an earlier result."),
    click.option("-q", "--quiet", is_flag=True, help="Print errors only, and JSON if requested."),
    click.option(
        "-v",
        "--verbose",
        count=True,
        help="Also print the methods that are tried, and why; -vv also prints every iteration.",
    ),
)


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Outputs` to a command, which receives them as `outputs`."""

    @wraps(command)
    def wrapped(**options: Any) -> None:
        outputs = Outputs(**{field.name: options.pop(field.name) for field in fields(Outputs)})
        command(outputs=outputs, **options)

    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    return wrapped


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
        self.context, self.application, self.limit = context, application, limit
        self.file, self.outputs = file, outputs
        json_target, out_target = outputs.json_target, outputs.out_target
        if json_target == out_target == output_paths.STDOUT:
            raise click.UsageError("only one of --json and --out can go to stdout", context)
        if outputs.quiet and outputs.verbose:
            raise click.UsageError("--quiet and --verbose exclude each other", context)
        self.progress = None if outputs.quiet else Progress()
        targets = {"--checkpoint": checkpoint, "--json": json_target, "--out": out_target}
        output_paths.check_all(targets, inputs)
        others = {**inputs, "the --json file": json_target, "the --out file": out_target}
        self.save = None
        if outputs.folder is not None:
            from condal.cli.save_option import SaveTarget

            self.save = SaveTarget.of(outputs.folder, file, outputs.overwrite, others)
        elif outputs.overwrite:
            raise click.UsageError("--overwrite needs --save DIR")
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
        application, outputs, progress = self.application, self.outputs, self.progress
        chosen = {**own, **settings, "say": self.say, "limit": self.limit}
        signals = SignalHandler(self.stopper, say=self.say, last=lambda: SystemExit(ABORTED))
        with signals, _log_to(self.say, outputs.verbose):
            try:
                model = application.build(self.file, chosen)
            except KeyboardInterrupt:
                self._stop_early("the problem was built")
            reading = self.limit.seconds
            if progress is not None:
                progress.__enter__()
            try:
                result = solve(model, callback=progress, stopper=self.stopper)
                result, answer, description = interpret(
                    application, model, result, chosen, reading=reading
                )
                if progress is not None:
                    progress.conclude(result)
            except KeyboardInterrupt:
                if not signals.came:
                    raise
                self._stop_early("there was a point")
            finally:
                if progress is not None:
                    progress.__exit__()
            picture = {} if self.save is None else draw(application, model, result, answer)
        if result.x is None and result.status is Status.INTERRUPTED:
            self._stop_early("there was a point")
        to_stdout = output_paths.STDOUT in (outputs.json_target, outputs.out_target)
        show = partial(click.echo, err=to_stdout)
        if not outputs.quiet:
            show(f"\n{result_text.page(result, Path(self.file).name, description)}")
        figures = application.figures(model, result, answer)
        if outputs.json_target is not None:
            output_paths.write_record(outputs.json_target, result_text.record(result, figures))
        if outputs.out_target is not None and answer is not None:
            output_paths.write_lines(outputs.out_target, application.lines(answer))
        about: dict[str, Any] = {
            "application": application.name,
            "options": options_to_save(application, model, own),
            "settings": settings,
            "answer": description,
            "figures": figures,
            "picture": picture,
            "labels": application.labels_of(answer),
        }
        if self.save is not None:
            self.save.write(result, **about)
            if not outputs.quiet:
                show(f"\n{self.save.message}")
        if checkpoint is not None and result.status in RESUMABLE and Path(checkpoint).exists():
            import shlex

            paths = f"{shlex.quote(checkpoint)} {shlex.quote(self.file)}"
            if not outputs.quiet:
                show(
                    f"\nTo resume:\n\n  {escape_terminal(f'{application.resume_command} {paths}')}"
                )
        code = result_text.STOPPED if answer is None else result_text.exit_code(result)
        self.context.exit(code)

    def _stop_early(self, what: str) -> NoReturn:
        """Exit after a Ctrl-C that came before there was anything to write."""
        click.echo(STOPPED_EARLY.format(what=what), err=True)
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
    application: Application, model: Any, result: Result, chosen: Chosen, *, reading: float
) -> tuple[Result, Any, Lines]:
    """Return the result, the answer and its description; None and the reason for no answer.

    The seconds of the result become those of the command: reading, solve and answer.
    """
    began, answer, description = TimeLimit(), None, []
    if result.x is not None:
        try:
            answer = application.answer(model, result, chosen)
            description = application.describe(model, result, answer)
        except KeyboardInterrupt:
            answer, description = None, [NO_ANSWER]
    limit: TimeLimit = chosen["limit"]
    # A resumed solve counts the seconds before, and the plan of a solve is made before its clock.
    seconds = max(reading + result.seconds + began.seconds, limit.seconds)
    return replace(result, seconds=seconds), answer, description


def draw(application: Application, model: Any, result: Result, answer: Any) -> Picture:
    """Return the answer as arrays to draw; empty without an answer, or if interrupted."""
    if answer is None:
        return {}
    try:
        return application.picture(model, result, answer) or {}
    except (KeyboardInterrupt, MemoryError):
        return {}
