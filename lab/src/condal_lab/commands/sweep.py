"""The command `sweep`: one file, solved for several values of its options.

`--vary NAME=VALUES` names them; each value is checked as if it were typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.command import ApplicationCommand, kind_in
from condal.cli.result_text import SOLVED, STOPPED
from condal.cli.session import drawn, interpret
from condal.cli.settings import PARAMETERS, SETTINGS, check_settings, settings_of
from condal.cli.solve import solve, solve_model
from condal.errors import FormatError
from condal.io.formats.signatures import digest_of
from condal.result import Result
from condal.runtime.limits import TimeLimit
from condal.runtime.text import escape_terminal
from condal_lab.commands.workers import resumable, workers
from condal_lab.sweeps.folder import SweepFolder
from condal_lab.sweeps.progress import Lines
from condal_lab.sweeps.run import run, undisturbed
from condal_lab.sweeps.tasks import Parameters, chains
from condal_lab.sweeps.workers import Workers

_RANGE = re.compile(r"(-?[0-9]{1,9}):(-?[0-9]{1,9})(?::([1-9][0-9]{0,8}))?")
MAX_VALUES = 1_000_000  # of a range A:B


def grid(words: Iterable[str], options: Sequence[click.Option]) -> dict[str, list[Any]]:
    """Return the values of each option by its name, in the given order."""
    values_of: dict[str, list[Any]] = {}
    for word in words:
        given, _, values = word.partition("=")
        option = named(given, options)
        if option is None or not values:
            known = ", ".join(each.opts[0].removeprefix("--") for each in options)
            raise click.BadParameter(
                f"{word!r} is not NAME=VALUES, such as seed=0:10 or tol=1e-2,1e-3; NAME is one of "
                f"{known}",
                param_hint="--vary",
            )
        name = str(option.name)
        if name in values_of:
            raise click.BadParameter(
                f"{given} is varied twice; give all values at once", param_hint="--vary"
            )
        values_of[name] = [_cast(option, value) for value in split(values)]
    return values_of


def split(values: str) -> list[str]:
    """Split at commas; A:B gives the integers from A to B - 1, and A:B:S every S-th of them."""
    if match := _RANGE.fullmatch(values):
        numbers = range(int(match[1]), int(match[2]), int(match[3] or 1))
        if not 0 < len(numbers) <= MAX_VALUES:
            raise click.BadParameter(
                f"{values} has {len(numbers)} numbers: A:B goes from A to B - 1",
                param_hint="--vary",
            )
        return [f"{number}" for number in numbers]
    return values.split(",")


def named(given: str, options: Iterable[click.Option]) -> click.Option | None:
    """Return the option with a name, such as max-iters or max_iters."""
    wanted = "--" + given.replace("_", "-")
    return next((option for option in options if wanted in option.opts), None)


def words_of(args: Sequence[str]) -> list[str]:
    """Return the values of --vary in arguments that are not parsed yet."""
    after = [word for before, word in pairwise(args) if before == "--vary"]
    return after + [word.removeprefix("--vary=") for word in args if word.startswith("--vary=")]


def _cast(option: click.Option, word: str) -> Any:
    """Convert a word with the option's own type and callback."""
    try:
        if option.is_flag:
            return click.BOOL.convert(word, option, None)
        command = click.Command("vary", params=[option])
        return command.make_context("vary", [f"{option.opts[0]}={word}"]).params[str(option.name)]
    except click.BadParameter as error:
        text = f"{option.opts[0]}: {error.message}"
        raise click.BadParameter(text, param_hint="--vary") from None


CSV = "table.csv"
SOLVE_PARAMETERS = ("file", "kind", *SETTINGS, *PARAMETERS, "max_memory")


class Sweep(ApplicationCommand):
    """The command, with the options of the application; varied options need not be given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add --as if the name of the file implies it, and the first value of varied options."""
        every = [*self.implied(args), *args]
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
    help="An option above and its values: tol=1e-2,1e-3, or seed=0:10 for 0 to 9. Several --vary "
    "give all combinations.",
)
@click.option(
    "--along",
    metavar="NAME",
    help="Warm start each solve from the result for the previous value of NAME.",
)
@click.option("--out", required=True, metavar="DIR", help="The folder of the results.")
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
    """Solve FILE for several values of its options, in parallel.

    \b
    Examples:
      condal sweep G1.txt --as max-cut --vary seed=0:10 --out seeds
      condal sweep ratings.csv --as matrix-completion --vary radius=10,20,40 \\
        --along radius --out radii --workers tcp://host:8786

    Each result is saved in DIR when it is computed, as by condal solve --save.
    Results in DIR are not computed again: after Ctrl-C or a kill, repeat the
    command to resume. A point that fails does not stop the others. The options
    are those of condal solve: see condal sweep --as NAME --help.
    """
    application = APPLICATIONS[kind]
    varied = grid(vary, _variable(application))
    along = None if along is None else along.replace("-", "_")
    fixed = {name: value for name, value in chosen.items() if name not in varied}
    tasks = chains(varied, {**fixed, "max_memory": max_memory}, along)
    for task in (task for chain in tasks for task in chain):
        check_settings(settings_of({**fixed, **task.parameters}), max_memory)
    work = _Point(kind, str(Path(file).resolve()), digest_of(file), fixed, max_memory)
    folder = SweepFolder(out, f"{kind} of {Path(file).name} (SHA-256 {work.digest[:16]}...)")
    with resumable(context, out):
        table = run(work, tasks, folder, workers=Workers.of(workers), watch=Lines())
    table.to_csv(folder.path / CSV)
    click.echo(f"\n{table}\n\n{_ending(out)}")
    context.exit(SOLVED if all(row.solved for row in table) else STOPPED)


sweep.params = [*(p for p in solve.params if p.name in SOLVE_PARAMETERS), *sweep.params]


@dataclass(frozen=True)
class _Point:
    """The work of one point of a sweep: build, solve and describe."""

    kind: str
    file: str
    digest: str
    fixed: dict[str, Any]
    max_memory: str | None

    def __call__(
        self, parameters: Parameters, start: Result | None
    ) -> tuple[Result, dict[str, Any]]:
        application, chosen = APPLICATIONS[self.kind], {**self.fixed, **parameters}
        check_settings(settings_of(chosen), self.max_memory)
        limit = TimeLimit(chosen["max_seconds"])
        if digest_of(self.file) != self.digest:
            raise FormatError("is not the file that the sweep began with", path=self.file)
        settings = settings_of(chosen)
        chosen |= {"say": None, "limit": limit}
        model = application.build(self.file, chosen)
        reading = limit.seconds
        result = solve_model(
            application,
            model,
            settings,
            limit=limit,
            max_memory=self.max_memory,
            warm_start=start,
        )
        undisturbed(result)
        outcome = interpret(application, model, result, chosen, settings, reading=reading)
        about = {"file": self.file, "digest": self.digest, **drawn(outcome).about}
        return outcome.result, about


def _variable(application: Application) -> list[click.Option]:
    """Return the options that --vary may name."""
    names = (*SETTINGS, *PARAMETERS)
    settings = [p for p in solve.params if p.name in names and isinstance(p, click.Option)]
    return [*application.options, *settings]


def _ending(out: str) -> str:
    return escape_terminal(f"The table is in {out}/{CSV}, and the results are in {out}/points.")
