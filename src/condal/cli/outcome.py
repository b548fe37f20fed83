"""What a solve leads to: a page for a person, files for machines, a folder, a page in a browser."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from condal.cli import output_paths as target
from condal.cli import report
from condal.cli.application import NO_ANSWER, Application, Chosen, Lines
from condal.cli.options import kept
from condal.cli.save_option import Keep
from condal.cli.watching import Port, told, watching
from condal.io.results import Saved
from condal.report.pictures import Picture
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.cancellation import Stopper
from condal.runtime.signals import ABORTED, SignalHandler
from condal.runtime.text import escape_terminal

UNDONE = (Status.INTERRUPTED, Status.MAX_ITERS, Status.MAX_SECONDS)
STOPPED_EARLY = "condal: interrupted before there was a problem to solve; nothing is written"


@dataclass(frozen=True)
class Wishes:
    """What was asked for: where the result goes, and what is shown on the way."""

    json_target: str | None
    out_target: str | None
    folder: str | None
    overwrite: bool
    port: int | None
    quiet: bool


OPTIONS = (
    click.option(
        "--json", "json_target", metavar="FILE", help="Write the result there; - for stdout."
    ),
    click.option(
        "--out", "out_target", metavar="FILE", help="Write the answer there, a line each."
    ),
    click.option(
        "--save", "folder", metavar="DIR", help="Keep the whole result there, a new folder."
    ),
    click.option(
        "--overwrite", is_flag=True, help="Let --save take the place of an earlier result."
    ),
    click.option(
        "--watch",
        "port",
        type=Port(),
        is_flag=False,
        flag_value=0,
        metavar="[PORT]",
        help="Show the solve in a browser on this machine as it runs, with a button to stop it.",
    ),
    click.option("--quiet", is_flag=True, help="Print errors only, and the JSON if asked for."),
)


def outcomes(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options that say where its result goes, which it gets as `wishes`."""

    @wraps(command)
    def called(**options: Any) -> None:
        wishes = Wishes(**{one.name: options.pop(one.name) for one in fields(Wishes)})
        command(wishes=wishes, **options)

    for option in reversed(OPTIONS):
        called = option(called)
    return called


class Outcome:
    """One solve of an application's file, from its model to what is told of it.

    All that could not be written in the end is refused when it is made.
    """

    def __init__(
        self,
        context: click.Context,
        application: Application,
        file: str,
        wishes: Wishes,
        read: dict[str, str],
        checkpoint: str | None = None,
    ) -> None:
        self.context, self.application, self.file, self.wishes = context, application, file, wishes
        json_target, out_target = wishes.json_target, wishes.out_target
        if json_target == out_target == target.STDOUT:
            raise click.UsageError("only one of --json and --out can go to stdout", context)
        self.progress = None if wishes.quiet else Progress()
        written = {"--checkpoint": checkpoint, "--json": json_target, "--out": out_target}
        target.check_all(written, read)
        others = {**read, "what --json writes": json_target, "what --out writes": out_target}
        self.keep = Keep.of(wishes.folder, file, wishes.overwrite, others)
        self.stopper, self.watch = Stopper(), None
        if wishes.port is not None:
            title = f"{application.name} of {escape_terminal(Path(file).name)}"
            self.watch = context.with_resource(watching(wishes.port, title))

    @property
    def say(self) -> Callable[[str], Any] | None:
        """What is told lines on the way."""
        return None if self.progress is None else self.progress.note

    def warn(self, text: str) -> None:
        """A line that is told in any case."""
        (self.say or partial(click.echo, err=True))(text)

    def reach(
        self,
        own: dict[str, Any],
        settings: dict[str, Any],
        solve: Callable[..., Result],
        checkpoint: str | None,
    ) -> None:
        """Make the model, solve it, tell and write what came of it, and exit.

        `own` are the options of the application, and `settings` those of the solve; `solve` is
        called with the model, a callback and a stopper, and may write the checkpoint.
        """
        application, wishes, progress = self.application, self.wishes, self.progress
        chosen = {**own, **settings, "say": self.say}
        with SignalHandler(self.stopper, say=self.say, last=lambda: SystemExit(ABORTED)):
            try:
                model = application.build(self.file, chosen)
            except KeyboardInterrupt:
                click.echo(STOPPED_EARLY, err=True)
                self.context.exit(report.STOPPED)
            if progress is not None:
                progress.__enter__()
            try:
                tell = told(progress, self.watch)
                result = solve(model, callback=tell, stopper=self.stopper)
                answer, said = answered(application, model, result, chosen)
            finally:
                if progress is not None:
                    progress.__exit__()
            wanted = self.keep is not None or self.watch is not None
            picture = pictured(application, model, result, answer) if wanted else {}
            if self.watch is not None:
                with suppress(KeyboardInterrupt):  # of a button pressed this very moment
                    self.watch.settle()
        show = partial(click.echo, err=target.STDOUT in (wishes.json_target, wishes.out_target))
        if not wishes.quiet:
            show(f"\n{report.page(result, Path(self.file).name, said)}")
        figures = application.figures(model, result, answer)
        if wishes.json_target is not None:
            target.write_record(wishes.json_target, report.record(result, figures))
        if wishes.out_target is not None and answer is not None:
            target.write_lines(wishes.out_target, application.lines(answer))
        about: dict[str, Any] = {
            "application": application.name,
            "options": kept(application, model, own),
            "settings": settings,
            "answer": said,
            "figures": figures,
            "picture": picture,
        }
        if self.keep is not None:
            self.keep.write(result, **about)
            if not wishes.quiet:
                show(f"\n{self.keep.told}")
        if checkpoint is not None and result.status in UNDONE and Path(checkpoint).exists():
            again = f"{application.again} {shlex.quote(checkpoint)} {shlex.quote(self.file)}"
            if not wishes.quiet:
                show(f"\nTo go on from here:\n\n  {escape_terminal(again)}")
        if self.watch is not None:
            self.watch.finish(Saved(result, file=Path(self.file).name, **about))
        self.context.exit(report.STOPPED if answer is None else report.exit_code(result))


def answered(
    application: Application, model: Any, result: Result, chosen: Chosen
) -> tuple[Any, Lines]:
    """What the result means, and that for a person; None where there is nothing."""
    if result.x is None:
        return None, []
    try:
        answer = application.answer(model, result, chosen)
        return answer, application.told(model, result, answer)
    except KeyboardInterrupt:
        return None, [NO_ANSWER]


def pictured(application: Application, model: Any, result: Result, answer: Any) -> Picture:
    """The answer as arrays to be drawn; nothing, where there is no answer, or no time for it."""
    if answer is None:
        return {}
    try:
        return application.picture(model, result, answer) or {}
    except (KeyboardInterrupt, MemoryError):
        return {}
