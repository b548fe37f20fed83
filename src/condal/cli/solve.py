"""The command `solve`: an application from its file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

import condal
from condal import methods
from condal.cli import memory, report, target
from condal.cli.application import NO_ANSWER, Application, Chosen, Lines
from condal.cli.applications import APPLICATIONS
from condal.cli.command import OfApplication, application_of
from condal.cli.interrupts import Interrupts
from condal.cli.keeping import Keep
from condal.cli.options import kept
from condal.cli.text import printable
from condal.cli.watching import Port, told, watching
from condal.methods.rules import Decr, LineSearch
from condal.progress import Progress
from condal.report.pictures import Picture
from condal.result import Result
from condal.saved import Saved
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
    "interior-point": methods.InteriorPoint,
    "primal-dual": methods.PrimalDual,
    "hcgm": condal.hcgm,
    "fw-al": methods.fwal,
    "ial": methods.IAL,
    "upd": methods.UPD,
    "aupd": methods.AUPD,
}


SHORTEST = 1e-9  # seconds: a limit is positive
STOPPED_EARLY = "condal: interrupted before there was a problem to solve; nothing is written"


class Solve(OfApplication):
    """The command, with the help of the application that --as names, or the name of FILE tells."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """With --as, where the name of the file says it."""
        return super().parse_args(ctx, [*self.told(args), *args])

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the application is, where one is named."""
        application = application_of(ctx)
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
    help="What FILE is solved as: an application. A FILE.dat-s tells by its name.",
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
@click.option("--save", "folder", metavar="DIR", help="Keep the whole result there, a new folder.")
@click.option("--overwrite", is_flag=True, help="Let --save take the place of an earlier result.")
@click.option(
    "--watch",
    "port",
    type=Port(),
    is_flag=False,
    flag_value=0,
    metavar="[PORT]",
    help="Show the solve in a browser on this machine as it runs, with a button to stop it.",
)
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
    folder: str | None,
    overwrite: bool,
    port: int | None,
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
    others = {**read, "what --json writes": json_target, "what --out writes": out_target}
    keep = Keep.of(folder, file, overwrite, others)
    say = None if progress is None else progress.note
    chosen = {**own, "seed": seed, "max_seconds": max_seconds, "say": say}
    watch = None
    if port is not None:
        watch = context.with_resource(watching(port, f"{kind} of {printable(Path(file).name)}"))
    began = time.perf_counter()
    with Interrupts(say):
        try:
            model = application.build(file, chosen)
            x = memory.build(storage, model.problem, application.noun, seed)
        except KeyboardInterrupt:
            click.echo(STOPPED_EARLY, err=True)
            context.exit(report.STOPPED)
        with progress or nullcontext():
            result = application.solve(
                model,
                METHODS[method](),
                tol=tol,
                max_iters=max_iters,
                max_seconds=_left(max_seconds, began),
                storage=x,
                seed=seed,
                callback=told(progress, watch),
            )
            answer, said = _answered(application, model, result, chosen)
        picture = _pictured(application, model, result, answer) if keep or watch else {}
        if watch is not None:
            with suppress(KeyboardInterrupt):  # of a button pressed this very moment
                watch.settle()
    show = partial(click.echo, err=target.STDOUT in (json_target, out_target))
    if not quiet:
        show(f"\n{report.page(result, Path(file).name, said)}")
    figures = application.figures(model, result, answer)
    if json_target is not None:
        target.write_record(json_target, report.record(result, figures))
    if out_target is not None and answer is not None:
        target.write_lines(out_target, application.lines(answer))
    about: dict[str, Any] = {
        "application": application.name,
        "options": kept(application, model, own),
        "settings": _settings(context.params),
        "answer": said,
        "figures": figures,
        "picture": picture,
    }
    if keep is not None:
        keep.write(result, **about)
        if not quiet:
            show(f"\n{keep.told}")
    if watch is not None:
        watch.finish(Saved(result, file=Path(file).name, **about))
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
        return None, [NO_ANSWER]


def _pictured(application: Application, model: Any, result: Result, answer: Any) -> Picture:
    """The answer as arrays to be drawn; nothing, where there is no answer, or no time for it."""
    if answer is None:
        return {}
    try:
        return application.picture(model, result, answer) or {}
    except (KeyboardInterrupt, MemoryError):
        return {}


def _settings(chosen: dict[str, Any]) -> dict[str, Any]:
    """Those of the solve."""
    names = ("tol", "method", "max_iters", "max_seconds", "storage", "seed")
    return {name: chosen[name] for name in names}


def _inputs(application: Application, own: dict[str, Any]) -> dict[str, str]:
    """The files that options name, to be read."""
    named = {f"what --{name} reads": own[name] for name in application.inputs}
    return {what: path for what, path in named.items() if path is not None}


def _left(max_seconds: float | None, began: float) -> float | None:
    """What the making of the model left of the time."""
    if max_seconds is None:
        return None
    return max(max_seconds - (time.perf_counter() - began), SHORTEST)
