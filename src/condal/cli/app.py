"""The commands: demo, solve, info, experiment, bench."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import click

import condal
from condal import demo as demonstration
from condal import methods
from condal.cli import memory, report, target
from condal.cli.bench import bench
from condal.cli.experiment import experiment
from condal.cli.graph import advice, facts
from condal.cli.group import Commands
from condal.cli.interrupts import Interrupts
from condal.cli.text import printable, table
from condal.formats import read_graph
from condal.methods.rules import Decr, LineSearch
from condal.problems import max_cut
from condal.progress import Progress
from condal.solve import Stop
from condal.types import Method

METHODS: dict[str, Callable[[], Method | None]] = {
    "auto": lambda: None,
    "cgal": condal.CGAL,
    "cgal-decr": lambda: condal.CGAL(sigma=Decr()),
    "cgal-ls": lambda: condal.CGAL(eta=LineSearch()),
    "cgal-fc": methods.corrective,
    "lowrank": methods.LowRankCGAL,
    "splitting": methods.Splitting,
    "hcgm": condal.hcgm,
    "fw-al": methods.fwal,
    "ial": methods.IAL,
    "upd": methods.UPD,
    "aupd": methods.AUPD,
}


@click.group(
    "condal",
    cls=Commands,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 80,
        "show_default": True,
    },
)
@click.version_option(condal.__version__, prog_name="condal", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Large convex problems, solved with a proof of how good the answer is.

    \b
    Example:
      condal demo

    Exit codes: 0 solved; 1 stopped before the tolerance was proved (a limit, an
    interruption, an infeasible problem); 2 bad input or usage; 130 aborted by a
    second Ctrl-C.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command()
@click.pass_context
def demo(context: click.Context) -> None:
    """Solve an example and explain it; no file is needed.

    Two channels for 2,000 radio stations, in about ten seconds.

    \b
    Example:
      condal demo
    """
    result = demonstration.run(click.echo, watch=_watched())
    context.exit(report.exit_code(result))


@cli.command()
@click.argument("file", type=click.Path())
@click.option("--as", "kind", type=click.Choice(["max-cut"]), required=True, help="The problem.")
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
    "--trials",
    type=click.IntRange(min=1),
    default=100,
    metavar="N",
    help="Cuts to try, the best of which is kept.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Of all that is random."
)
@click.option("--json", "json_target", metavar="FILE", help="Write the result there; - for stdout.")
@click.option("--cut", "cut_target", metavar="FILE", help="Write each vertex's side, 1 or -1.")
@click.option("--quiet", is_flag=True, help="Print errors only, and the JSON if asked for.")
@click.pass_context
def solve(
    context: click.Context,
    file: str,
    kind: str,
    method: str,
    tol: float,
    max_iters: int | None,
    max_seconds: float | None,
    storage: str,
    trials: int,
    seed: int,
    json_target: str | None,
    cut_target: str | None,
    quiet: bool,
) -> None:
    """Solve the problem in FILE and prove how good the answer is.

    FILE is a graph in rudy (Gset), Matrix Market or Rutherford-Boeing (.rb)
    format, plain or packed with gzip or xz. Ctrl-C stops and tells what was
    reached; a second one aborts.

    \b
    Example:
      condal solve G1.txt --as max-cut --tol 1e-2 --json result.json
    """
    Stop(tol, max_iters, max_seconds)  # refuses bad limits before the file is read
    memory.checked(storage)
    if json_target is not None:
        target.check(json_target, file)
    if cut_target is not None:
        target.check(cut_target, file, "--cut")
    model = max_cut(read_graph(file), name=kind)
    x = memory.build(storage, model, seed)
    with _watched(quiet) as progress:
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
    cut = None if result.x is None else model.round(result, trials=trials, seed=seed)
    if not quiet:
        say = partial(click.echo, err=json_target == target.STDOUT)
        say(f"\n{kind} of {printable(Path(file).name)}\n")
        say(table(report.summary(model, result, cut)))
    if json_target is not None:
        target.write_record(json_target, report.record(result, cut))
    if cut_target is not None and cut is not None:
        target.write_signs(cut_target, cut.signs)
    context.exit(report.exit_code(result))


@cli.command()
@click.argument("file", type=click.Path())
def info(file: str) -> None:
    """Tell what graph is in FILE, and what a solve would take.

    \b
    Example:
      condal info G1.txt
    """
    W = read_graph(file)
    click.echo(f"{printable(Path(file).name)}\n")
    click.echo(table(facts(W)))
    click.echo(f"\n{advice(W, file)}")


cli.add_command(experiment)
cli.add_command(bench)


@contextmanager
def _watched(quiet: bool = False) -> Iterator[Progress | None]:
    """The progress of a solve, and a Ctrl-C that stops it."""
    progress = None if quiet else Progress()
    say = (lambda _: None) if progress is None else progress.note
    with Interrupts(say), progress or nullcontext():
        yield progress


def main() -> None:
    """The entry point of `condal`."""
    cli.main(prog_name="condal")
