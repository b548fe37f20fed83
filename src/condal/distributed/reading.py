"""Folders of shards, of which each rank reads its own rows."""

from __future__ import annotations

import os
import shlex

from condal.distributed.team import Team
from condal.errors import FormatError
from condal.io.formats.contents import digest_of
from condal.io.formats.signatures import is_shard_folder
from condal.io.safe_files import PathLike, first_bytes
from condal.io.shards.folder import GraphRows, ShardFolder

__all__ = ["GraphRows", "read_rows"]


def read_rows(path: PathLike, team: Team) -> GraphRows:
    """Read this rank's rows of the matrix that `condal.formats.read_graph` returns.

    Every rank calls it. Each reads the manifest, and those pieces of the shards that hold its rows.
    If one rank cannot, or sees another folder than the others, all raise one error.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of shards, which `condal convert` or `condal.formats.write_shards` made.
    team : Team
        The ranks.

    Returns
    -------
    GraphRows
        The rows and their labels.
    """
    name = os.fsdecode(path)
    with team.together():
        _require_folder(name)
        folder = ShardFolder.open(name)
        digest = digest_of(name)
    team.require_same(digest, f"the manifest of {team.agreed(name)} (SHA-256)")
    begin, end = team.range(folder.manifest.n)
    with team.together():
        return folder.rows(begin, end)


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
