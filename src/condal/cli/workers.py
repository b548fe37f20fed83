"""--workers: who does the work of commands that solve many problems."""

from __future__ import annotations

import click

from condal.sweeps.workers import SCHEME


def _hired(_: click.Context, option: click.Parameter, value: str | None) -> int | str | None:
    """A number of processes, or an address as it is."""
    if value is None or SCHEME in value:
        return value
    count = int(value) if value.isascii() and value.isdigit() else 0
    if count < 1:
        raise click.BadParameter(
            f"{value!r} is no number of processes, 1 or more, and no address of a Dask scheduler, "
            "such as tcp://host:8786",
            param=option,
        )
    return count


workers = click.option(
    "--workers",
    metavar="N|ADDRESS",
    callback=_hired,
    help="Processes to use, all cores if not given; or the Dask scheduler to ask, tcp://host:8786.",
)
