"""The command `solve`: an application from its file."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

import condal
from condal import methods
from condal.cli import memory, target
from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.command import OfApplication, application_of
from condal.cli.outcome import Outcome, Wishes, outcomes
from condal.cli.resume import kept_at
from condal.memory import bytes_of
from condal.methods.rules import Decr, LineSearch
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
    "interior-point": methods.InteriorPoint,
    "primal-dual": methods.PrimalDual,
    "hcgm": condal.hcgm,
    "fw-al": methods.fwal,
    "ial": methods.IAL,
    "upd": methods.UPD,
    "aupd": methods.AUPD,
}

SETTINGS = ("tol", "method", "max_iters", "max_seconds", "storage", "seed")


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
@click.option(
    "--max-seconds", type=float, metavar="S", help="Stop after S seconds, the reading included."
)
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
@click.option(
    "--max-memory",
    metavar="SIZE",
    help="Take no more than this, as 4GB, or refuse to begin.",
)
@click.option(
    "--checkpoint",
    metavar="FILE",
    help="Write there, a new file, every minute; condal resume FILE PROBLEM goes on from it.",
)
@outcomes
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
    max_memory: str | None,
    checkpoint: str | None,
    wishes: Wishes,
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
    bytes_of(max_memory, "--max-memory")
    memory.checked(storage)
    application = APPLICATIONS[kind]
    read = {"the file itself": file, **_inputs(application, own)}
    outcome = Outcome(context, application, file, wishes, read, checkpoint)
    settings = {name: context.params[name] for name in SETTINGS}
    began = time.perf_counter()

    def run(model: Any, **heard: Any) -> Result:
        return application.solve(
            model,
            METHODS[method](),
            tol=tol,
            max_iters=max_iters,
            max_seconds=target.left(max_seconds, began),
            max_memory=max_memory,
            storage=memory.build(storage, model.problem, application.noun, seed),
            seed=seed,
            checkpoint=kept_at(checkpoint, application, model, own, settings, outcome.warn),
            **heard,
        )

    outcome.reach(own, settings, run, checkpoint)


def _inputs(application: Application, own: dict[str, Any]) -> dict[str, str]:
    """The files that options name, to be read."""
    named = {f"what --{name} reads": own[name] for name in application.inputs}
    return {what: path for what, path in named.items() if path is not None}
