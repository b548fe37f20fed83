"""The command `convert`: a graph file as a folder of shards."""

from __future__ import annotations

import shlex

import click

from condal.cli.settings import refuse_crowd
from condal.errors import MissingExtra, ProblemError
from condal.runtime.limits import bytes_of, size
from condal.runtime.text import escape_terminal, table
from condal_mpi.commands.ranks import silence_others
from condal_mpi.shards.convert import FILE_ORDER, MAX_MEMORY, ORDERS, convert_graph
from condal_mpi.shards.manifest import Manifest

PARTITION = "partition"  # the order that ranks find together


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
@click.option(
    "--order",
    type=click.Choice((*ORDERS, PARTITION)),
    default=FILE_ORDER,
    help="The order in which the rows are stored; answers keep the numbering of FILE. rcm and "
    "partition bring neighbours together, so that ranks exchange less.",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier folder of shards.")
def convert(
    file: str, folder: str, shards: int | None, max_memory: str, order: str, overwrite: bool
) -> None:
    """Convert the graph in FILE to a folder of shards, for ranks.

    \b
    Example:
      condal convert BIG.mtx BIG.shards
      mpirun -n 4 condal solve BIG.shards --as max-cut --distributed

    FILE may have any format of graphs. A file of any length is converted within
    the memory, and DIR appears complete or not at all. Each rank then reads its
    own rows of DIR, on any number of ranks. All other commands take DIR like a
    file.

    With --order rcm (reverse Cuthill-McKee), one process reads the graph whole.
    With --order partition, FILE is a folder of shards, which all ranks that
    mpirun has started divide by PT-Scotch:

    \b
      mpirun -n 4 condal convert BIG.shards BIG.parts --order partition
    """
    bytes_of(max_memory, "--max-memory")
    if order == PARTITION:
        manifest = _partition(file, folder, shards, overwrite=overwrite)
    else:
        refuse_crowd(f"start it once; only --order {PARTITION} takes several ranks")
        from rich.console import Console

        with Console(stderr=True).status("starting") as status:  # on a terminal only
            manifest = convert_graph(
                file,
                folder,
                shards=shards,
                max_memory=max_memory,
                overwrite=overwrite,
                order=order,
                progress=lambda step, done, of: status.update(
                    f"{step} {done:,} of {of:,}" if of else f"{step} {done:,}"
                ),
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


def _partition(file: str, folder: str, shards: int | None, *, overwrite: bool) -> Manifest:
    """Renumber a folder of shards on all ranks; the first prints for all."""
    from condal_mpi import Team, partition_graph

    try:
        team = Team()
    except MissingExtra as error:
        raise MissingExtra(f"{error}; --order rcm needs neither MPI nor PETSc") from None
    silence_others(team)
    if shards is not None:
        raise ProblemError(
            f"--order {PARTITION} does not take --shards: each rank writes its own shards"
        )
    return partition_graph(file, folder, team, overwrite=overwrite)
