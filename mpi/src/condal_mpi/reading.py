"""Folders of shards, of which each rank reads its own rows."""

from __future__ import annotations

import os
import shlex
from typing import Any

import numpy as np

from condal.errors import FormatError
from condal.io.formats.signatures import digest_of, is_shard_folder
from condal.io.safe_files import PathLike, first_bytes
from condal.linalg.points import Indices
from condal_mpi.halo import row_starts, sent_to_ranks
from condal_mpi.shards.folder import GraphRows, ShardFolder, refuse_numbering
from condal_mpi.team import Team

__all__ = ["GraphRows", "in_file_order", "read_rows"]


def read_rows(path: PathLike, team: Team) -> GraphRows:
    """Read this rank's rows of a graph, in the order in which they are stored.

    Every rank calls it. Each reads the manifest, and those pieces of the shards that hold its rows.
    If one rank cannot, or sees another folder than the others, all raise one error.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of shards, which `condal convert` or `condal_mpi.write_shards` made.
    team : Team
        The ranks.

    Returns
    -------
    GraphRows
        The rows, their labels, and their numbers in the matrix that `condal.formats.read_graph`
        returns.
    """
    name = os.fsdecode(path)
    with team.together():
        _require_folder(name)
        folder = ShardFolder.open(name)
        digest = digest_of(name)
    team.require_same(digest, f"the manifest of {team.agreed(name)} (SHA-256)")
    begin, end = team.range(folder.manifest.n)
    with team.together():
        rows = folder.rows(begin, end)
    if folder.manifest.renumbered:
        distinct = _are_distinct(rows.numbers, rows.n, team)
        with team.together():
            if not distinct:
                refuse_numbering(folder)
    return rows


def _are_distinct(numbers: Indices, n: int, team: Team) -> bool:
    """Whether no two rows have the same number, as far as this rank owns these numbers."""
    begin, end = team.range(n)
    ordered = np.sort(numbers)
    received = sent_to_ranks(ordered, np.searchsorted(ordered, row_starts(n, team)), team)
    return int(np.bincount(received - begin, minlength=end - begin).max()) <= 1


def in_file_order(values: Any, numbers: Indices | None, team: Team) -> Any:
    """Return the values of the rows of all ranks in the order of the converted file.

    `numbers` are those of this rank's rows there; None if they are stored in that order. Only the
    first rank gets the values; the others get an empty array.
    """
    whole, places = (team.comm.gather(each, root=0) for each in (values, numbers))
    if whole is None:
        return values[:0]
    stored = np.concatenate(whole)
    if numbers is None:
        return stored
    ordered = np.empty_like(stored)
    ordered[np.concatenate(places)] = stored
    return ordered


def _require_folder(name: str) -> None:
    """Refuse a graph file, with the command that converts it."""
    if is_shard_folder(name):
        return
    first_bytes(name, 1)  # raises where it cannot be read
    command = f"condal convert {shlex.quote(name)} {shlex.quote(name + '.shards')}"
    raise FormatError(
        f"is read by one process only; ranks read a folder of shards: make it once with {command}",
        path=name,
    )
