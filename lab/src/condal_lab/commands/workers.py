"""--workers: the processes of a command that solves many problems."""

from __future__ import annotations

import click

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
