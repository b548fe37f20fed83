"""A group of commands that imports them on demand and turns errors into a line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NoReturn

import click

from condal.errors import CondalError
from condal.runtime.extras import part
from condal.runtime.lazy import uncollected
from condal.runtime.text import did_you_mean, escape_terminal

BAD_INPUT = 2
INTERNAL = 70  # EX_SOFTWARE of sysexits.h
HELP = f"{__name__}.help"  # key in a context's meta: the help command to suggest in errors
TRACEBACK = "CONDAL_TRACEBACK"


class Name(click.Choice):  # type: ignore[type-arg]  # click 8.1 has no type argument
    """One of several names; an error suggests the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            text = error.message.rstrip(".") + did_you_mean(value, self.choices)
            raise click.BadParameter(text, ctx, param) from None


class LazyGroup(click.Group):
    """A group that imports a command when it is called and reports an error in one line.

    `lazy` maps the name of a command to the first line of its help. The command NAME is the
    function NAME of the module `package`.NAME. `elsewhere` maps the name of a command of another
    package to that package and the first line of its help.
    """

    def __init__(
        self,
        *args: Any,
        package: str,
        lazy: Mapping[str, str],
        elsewhere: Mapping[str, tuple[str, str]],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._package, self._lazy, self._elsewhere = package, lazy, elsewhere

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._lazy, *self._elsewhere]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; an error for an unknown one suggests the nearest."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            hint = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"No such command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name in self._lazy and cmd_name not in self.commands:
            with uncollected():
                module = import_module(f"{self._package}.{cmd_name}")
            self.commands[cmd_name] = getattr(module, cmd_name)
        if cmd_name in self._elsewhere and cmd_name not in self.commands:
            package, _ = self._elsewhere[cmd_name]
            what = f"condal {cmd_name}"
            with uncollected():
                self.commands[cmd_name] = part("commands", cmd_name, package=package, what=what)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lazy.items()))
        for package in dict.fromkeys(package for package, _ in self._elsewhere.values()):
            with formatter.section(f"Commands of {package} (pip install {package})"):
                listed = self._elsewhere.items()
                formatter.write_dl([(name, line) for name, (of, line) in listed if of == package])

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command and exit: 2 for an error of the user, 70 for an internal error, 130 for a
        Ctrl-C that aborts."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except click.Abort:  # click raises it for a KeyboardInterrupt
            from condal.runtime.signals import ABORTED

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
