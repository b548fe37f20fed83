"""The commands: demo, info, solve, resume, certify, show, report, sweep, experiment, bench."""

from __future__ import annotations

from pathlib import Path

import click

import condal
from condal.cli import demo as demonstration
from condal.cli import report
from condal.cli.bench import bench
from condal.cli.certify import certify
from condal.cli.experiment import experiment
from condal.cli.graph import advice, facts
from condal.cli.group import Commands
from condal.cli.report_page import report as report_page
from condal.cli.resume import resume
from condal.cli.show import show
from condal.cli.solve import solve
from condal.cli.sweep import sweep
from condal.cli.text import table
from condal.io.formats import read_graph
from condal.report.progress import Progress
from condal.runtime.text import escape_terminal


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
    interruption, an infeasible problem); 2 bad input or usage; 70 an error of
    condal's own; 130 aborted by a second Ctrl-C; 143 ended by SIGTERM.
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
    result = demonstration.run(click.echo, watch=Progress())
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
    click.echo(f"{escape_terminal(Path(file).name)}\n")
    click.echo(table(facts(W)))
    click.echo(f"\n{advice(W, file)}")


cli.add_command(solve)
cli.add_command(resume)
cli.add_command(certify)
cli.add_command(show)
cli.add_command(report_page)
cli.add_command(sweep)
cli.add_command(experiment)
cli.add_command(bench)


def main() -> None:
    """The entry point of `condal`."""
    cli.main(prog_name="condal")
