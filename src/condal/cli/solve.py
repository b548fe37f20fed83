"""The command `solve`: an application from its file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

import condal
from condal import methods
from condal.cli import memory, report, target
from condal.cli.application import Application, Chosen, Lines
from condal.cli.applications import APPLICATIONS
from condal.cli.group import HELP
from condal.cli.interrupts import Interrupts
from condal.cli.text import printable, table
from condal.methods.rules import Decr, LineSearch
from condal.progress import Progress
from condal.result import Result
from condal.stop import Stop
from condal.types import Method

METHODS: dict[str, Callable[[], Method | None]] = {
    "auto": lambda: None,
    "cgal": condal.CGAL,
    "cgal-decr": lambda: condal.CGAL(sigma=Decr()),
    "cgal-ls": lambda: condal.CGAL(eta=LineSearch()),
    "cgal-fc": methods.corrective,
    "lowrank": methods.LowRankCGAL,
    "splitting": methods.Splitting,
    "primal-dual": methods.PrimalDual,
    "hcgm": condal.hcgm,
    "fw-al": methods.fwal,
    "ial": methods.IAL,
    "upd": methods.UPD,
    "aupd": methods.AUPD,
}


SHORTEST = 1e-9  # seconds: a limit is positive
STOPPED_EARLY = "condal: interrupted before there was a problem to solve; nothing is written"


class Solve(click.Command):
    """A command that has the options and the help of the application that --as names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As ever, once it is known which options there are."""
        application = ctx.meta[__name__] = APPLICATIONS.get(_named(args))
        if application is not None:
            ctx.meta[HELP] = f"{ctx.command_path} --as {application.name} --help"
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            _explain(error, ctx)
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Those of all applications, with those of this one after --as."""
        common, application = super().get_params(ctx), _application(ctx)
        if application is None:
            return common
        return [*common[:2], *application.options, *common[2:]]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the application is, where one is named."""
        application = _application(ctx)
        if application is None:
            super().format_help_text(ctx, formatter)
            formatter.write_paragraph()
            with formatter.section("Applications"):
                formatter.write_dl([(one.name, one.title) for one in APPLICATIONS.values()])
            return
        text = f"{application.about}\n\n--out writes {application.out}."
        formatter.write_paragraph()
        with formatter.indentation():
            for paragraph in text.split("\n\n"):
                formatter.write_text(" ".join(paragraph.split()))
                formatter.write_paragraph()
            formatter.write(f"  Example:\n    {application.example}\n")


@click.command(cls=Solve)
@click.argument("file", type=click.Path())
@click.option(
    "--as",
    "kind",
    type=click.Choice(list(APPLICATIONS)),
    required=True,
    metavar="NAME",
    help="What FILE is solved as: an application.",
)
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="auto",
    metavar="NAME",
    help=f"How to solve it: {', '.join(METHODS)}.",
)
@click.option("--tol", type=float, default=1e-3, metavar="TOL", help="The relative gap to prove.")
@click.option("--max-iters", type=int, metavar="N", help="Stop after N iterations.")
@click.option("--max-seconds", type=float, metavar="S", help="Stop after S seconds in all.")
@click.option(
    "--storage",
    default="auto",
    metavar="[auto|dense|factored|sketch:R]",
    help="What to keep of the n x n unknowns; sketch:R keeps n x R.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="The seed of all random numbers: the same gives the same answer.",
)
@click.option("--json", "json_target", metavar="FILE", help="Write the result there; - for stdout.")
@click.option("--out", "out_target", metavar="FILE", help="Write the answer there, a line each.")
@click.option("--quiet", is_flag=True, help="Print errors only, and the JSON if asked for.")
@click.pass_context
def solve(
    context: click.Context,
    /,
    file: str,
    kind: str,
    method: str,
    tol: float,
    max_iters: int | None,
    max_seconds: float | None,
    storage: str,
    seed: int,
    json_target: str | None,
    out_target: str | None,
    quiet: bool,
    **own: Any,
) -> None:
    """Solve the problem in FILE and prove how good the answer is.

    What FILE is, and which options there are beside those below, depends on the
    application: condal solve --as NAME --help tells. Ctrl-C stops and tells
    what was reached; a second one aborts.

    \b
    Example:
      condal solve G1.txt --as max-cut --tol 1e-2 --json result.json
    """
    Stop(tol, max_iters, max_seconds)  # refuses bad limits before the file is read
    memory.checked(storage)
    if json_target == out_target == target.STDOUT:
        raise click.UsageError("only one of --json and --out can go to stdout", context)
    application, progress = APPLICATIONS[kind], None if quiet else Progress()
    read = {"the file itself": file, **_inputs(application, own)}
    target.check_all({"--json": json_target, "--out": out_target}, read)
    say = None if progress is None else progress.note
    chosen = {**own, "seed": seed, "max_seconds": max_seconds, "say": say}
    began = time.perf_counter()
    with Interrupts(say):
        try:
            model = application.build(file, chosen)
            x = memory.build(storage, model.problem, application.noun, seed)
        except KeyboardInterrupt:
            click.echo(STOPPED_EARLY, err=True)
            context.exit(report.STOPPED)
        with progress or nullcontext():
            result = condal.solve(
                model,
                METHODS[method](),
                tol=tol,
                max_iters=max_iters,
                max_seconds=_left(max_seconds, began),
                storage=x,
                seed=seed,
                callback=progress,
            )
            answer, said = _answered(application, model, result, chosen)
    if not quiet:
        show = partial(click.echo, err=target.STDOUT in (json_target, out_target))
        show(f"\n{result.problem_name} of {printable(Path(file).name)}\n")
        show(table(report.summary(result, said)))
    if json_target is not None:
        figures = application.figures(model, result, answer)
        target.write_record(json_target, report.record(result, figures))
    if out_target is not None and answer is not None:
        target.write_lines(out_target, application.lines(answer))
    context.exit(report.STOPPED if answer is None else report.exit_code(result))


@contextmanager
def watched() -> Iterator[Progress]:
    """The progress of a solve, and a Ctrl-C that stops it."""
    progress = Progress()
    with Interrupts(progress.note), progress:
        yield progress


def _answered(
    application: Application, model: Any, result: Result, chosen: Chosen
) -> tuple[Any, Lines]:
    """What the result means, and that for a person; None where there is nothing."""
    if result.x is None:
        return None, []
    try:
        answer = application.answer(model, result, chosen)
        return answer, application.told(model, result, answer)
    except KeyboardInterrupt:
        return None, [("answer", "none: interrupted while the result was rounded")]


def _inputs(application: Application, own: dict[str, Any]) -> dict[str, str]:
    """The files that options name, to be read."""
    named = {f"what --{name} reads": own[name] for name in application.inputs}
    return {what: path for what, path in named.items() if path is not None}


def _left(max_seconds: float | None, began: float) -> float | None:
    """What the making of the model left of the time."""
    if max_seconds is None:
        return None
    return max(max_seconds - (time.perf_counter() - began), SHORTEST)


def _application(ctx: click.Context) -> Application | None:
    return ctx.meta.get(__name__)


def _named(args: list[str]) -> str:
    """What --as names, before anything is parsed."""
    name = ""
    for i, word in enumerate(args):
        if word == "--as" and i + 1 < len(args):
            name = args[i + 1]
        elif word.startswith("--as="):
            name = word.removeprefix("--as=")
    return name


def _explain(error: click.NoSuchOption, ctx: click.Context) -> None:
    """Raise a better error for an option of another application."""
    owners = [
        application.name
        for application in APPLICATIONS.values()
        if any(error.option_name in option.opts for option in application.options)
    ]
    here = _application(ctx)
    if owners and here is not None:
        raise click.UsageError(
            f"{error.option_name} belongs to --as {' or '.join(owners)}; --as {here.name} does "
            "not take it",
            ctx,
        ) from None
