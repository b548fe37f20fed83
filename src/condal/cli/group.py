"""One place where errors become a line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, NoReturn

import click

from condal.errors import CondalError
from condal.runtime.signals import ABORTED
from condal.runtime.text import escape_terminal

BAD_INPUT = 2
INTERNAL = 70  # EX_SOFTWARE of sysexits.h
HELP = f"{__name__}.help"  # in the meta of a context: what to type for help, if not the obvious
TRACEBACK = "CONDAL_TRACEBACK"


class Commands(click.Group):
    """A group whose errors are all one line, `condal: error: ...`."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command and exit: 2 for an error of the user's, 70 for one of our own, 130 for a
        Ctrl-C that aborts."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except click.Abort:  # click's own name for a KeyboardInterrupt
            sys.exit(ABORTED)
        except click.ClickException as error:
            _refuse(_usage(error))
        except CondalError as error:
            _refuse(str(error))
        except MemoryError:
            _refuse("out of memory; try --storage sketch:10, or a machine with more")
        except Exception as error:
            _confess(error)
        sys.exit(code if isinstance(code, int) else 0)


def _usage(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{text}; see {error.ctx.meta.get(HELP, f'{error.ctx.command_path} --help')}"
    return text


def _refuse(message: str) -> NoReturn:
    click.echo(f"condal: error: {escape_terminal(message)}", err=True)
    sys.exit(BAD_INPUT)


def _confess(error: Exception) -> NoReturn:
    """The last resort: an error that nobody thought of."""
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    what = escape_terminal(" ".join(f"{type(error).__name__}: {error}".split()))
    click.echo(
        f"condal: internal error: {what}; please report it with the command and the file "
        f"({TRACEBACK}=1 shows where it is)",
        err=True,
    )
    sys.exit(INTERNAL)
