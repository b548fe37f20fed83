"""The command `bench`: ours against every peer that is installed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from condal.cli.report import STOPPED
from condal.cli.text import WIDTH, table
from condal.errors import ProblemError
from condal.report.progress import clock
from condal.runtime.text import escape_terminal

if TYPE_CHECKING:
    from condal.lab.bench.cases import Set
    from condal.lab.bench.figures import FigureVerdict
    from condal.lab.bench.job import BenchRun
    from condal.lab.bench.results import Results
    from condal.lab.bench.run import BenchPlan as Plan

OUT = "benchmarks/results"


@click.command()
@click.argument("sets", nargs=-1, metavar="SET...")
@click.option("--list", "listing", is_flag=True, help="List sets and peers, and do nothing else.")
@click.option("--peers", metavar="NAMES", help="Peers to run, by commas; all if not given.")
@click.option("--instances", metavar="NAMES", help="Instances to run, by commas.")
@click.option(
    "--tol",
    type=click.FloatRange(min=0, min_open=True),
    metavar="TOL",
    help="The error to reach, for all; else that of each instance.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    metavar="S",
    help="CPU time that a solver has for an instance.",
)
@click.option("--out", default=OUT, metavar="DIR", help="Where the results go, and stay.")
@click.option("--data", metavar="DIR", help="Where the public data are.")
@click.option("--resume", is_flag=True, help="Leave out runs that DIR has already.")
@click.pass_context
def bench(
    context: click.Context,
    sets: tuple[str, ...],
    listing: bool,
    peers: str | None,
    instances: str | None,
    tol: float | None,
    max_seconds: float,
    out: str,
    data: str | None,
    resume: bool,
) -> None:
    """Run condal and its peers on sets of instances, and compare.

    Every solver runs in a process of its own, on one thread, and every answer
    is judged by condal's certificate. Times are those of the solve: without
    the start of Python, imports, and the making of a peer's data. In DIR are
    bench-SET.json, bench-SET.md and a performance profile.

    Data are looked for in --data, $CONDAL_DATA and the user's cache, else
    downloaded; where there are none, generated instances stand in.

    \b
    Examples:
      condal bench --list
      condal bench quick
      condal bench gset --instances G1 --peers pymanopt,scs
    """
    from condal.lab.bench import SETS, named  # takes a second, which the other commands do not owe
    from condal.lab.bench.peers import chosen
    from condal.lab.bench.profile import draw, require_matplotlib
    from condal.lab.bench.results import load
    from condal.lab.bench.run import BenchPlan as Plan

    if listing:
        click.echo(_listing())
        return
    if not sets:
        raise ProblemError(f"which set? There are {', '.join(SETS)}; see condal bench --list")
    picked = named(sets)
    require_matplotlib()
    wanted = tuple(word.strip() for word in (instances or "").split(",") if word.strip())
    _require_instances(picked, wanted)
    plan = Plan(chosen(peers), Path(out), max_seconds, tol, wanted, data, resume)
    try:
        for one in picked:
            if plan.cases(one):
                _run(one, plan)
    except KeyboardInterrupt:
        click.echo(
            f"\nstopped; what is done is kept in {escape_terminal(out)}: --resume goes on there"
        )
        context.exit(STOPPED)
    everything = [found for name in SETS if (found := load(plan.folder, name)) is not None]
    for path in draw(everything, plan.folder / "bench-profile", "all results"):
        click.echo(f"  {escape_terminal(str(path))}")


def _run(one: Set, plan: Plan) -> None:
    """A set: its runs, its tables, its figures, its files."""
    from condal.io.formats.writing import write_text
    from condal.lab.bench.figures import verdicts
    from condal.lab.bench.profile import draw
    from condal.lab.bench.results import save
    from condal.lab.bench.run import run_set
    from condal.lab.bench.table import page

    click.echo(f"\n{one.name}: {one.title}\n")
    began = time.perf_counter()
    results = run_set(one, plan, say=_say, done=_done)
    found = verdicts(results)
    save(plan.folder, results, [verdict.record() for verdict in found])
    write_text(plan.folder / f"bench-{one.name}.md", [page(one, results, found)])
    _print(one, results, found)
    stem = plan.folder / f"bench-{one.name}"
    files = [stem.with_suffix(suffix) for suffix in (".json", ".md")]
    files += draw([results], stem, f"{one.name}: {one.title}")
    click.echo(f"\nin {clock(time.perf_counter() - began)}:")
    for path in files:
        click.echo(f"  {escape_terminal(str(path))}")


def _print(one: Set, results: Results, found: list[FigureVerdict]) -> None:
    """The tables, in 80 columns."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from condal.lab.bench.table import HEAD, RATIOS, UNTOLD, heading, judged, notes, rows, shown

    console = Console(width=WIDTH, highlight=False, markup=False, emoji=False)
    for case in results.cases:
        console.print(Text(f"\n{heading(one, results, case)}", style="bold"))
        grid = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        for name in HEAD:
            ends = name in ("solver", "proved of")
            grid.add_column(name, justify="left" if ends else "right", no_wrap=True)
        for cells in rows(results, case):
            grid.add_row(*cells)
        console.print(grid)
        for note in notes(results.of(case)):
            console.print(Text(f"  {note}"))
    console.print(Text(f"\n{RATIOS}. * is more than asked."))
    told, rest = shown(found)
    if told:
        grid = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        for name in ("figure", "at most", "measured", "verdict"):
            grid.add_column(name, justify="right" if name in ("at most", "measured") else "left")
        for verdict in told:
            grid.add_row(*judged(verdict))
        console.print(Text(""))
        console.print(grid)
    if rest:
        console.print(Text(f"\n{UNTOLD.format(rest)}"))


def _say(line: str) -> None:
    click.echo(f"  {escape_terminal(line)}", err=True)


def _done(run: BenchRun) -> None:
    took = "" if run.cpu is None else f", {run.cpu:.2f} s"
    error = f", error {run.error:.0e}" if run.error == run.error else ""
    click.echo(f"  {run.case}: {run.solver} {run.outcome}{took}{error}", err=True)


def _require_instances(picked: list[Set], wanted: tuple[str, ...]) -> None:
    known = [case.name for one in picked for case in one.cases]
    for name in wanted:
        if name.lower() not in {one.lower() for one in known}:
            raise ProblemError(f"there is no instance {name!r} here; there are {', '.join(known)}")


def _listing() -> str:
    from condal.lab.bench import PEERS, SETS, installed

    here = installed()
    sets = [(one.name, one.title) for one in SETS.values()]
    peers = [
        (name, here.get(name, f"not installed: {peer.install}")) for name, peer in PEERS.items()
    ]
    return f"sets\n{table(sets)}\n\npeers\n{table(peers)}"
