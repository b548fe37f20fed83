"""The command `solve`: an application from its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

import condal
from condal import methods
from condal.cli import memory, report, target
from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.interrupts import Interrupts
from condal.cli.text import printable, table
from condal.methods.rules import Decr, LineSearch
from condal.progress import Progress
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


class Solve(click.Command):
    """A command that has the options and the help of the application that --as names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As ever, once it is known which options there are."""
        ctx.meta[__name__] = APPLICATIONS.get(_named(args))
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
    help="The application.",
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
@click.option("--max-seconds", type=float, metavar="S", help="Stop after S seconds.")
@click.option(
    "--storage",
    default="auto",
    metavar="[auto|dense|factored|sketch:R]",
    help="What to keep of the n x n unknowns; sketch:R keeps n x R.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Of all that is random."
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
    application, chosen = APPLICATIONS[kind], {**own, "seed": seed}
    for wanted, option in ((json_target, "--json"), (out_target, "--out")):
        if wanted is not None:
            target.check(wanted, file, option)
    model = application.build(file, chosen)
    x = memory.build(storage, model.problem, application.noun, seed)
    with watched(quiet) as progress:
        result = condal.solve(
            model,
            METHODS[method](),
            tol=tol,
            max_iters=max_iters,
            max_seconds=max_seconds,
            storage=x,
            seed=seed,
            callback=progress,
        )
    answer = None if result.x is None else application.answer(model, result, chosen)
    if not quiet:
        say = partial(click.echo, err=target.STDOUT in (json_target, out_target))
        said = [] if answer is None else application.rows(model, result, answer)
        say(f"\n{kind} of {printable(Path(file).name)}\n")
        say(table(report.summary(result, said)))
    if json_target is not None:
        figures = application.figures(model, result, answer)
        target.write_record(json_target, report.record(result, figures))
    if out_target is not None and answer is not None:
        target.write_lines(out_target, application.lines(answer))
    context.exit(report.exit_code(result))


@contextmanager
def watched(quiet: bool = False) -> Iterator[Progress | None]:
    """The progress of a solve, and a Ctrl-C that stops it."""
    progress = None if quiet else Progress()
    say = (lambda _: None) if progress is None else progress.note
    with Interrupts(say), progress or nullcontext():
        yield progress


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
