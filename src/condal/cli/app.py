"""The command line `condal`: commands that are imported when they are called, and errors as a line
and an exit code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from condal.errors import CondalError
from condal.runtime.extras import LAB, MPI, part
from condal.runtime.lazy import uncollected
from condal.runtime.text import did_you_mean, escape_terminal
from condal.runtime.version import __version__

BAD_INPUT = 2
INTERNAL = 70  # EX_SOFTWARE of sysexits.h
HELP = "condal.help"  # key in a context's meta: the help command to suggest in errors
TRACEBACK = "CONDAL_TRACEBACK"
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


class Commands(click.Group):
    """A group that imports a command when it is called and reports an error in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *ELSEWHERE]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; an error for an unknown one suggests the nearest."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            hint = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"No such command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            with uncollected():
                _import_scipy()
                module = import_module(f"condal.cli.{cmd_name}")
            self.commands[cmd_name] = getattr(module, cmd_name)
        if cmd_name in ELSEWHERE and cmd_name not in self.commands:
            package, _ = ELSEWHERE[cmd_name]
            what = f"condal {cmd_name}"
            with uncollected():
                self.commands[cmd_name] = part("commands", cmd_name, package=package, what=what)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        for package in dict.fromkeys(package for package, _ in ELSEWHERE.values()):
            with formatter.section(f"Commands of {package} (pip install {package})"):
                listed = ELSEWHERE.items()
                formatter.write_dl([(name, line) for name, (of, line) in listed if of == package])

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command and exit: 2 for an error of the user, 70 for an internal error, 130 for a
        Ctrl-C that aborts."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except click.Abort:  # click raises it for a KeyboardInterrupt
            from condal.runtime.limits import ABORTED

            click.echo("condal: interrupted", err=True)
            sys.exit(ABORTED)
        except click.ClickException as error:
            _refuse(_usage(error))
        except CondalError as error:
            _refuse(str(error))
        except MemoryError:
            _refuse("out of memory; try --storage sketch:10, or a machine with more")
        except Exception as error:
            _report_internal(error)
        sys.exit(code if isinstance(code, int) else 0)


def _import_scipy() -> None:
    """Import SciPy without parts of NumPy that no command needs.

    SciPy copies every name of NumPy, and NumPy imports some parts when they are asked for: its
    tests, f2py and others, a third of the time that `import scipy.sparse` takes.
    """
    import numpy as np

    kept = np.__all__, np.__dir__
    np.__all__ = [name for name in kept[0] if name in vars(np)]
    vars(np)["__dir__"] = lambda: list(np.__all__)
    try:
        import scipy.sparse  # noqa: F401
    finally:
        np.__all__, vars(np)["__dir__"] = kept


def _usage(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.NoSuchOption):  # click lists several options, some of them far
        hint = did_you_mean(error.option_name, _options(error.ctx))
        text = f"No such option {error.option_name!r}{hint}"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{text}; see {error.ctx.meta.get(HELP, f'{error.ctx.command_path} --help')}"
    return text


def _options(ctx: click.Context | None) -> list[str]:
    parameters = [] if ctx is None else ctx.command.get_params(ctx)
    return [name for parameter in parameters for name in parameter.opts if name.startswith("--")]


def _refuse(message: str) -> NoReturn:
    click.echo(f"condal: error: {escape_terminal(message)}", err=True)
    sys.exit(BAD_INPUT)


def _report_internal(error: Exception) -> NoReturn:
    """Report an unexpected error and exit."""
    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exception(error)
    what = escape_terminal(" ".join(f"{type(error).__name__}: {error}".split()))
    click.echo(
        f"condal: internal error: {what}; please report it with the command and the file "
        f"({TRACEBACK}=1 shows where it is)",
        err=True,
    )
    sys.exit(INTERNAL)


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
