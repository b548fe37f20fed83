"""One place where errors become a line on stderr and an exit code."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from condal.cli.interrupts import ABORTED
from condal.cli.text import printable
from condal.errors import CondalError

BAD_INPUT = 2


class Commands(click.Group):
    """A group whose errors are all one line, `condal: error: ...`."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run a command and exit: 2 for an error of the user's, 130 for a Ctrl-C that aborts."""
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
        sys.exit(code if isinstance(code, int) else 0)


def _usage(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{text}; see {error.ctx.command_path} --help"
    return text


def _refuse(message: str) -> NoReturn:
    click.echo(f"condal: error: {printable(message)}", err=True)
    sys.exit(BAD_INPUT)
