"""The command `sweep`: one file, solved for many values of its options."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from condal.cli import memory
from condal.cli import output_paths as target
from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.command import OfApplication, kind_in
from condal.cli.options import kept
from condal.cli.outcome import answered, pictured
from condal.cli.report import SOLVED, STOPPED
from condal.cli.solve import SETTINGS, solve, solved
from condal.cli.vary_option import grid, named, split, words_of
from condal.cli.workers import workers
from condal.driver.memory import bytes_of
from condal.driver.stop import Stop
from condal.errors import FormatError
from condal.io.formats.contents import digest_of
from condal.result import Result
from condal.runtime.text import escape_terminal
from condal.sweeps.folder import SweepFolder
from condal.sweeps.run import run, undisturbed
from condal.sweeps.tasks import Parameters, chains
from condal.sweeps.watch import Lines
from condal.sweeps.workers import Workers

CSV = "table.csv"
OF_SOLVE = ("file", "kind", *SETTINGS, "max_memory")


class Sweep(OfApplication):
    """The command, with the options of the application; those that are varied need not be given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """With --as, where the name of the file says it, and the first of all values."""
        every = [*self.told(args), *args]
        application = APPLICATIONS.get(kind_in(every))
        for word in words_of(every):
            name, _, values = word.partition("=")
            option = named(name, application.options if application else ())
            if option is not None and option.required and values:
                every = [f"{option.opts[0]}={split(values)[0]}", *every]
        return super().parse_args(ctx, every)


@click.command(cls=Sweep)
@click.option(
    "--vary",
    multiple=True,
    required=True,
    metavar="NAME=VALUES",
    help="An option above and its values: tol=1e-2,1e-3, or seed=0:10 for 0 to 9. Several of these "
    "are all combinations.",
)
@click.option(
    "--along",
    metavar="NAME",
    help="Start each solve from the result for the value of NAME before.",
)
@click.option("--out", required=True, metavar="DIR", help="Where the results go, and come from.")
@workers
@click.pass_context
def sweep(
    context: click.Context,
    /,
    file: str,
    kind: str,
    vary: tuple[str, ...],
    along: str | None,
    out: str,
    workers: int | str | None,
    max_memory: str | None,
    **chosen: Any,
) -> None:
    """Solve FILE for all values of some options, at the same time.

    Each result is kept in DIR as it comes, as condal solve --save does, and what
    DIR holds is not computed again: after Ctrl-C, or a kill, the same command
    goes on. A point that fails does not stop the others. The options are those
    of condal solve; condal sweep --as NAME --help tells.

    \b
    Examples:
      condal sweep G1.txt --as max-cut --vary seed=0:10 --out seeds
      condal sweep ratings.csv --as matrix-completion --vary radius=10,20,40 \\
        --along radius --out radii --workers tcp://host:8786
    """
    application = APPLICATIONS[kind]
    varied = grid(vary, _variable(application))
    along = None if along is None else along.replace("-", "_")
    fixed = {name: value for name, value in chosen.items() if name not in varied}
    tasks = chains(varied, {**fixed, "max_memory": max_memory}, along)
    for task in (task for chain in tasks for task in chain):
        _check({**fixed, **task.parameters}, max_memory)
    work = _Solving(kind, str(Path(file).resolve()), digest_of(file), fixed, max_memory)
    folder = SweepFolder(out, f"{kind} of {Path(file).name} (SHA-256 {work.digest[:16]}...)")
    try:
        table = run(work, tasks, folder, workers=Workers.of(workers), watch=Lines())
    except KeyboardInterrupt:
        click.echo(
            f"\nstopped; finished runs are in {escape_terminal(out)}: repeat the command to resume"
        )
        context.exit(STOPPED)
    table.to_csv(folder.path / CSV)
    click.echo(f"\n{table}\n\n{_ending(out)}")
    context.exit(SOLVED if all(row.solved for row in table) else STOPPED)


# What can be varied, and given, is what `solve` has.
sweep.params = [*(one for one in solve.params if one.name in OF_SOLVE), *sweep.params]


@dataclass(frozen=True)
class _Solving:
    """The work of a point: the application's file, with its options, solved and told of."""

    kind: str
    file: str
    digest: str
    fixed: dict[str, Any]
    max_memory: str | None

    def __call__(
        self, parameters: Parameters, start: Result | None
    ) -> tuple[Result, dict[str, Any]]:
        began, application = time.perf_counter(), APPLICATIONS[self.kind]
        chosen = {**self.fixed, **parameters}
        _check(chosen, self.max_memory)
        if digest_of(self.file) != self.digest:
            raise FormatError("is not the file that the sweep began with", path=self.file)
        settings = {name: chosen[name] for name in SETTINGS}
        own = {str(one.name): chosen[str(one.name)] for one in application.options}
        chosen["say"] = None
        model = application.build(self.file, chosen)
        left = target.left(settings["max_seconds"], began)
        result = solved(
            application,
            model,
            {**settings, "max_seconds": left},
            max_memory=self.max_memory,
            warm_start=start,
        )
        undisturbed(result)
        answer, said = answered(application, model, result, chosen)
        return result, {
            "application": application.name,
            "file": self.file,
            "digest": self.digest,
            "options": kept(application, model, own),
            "settings": settings,
            "answer": said,
            "figures": application.figures(model, result, answer),
            "picture": pictured(application, model, result, answer),
        }


def _variable(application: Application) -> list[click.Option]:
    """What --vary may name."""
    settings = [one for one in solve.params if one.name in SETTINGS]
    return [*application.options, *(one for one in settings if isinstance(one, click.Option))]


def _check(chosen: dict[str, Any], max_memory: str | None) -> None:
    """Refuse bad limits before the file is read."""
    Stop(chosen["tol"], chosen["max_iters"], chosen["max_seconds"])
    bytes_of(max_memory, "--max-memory")
    memory.checked(chosen["storage"])


def _ending(out: str) -> str:
    """Where everything is."""
    return escape_terminal(f"The table is in {out}/{CSV}, and each result in {out}/points.")
