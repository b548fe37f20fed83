"""Renumber the vertices of a graph so that ranks have few edges between them.

PT-Scotch divides the graph into many parts by nested bisections. The vertices are then numbered
part by part: the first half of the rows is one side of the first bisection, the first quarter one
side of the next, and so on. Ranks own consecutive rows, so any number of them has few edges to
others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import MissingExtra, ProblemError
from condal.io.container.atomic import write_errors
from condal.io.safe_files import PathLike
from condal.linalg.points import Indices
from condal_mpi.graphs import read_rows
from condal_mpi.halo import row_starts, sent_to_ranks, with_halo
from condal_mpi.shards.folder import SHARD_NUMBERS, GraphRows, ShardFolder, new_folder, row_cuts
from condal_mpi.shards.manifest import MAX_SHARDS, Manifest, ShardRecord
from condal_mpi.shards.shard import write_shard
from condal_mpi.team import Team, engine

MAX_PARTS, MIN_PART_ROWS = 1024, 16
LIBRARY = "ptscotch"  # as PETSc names it
PREFIX, PARTS_OPTION = "condal_", "mat_partitioning_nparts"


def partition_graph(
    path: PathLike, folder: PathLike, team: Team | None = None, *, overwrite: bool = False
) -> Manifest:
    """Write a graph with its vertices renumbered so that ranks have few edges between them.

    Every rank calls it. The new folder holds the numbers that the vertices had: answers are given
    in the user's own numbering, and any number of ranks can read it. It appears whole or not at
    all. PT-Scotch on several ranks may divide the same graph in another way the next time.

    Parameters
    ----------
    path : str or os.PathLike
        A folder of shards, which `condal convert` made.
    folder : str or os.PathLike
        The folder to make, on a disk that all ranks see.
    team : Team, optional
        The ranks; by default all. Together they hold the graph, about three times.
    overwrite : bool
        Replace an earlier folder of shards; nothing else is ever overwritten.

    Returns
    -------
    Manifest
        The rows, entries and digests of the shards.

    Raises
    ------
    MissingExtra
        If PETSc was built without PT-Scotch.
    """
    team = Team() if team is None else team
    with team.solving():
        with team.together():
            require_ptscotch()
        with _shared_folder(folder, team, overwrite=overwrite) as new:
            rows = read_rows(path, team)
            with team.together():
                old = ShardFolder.open(path).manifest
            rows = renumbered(rows, partition_numbers(rows.W, team), team)
            records = _write(new, rows, team, labelled=old.labelled)
            manifest = Manifest(old.source, old.n, old.labelled, True, records)
            with team.together(), write_errors(folder):
                if team.rank == 0:
                    manifest.write(new)
    return manifest


def require_ptscotch() -> None:
    """Raise MissingExtra unless PETSc has PT-Scotch."""
    if not engine().PETSc.Sys.hasExternalPackage(LIBRARY):
        raise MissingExtra(
            "this PETSc was built without PT-Scotch (--download-ptscotch; Debian's has it); "
            "--order rcm of condal convert, in one process, needs SciPy alone"
        )


def partition_numbers(block: Any, team: Team) -> Indices:
    """Return the new numbers of this rank's rows, given these rows of a graph."""
    n, rows = int(block.shape[1]), int(block.shape[0])
    parts = min(MAX_PARTS, 1 << max(n // MIN_PART_ROWS, 1).bit_length() - 1)
    part = _parts(block, parts, team) if parts > 1 else np.zeros(rows, dtype=np.int64)
    counts = np.bincount(part, minlength=parts).astype(np.int64)
    before, total = np.zeros_like(counts), np.empty_like(counts)
    team.comm.Exscan(counts, before)  # leaves the zeros of the first rank
    team.comm.Allreduce(counts, total)
    firsts = np.cumsum(total) - total + before
    order = np.argsort(part, kind="stable")
    numbers = np.empty(rows, dtype=np.int64)
    within = np.arange(rows) - np.repeat(np.cumsum(counts) - counts, counts)
    numbers[order] = firsts[part[order]] + within
    return numbers


def _parts(block: Any, parts: int, team: Team) -> Indices:
    """Return the part of each row of this rank, by PT-Scotch."""
    PETSc, (begin, _) = engine().PETSc, team.range(block.shape[1])
    own = sp.coo_array(block)
    edge = own.row.astype(np.int64) + begin != own.col
    places = own.row[edge], own.col[edge]
    graph = sp.csr_array((np.ones(places[0].size), places), shape=block.shape)
    graph.sort_indices()
    with team.together():
        if graph.nnz >= np.iinfo(PETSc.IntType).max:
            raise ProblemError(
                f"rank {team.rank} has {graph.nnz} entries, which this PETSc cannot count: start "
                "more ranks, or use a PETSc with 64-bit indices"
            )
    csr = (graph.indptr.astype(PETSc.IntType), graph.indices.astype(PETSc.IntType), graph.data)
    matrix = PETSc.Mat().createAIJ([(block.shape[0], block.shape[1])] * 2, csr=csr, comm=team.comm)
    options, partitioning, part = PETSc.Options(PREFIX), PETSc.MatPartitioning(), PETSc.IS()
    options[PARTS_OPTION] = parts
    try:
        partitioning.create(team.comm)
        partitioning.setOptionsPrefix(PREFIX)
        partitioning.setAdjacency(matrix)
        partitioning.setType(LIBRARY)
        partitioning.setFromOptions()
        partitioning.apply(part)
        return part.getIndices().astype(np.int64)
    finally:
        options.delValue(PARTS_OPTION)
        for each in (part, partitioning, matrix):
            each.destroy()


def renumbered(rows: GraphRows, new: Indices, team: Team) -> GraphRows:
    """Return the rows of this rank of the same graph, when row k of this rank becomes new[k]."""
    n, (begin, end) = rows.n, team.range(rows.n)
    own, halo = with_halo(rows.W, team)
    columns = halo(new)[own.indices]
    order = np.argsort(new)
    counts = np.diff(own.indptr)
    entries = sp.csr_array((np.arange(own.nnz), own.indices, own.indptr), own.shape)[order].data
    cuts = np.searchsorted(new[order], row_starts(n, team))
    ends = np.concatenate([[0], np.cumsum(counts[order])])[cuts]
    place, labels, numbers, lengths = (
        sent_to_ranks(values[order].astype(np.int64, copy=False), cuts, team)
        for values in (new, rows.labels, rows.numbers, counts)
    )
    columns, weights = (
        sent_to_ranks(values[entries], ends, team) for values in (columns, own.data)
    )
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    W = sp.csr_array((weights, columns, indptr), shape=(end - begin, n))
    back = np.argsort(place)
    W = sp.csr_array(W[back])
    W.sort_indices()
    return GraphRows(W, labels[back], numbers[back])


@contextmanager
def _shared_folder(path: PathLike, team: Team, *, overwrite: bool) -> Iterator[Path]:
    """Let the first rank make a folder for all, which takes its name when the block ends."""
    with ExitStack() as stack:
        new = None
        with team.together():
            if team.rank == 0:
                new = stack.enter_context(new_folder(os.fsdecode(path), overwrite=overwrite))
        yield team.agreed(new)  # type: ignore[misc]  # the first rank has one
        with team.together():
            stack.close()


def _write(folder: Path, rows: GraphRows, team: Team, *, labelled: bool) -> tuple[ShardRecord, ...]:
    """Write the shards of this rank; return the records of those of all ranks."""
    begin, end = team.range(rows.n)
    numbers = int(team.sum(float(rows.W.nnz))) + rows.n
    if team.size > MAX_SHARDS:
        raise ProblemError(
            f"each rank writes a shard, and a folder has at most {MAX_SHARDS}; got {team.size} "
            "ranks: start fewer of them"
        )
    each = min(-(-numbers // (SHARD_NUMBERS * team.size)), MAX_SHARDS // team.size)
    each = min(each, rows.n // team.size)
    before = rows.W.indptr.astype(np.int64) + np.arange(end - begin + 1)
    cuts = row_cuts(np.arange(end - begin + 1), before, each)
    records: list[ShardRecord] = []
    with team.together(), write_errors(folder):
        for k, (a, b) in enumerate(pairwise(cuts)):
            labels = rows.labels[a:b] if labelled else None
            number = team.rank * each + k
            records.append(
                write_shard(folder, number, begin + a, rows.W[a:b], labels, rows.numbers[a:b])
            )
    return tuple(record for some in team.gathered(records) for record in some)
