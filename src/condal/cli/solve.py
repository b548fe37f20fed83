"""The command `solve`: an application from its file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from condal.cli import memory, ranks
from condal.cli import output_paths as target
from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.command import OfApplication, application_of
from condal.cli.outcome import Outcome, Wishes, outcomes
from condal.cli.resume import kept_at
from condal.driver.memory import bytes_of
from condal.driver.stop import Stop
from condal.methods import registry
from condal.result import Result
from condal.types import Method

METHODS: dict[str, Callable[[], Method | None]] = {
    "auto": lambda: None,
    **{name: method for name, method in registry.METHODS.items() if method.command_line},
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
@click.option(
    "--distributed",
    is_flag=True,
    help="Together on the ranks that mpirun or srun started; --tol is 1e-1 if not given.",
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
    distributed: bool,
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
    if distributed:
        tol = ranks.tol_of(context, tol)
        application, wishes = ranks.on_ranks(application, wishes, method, storage)
    else:
        ranks.refuse_crowd("add --distributed, or start it once")
    read = {"the file itself": file, **_inputs(application, own)}
    with ranks.checked(distributed):
        # Many ranks write a folder, which is looked at where it is made.
        kept_file = None if distributed else checkpoint
        outcome = Outcome(context, application, file, wishes, read, kept_file)
    settings = {**{name: context.params[name] for name in SETTINGS}, "tol": tol}
    began = time.perf_counter()

    def run(model: Any, **heard: Any) -> Result:
        kept = kept_at(checkpoint, application, model, own, settings, outcome.warn)
        asked = {**settings, "max_seconds": target.left(max_seconds, began)}
        if distributed:  # its storage is that of the ranks
            asked["storage"] = "auto"
        else:
            _tell_memory(outcome, model, settings, max_memory)
        return solved(application, model, asked, max_memory=max_memory, checkpoint=kept, **heard)

    outcome.reach(own, settings, run, checkpoint)


def solved(
    application: Application, model: Any, settings: Mapping[str, Any], **more: Any
) -> Result:
    """The model, solved with the settings, in the words of the command line."""
    return application.solve(
        model,
        METHODS[settings["method"]](),
        tol=settings["tol"],
        max_iters=settings["max_iters"],
        max_seconds=settings["max_seconds"],
        storage=memory.build(
            settings["storage"], model.problem, application.noun, settings["seed"]
        ),
        seed=settings["seed"],
        **more,
    )


def _tell_memory(
    outcome: Outcome, model: Any, settings: Mapping[str, Any], max_memory: str | None
) -> None:
    """What the solve will take, before it begins."""
    if outcome.say is None:
        return
    problem, spec = model.problem, settings["storage"]
    storage = memory.build(spec, problem, outcome.application.noun, settings["seed"])
    text = memory.told(
        problem,
        METHODS[settings["method"]](),
        storage,
        tol=settings["tol"],
        max_memory=max_memory,
    )
    if text is not None:
        outcome.say(text)


def _inputs(application: Application, own: dict[str, Any]) -> dict[str, str]:
    """The files that options name, to be read."""
    named = {f"what --{name} reads": own[name] for name in application.inputs}
    return {what: path for what, path in named.items() if path is not None}
