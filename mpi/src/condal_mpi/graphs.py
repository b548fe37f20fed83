"""Graphs whose rows are owned by ranks: as they are given, and as they are read."""

from __future__ import annotations

import os
import shlex
from abc import abstractmethod
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from condal.errors import FormatError, ProblemError
from condal.io.formats.signatures import digest_of, is_shard_folder
from condal.io.safe_files import PathLike, first_bytes
from condal.linalg.points import Array, Indices, Point
from condal.problems.models import RoundedModel, Trials
from condal.runtime.arguments import refuse_complex
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


Rounded = TypeVar("Rounded")


@dataclass(frozen=True, eq=False, repr=False)
class GraphModel(RoundedModel[Rounded]):
    """A relaxation of a problem of a graph, of which each rank has some rows.

    All ranks round together. Every rank has the size of the answer; only the first has the answer
    itself, in the user's order.

    Parameters
    ----------
    block : csr_array
        This rank's rows of the graph, with n columns and without self-loops.
    team : Team
        The ranks.
    name : str
        The name of the problem.
    numbers : ndarray of int, optional
        The numbers of this rank's rows in the graph as the user numbers it, from 0; by default they
        are stored in that order.
    """

    block: Any = field(repr=False)
    team: Team = field(repr=False)
    name: str = ""
    numbers: Any = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.block.shape[1])

    @property
    def side(self) -> int:
        """The rows of this rank, by which x calls its shape."""
        return int(self.block.shape[0])

    def _rounded(self, x: Point, trials: Trials) -> tuple[float, Any]:
        with self.team.solving():
            R: Any = x.factor()  # type: ignore[union-attr]  # of a LowRank point
            found = (self._trial(R.local, trial, trials) for trial in trials)
            size, own = max(found, key=itemgetter(0))
            return size, in_file_order(own, self.numbers, self.team)

    @abstractmethod
    def _trial(self, R: Array, trial: int, trials: Trials) -> tuple[float, Any]:
        """Return the size of the answer of a trial, and what this rank's vertices are in it."""


def graph_rows(block: Any, team: Team, without_edges: str) -> Any:
    """Return this rank's rows of a graph as a CSR array without loops and zeros.

    ProblemError on all ranks if the rows of one are not its own, or hold NaN; or if there are no
    edges, for the reason `without_edges`.
    """
    own = own_entries(block, team, "W", "the number of vertices")
    begin, _ = team.range(block.shape[1])
    edge = (own.row.astype(np.int64) + begin != own.col) & (own.data != 0)
    entries = own.data[edge].astype(np.float64), (own.row[edge], own.col[edge])
    W = sp.csr_array(entries, shape=block.shape)
    if team.sum(float(W.nnz)) == 0:
        raise ProblemError(f"the graph has no edges: {without_edges}; nothing to solve")
    return W


def own_entries(block: Any, team: Team, name: str, columns: str) -> Any:
    """Return this rank's rows of a sparse matrix, called `name` in errors, as a COO array.

    ProblemError on all ranks if the rows of one are not its own, are complex or hold NaN, or if the
    ranks differ in `columns`, the number of columns.
    """
    team.require_alike()
    with team.together():
        if not sp.issparse(block):
            raise ProblemError(
                f"the rows of {name} must be a SciPy sparse array; got {type(block).__name__}"
            )
        refuse_complex(block.dtype, name)
        begin, end = team.range(block.shape[1])
        if block.shape[0] != end - begin:
            raise ProblemError(
                f"rank {team.rank} owns the rows {begin} to {end - 1} of {block.shape[1]}; got "
                f"{block.shape[0]} rows"
            )
        own = sp.coo_array(block)
        if not np.all(np.isfinite(own.data)):
            raise ProblemError(f"the entries of {name} hold NaN or infinity: clean the data first")
    team.require_same(block.shape[1], columns)
    return own
