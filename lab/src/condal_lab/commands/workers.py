"""What commands that solve many problems share: --workers, and what Ctrl-C leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from condal.cli.result_text import STOPPED
from condal.runtime.text import escape_terminal
from condal_lab.sweeps.workers import SCHEME


def _parse(_: click.Context, option: click.Parameter, value: str | None) -> int | str | None:
    """Return a number of processes, or an address unchanged."""
    if value is None or SCHEME in value:
        return value
    count = int(value) if value.isascii() and value.isdigit() else 0
    if count < 1:
        raise click.BadParameter(
            f"{value!r} is neither a number of processes, 1 or more, nor the address of a Dask "
            "scheduler, such as tcp://host:8786",
            param=option,
        )
    return count


workers = click.option(
    "--workers",
    metavar="N|ADDRESS",
    callback=_parse,
    help="The number of processes (default: one per core), or the address of a Dask scheduler, "
    "such as tcp://host:8786.",
)


@contextmanager
def resumable(
    context: click.Context, out: str, how: str = "repeat the command to resume"
) -> Iterator[None]:
    """Context manager: Ctrl-C ends the command, and says how to resume what is in the folder."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\nstopped; finished runs are in {escape_terminal(out)}: {how}")
        context.exit(STOPPED)
