"""The command line `condal`: a group of commands, each imported when it is called."""

from __future__ import annotations

import click

from condal.cli.group import LazyGroup
from condal.runtime.extras import LAB, MPI
from condal.runtime.version import __version__

# The first line of each command's help. The command NAME is the function NAME of condal.cli.NAME.
COMMANDS = {
    "demo": "Solve an example and explain the result; no file is needed.",
    "info": "Summarise the graph in FILE and estimate the cost of a solve.",
    "solve": "Solve the problem in FILE and prove how good the answer is.",
    "resume": "Resume a solve from the checkpoint FILE.",
    "certify": "Prove or refute ANSWER, whatever solver it comes from.",
    "show": "Print saved results and how they were made.",
    "report": "Write saved results as one HTML page.",
    "completion": "Print or install the completion of commands and options.",
}
# The commands of other packages, which register them as entry points of the group condal.commands.
ELSEWHERE = {
    "sweep": (LAB, "Solve FILE for several values of its options, in parallel."),
    "experiment": (LAB, "Repeat an experiment of the CGAL paper, or all of them."),
    "bench": (LAB, "Compare condal with other solvers on sets of instances."),
    "convert": (MPI, "Convert the graph in FILE to a folder of shards, for ranks."),
}


@click.group(
    "condal",
    cls=LazyGroup,
    package="condal.cli",
    lazy=COMMANDS,
    elsewhere=ELSEWHERE,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 80,
        "show_default": True,
    },
)
@click.version_option(__version__, prog_name="condal", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Solve large convex problems and prove how good the answers are.

    \b
    Example:
      condal demo

    Exit codes: 0 solved; 1 stopped before the tolerance was proved (a limit, an
    interruption, an infeasible problem); 2 bad input or usage; 70 an internal
    error of condal; 130 aborted by a second Ctrl-C; 143 ended by SIGTERM.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    """Run `condal`."""
    cli.main(prog_name="condal")
