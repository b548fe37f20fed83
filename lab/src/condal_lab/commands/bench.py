"""The command `bench`: compare condal with every other solver that is installed."""

from __future__ import annotations

import time
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from condal.errors import ProblemError
from condal.report.progress import clock
from condal.runtime.text import WIDTH, escape_terminal, table
from condal_lab.commands.workers import resumable

if TYPE_CHECKING:
    from condal_lab.bench.cases import Set
    from condal_lab.bench.results import BenchRun, Results
    from condal_lab.bench.run import BenchPlan

OUT = "lab/results"


@click.command()
@click.argument("sets", nargs=-1, metavar="SET...")
@click.option("--list", "listing", is_flag=True, help="List sets and peers and exit.")
@click.option("--peers", metavar="NAMES", help="Comma-separated peers to run; default: all.")
@click.option(
    "--instances", metavar="NAMES", help="Comma-separated instances to run; default: all."
)
@click.option(
    "--tol",
    type=click.FloatRange(min=0, min_open=True),
    metavar="TOL",
    help="The error to reach; default: the one of each instance.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    metavar="S",
    help="CPU time limit per solver and instance.",
)
@click.option("--out", default=OUT, metavar="DIR", help="The folder of the results.")
@click.option("--data", metavar="DIR", help="The folder of the public data.")
@click.option("--resume", is_flag=True, help="Skip runs that are already in DIR.")
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
    """Compare condal with other solvers on sets of instances.

    \b
    Examples:
      condal bench --list
      condal bench quick
      condal bench gset --instances G1 --peers pymanopt,scs

    Every solver runs in its own process on one thread, and condal's certificate
    judges every answer. Times are those of the solve alone, without the start of
    Python, imports and the preparation of a peer's data. DIR receives
    bench-SET.json, bench-SET.md and a performance profile.

    Data come from --data, $CONDAL_DATA or the user's cache, else they are
    downloaded; without data, generated instances are used.
    """
    from condal_lab.bench.peers import chosen
    from condal_lab.bench.profile import draw
    from condal_lab.bench.results import load
    from condal_lab.bench.run import BenchPlan
    from condal_lab.bench.sets import SETS, named

    if listing:
        click.echo(_listing())
        return
    if not sets:
        raise ProblemError(f"which set? There are {', '.join(SETS)}; see condal bench --list")
    selected = named(sets)
    wanted = tuple(word.strip() for word in (instances or "").split(",") if word.strip())
    _require_instances(selected, wanted)
    plan = BenchPlan(chosen(peers), Path(out), max_seconds, tol, wanted, data, resume)
    with resumable(context, out, "add --resume to continue"):
        for benchmark in selected:
            if plan.cases(benchmark):
                _run(benchmark, plan)
    everything = [results for name in SETS if (results := load(plan.folder, name)) is not None]
    for path in draw(everything, plan.folder / "bench-profile", "all results"):
        click.echo(f"  {escape_terminal(str(path))}")


def _run(benchmark: Set, plan: BenchPlan) -> None:
    """Run a set and write its tables and figures."""
    from condal.io.formats.writing import write_text
    from condal_lab.bench.profile import draw
    from condal_lab.bench.run import run_set
    from condal_lab.bench.table import page

    click.echo(f"\n{benchmark.name}: {benchmark.title}\n")
    began = time.perf_counter()
    results = run_set(benchmark, plan, say=_say, done=_done)
    write_text(plan.folder / f"bench-{benchmark.name}.md", [page(benchmark, results)])
    _print(benchmark, results)
    stem = plan.folder / f"bench-{benchmark.name}"
    files = [stem.with_suffix(suffix) for suffix in (".json", ".md")]
    files += draw([results], stem, f"{benchmark.name}: {benchmark.title}")
    click.echo(f"\nin {clock(time.perf_counter() - began)}:")
    for path in files:
        click.echo(f"  {escape_terminal(str(path))}")


def _print(benchmark: Set, results: Results) -> None:
    """Print the tables in 80 columns; for many small instances, the summary of each group."""
    from condal_lab.bench.table import (
        HEAD,
        RATIOS,
        SUMMARY,
        TOO_WIDE,
        growth,
        heading,
        notes,
        rows,
        summary,
    )
    from condal_lab.markdown import aligned

    if benchmark.compact:
        click.echo(aligned(SUMMARY, summary(benchmark, results), left=("group", "solver")))
        click.echo("\nx: condal's CPU time over the best rival's; below 1 favours condal")
        return
    kept = [at for at, name in enumerate(HEAD) if name not in TOO_WIDE]
    head = [HEAD[at] for at in kept]
    for case in results.cases:
        click.echo(f"\n{heading(benchmark, results, case)}\n")
        body = [[cells[at] for at in kept] for cells in rows(results, case)]
        click.echo(aligned(head, body, left=("solver", "proved of")))
        for note in notes(results.of(case), benchmark.case(case).quality):
            click.echo(
                fill(escape_terminal(note), WIDTH, initial_indent="  ", subsequent_indent="  ")
            )
    click.echo(f"\n{RATIOS}.\n* marks a gap above the tolerance.")
    for line in growth(benchmark, results):
        click.echo(f"\n{line}")


def _say(line: str) -> None:
    click.echo(f"  {escape_terminal(line)}", err=True)


def _done(run: BenchRun) -> None:
    took = "" if run.cpu is None else f", {run.cpu:.2f} s"
    error = f", error {run.error:.0e}" if run.error == run.error else ""
    click.echo(f"  {run.case}: {run.solver} {run.outcome}{took}{error}", err=True)


def _require_instances(selected: list[Set], wanted: tuple[str, ...]) -> None:
    known = [case.name for benchmark in selected for case in benchmark.cases]
    for name in wanted:
        if name.lower() not in {each.lower() for each in known}:
            raise ProblemError(f"there is no instance {name!r}; there are {', '.join(known)}")


def _listing() -> str:
    from condal_lab.bench.peers import PEERS, installed
    from condal_lab.bench.sets import SETS

    present = installed()
    sets = [(benchmark.name, benchmark.title) for benchmark in SETS.values()]
    peers = [
        (name, present.get(name, f"not installed: {peer.install}")) for name, peer in PEERS.items()
    ]
    return f"sets\n{table(sets)}\n\npeers\n{table(peers)}"
