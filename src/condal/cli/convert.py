"""The command `convert`: a graph file as a folder of shards."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress
from typing import Any

import click

from condal.io.shards.convert import MAX_MEMORY, convert_graph
from condal.runtime.memory import bytes_of, size
from condal.runtime.text import escape_terminal, table


@click.command()
@click.argument("file", type=click.Path())
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option(
    "--shards",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of shards; by default one per 8 million rows and entries. It need not be the "
    "number of ranks.",
)
@click.option(
    "--max-memory",
    default=MAX_MEMORY,
    metavar="SIZE",
    help="The memory that the conversion may use.",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier folder of shards.")
def convert(file: str, folder: str, shards: int | None, max_memory: str, overwrite: bool) -> None:
    """Convert the graph in FILE to a folder of shards, for ranks.

    \b
    Example:
      condal convert BIG.mtx BIG.shards
      mpirun -n 4 condal solve BIG.shards --as max-cut --distributed

    FILE may have any format of graphs. A file of any length is converted within
    the memory, and DIR appears complete or not at all. Each rank then reads its
    own rows of DIR, on any number of ranks. All other commands take DIR like a
    file.
    """
    bytes_of(max_memory, "--max-memory")
    with _Status() as status:
        manifest = convert_graph(
            file,
            folder,
            shards=shards,
            max_memory=max_memory,
            overwrite=overwrite,
            progress=status,
        )
    sizes = [shard.bytes for shard in manifest.shards]
    rows = [
        ("vertices", f"{manifest.n:,}"),
        ("stored entries", f"{manifest.entries:,}"),
        ("shards", f"{len(sizes):,}, {size(sum(sizes))} in total"),
    ]
    shown = escape_terminal(shlex.quote(folder))
    click.echo(f"{escape_terminal(folder)}\n\n{table(rows)}")
    click.echo(f"\nNext:\n\n  mpirun -n 4 condal solve {shown} --as max-cut --distributed")


class _Status:
    """The step that a conversion is at, on a terminal."""

    def __init__(self) -> None:
        self._status: Any = None

    def __enter__(self) -> _Status:
        if sys.stderr.isatty() and os.environ.get("TERM") not in (None, "dumb", "unknown"):
            with suppress(ImportError):
                from rich.console import Console

                self._status = Console(file=sys.stderr).status("starting")
                self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, step: str, done: int, of: int) -> None:
        if self._status is not None:
            self._status.update(f"{step} {done:,} of {of:,}" if of else f"{step} {done:,}")
