"""The rows of all ranks, one under the other, are what `read_graph` gives; so are the errors."""

import re
from functools import cache
from pathlib import Path

import damaged_shards
import numpy as np
import pytest
import scipy.sparse as sp
from damaged_shards import DAMAGES
from sharded import refused_by_all

import condal_mpi
from condal.errors import CondalError, FormatError, ProblemError
from condal.io.formats import read_graph, read_labelled_graph
from condal.problems.graphs import adjacency
from condal_mpi import write_shards
from condal_mpi.graphs import read_rows
from condal_mpi.shards import shard
from condal_mpi.team import Team


@cache
def teams():
    """All ranks, and all but the last, if this one is among them."""
    team = Team()
    fewer = Team(team.comm.Split(0 if team.rank < team.size - 1 else 1))
    return [fewer, team] if team.rank < team.size - 1 else [team]


def on_first(team, make, path: Path) -> Path:
    """Let the first rank make what all see then."""
    if team.rank == 0:
        make(path)
    team.comm.Barrier()
    return path


@pytest.mark.parametrize("shards", [1, 3, 40])
@pytest.mark.parametrize("piece", [7, 1 << 20])
def test_any_number_of_ranks_reads_any_number_of_shards(shards, piece, shared, team, monkeypatch):
    monkeypatch.setattr(shard, "PIECE_NUMBERS", piece)
    labels = 3 * np.arange(40)
    path = on_first(
        team,
        lambda p: write_shards(p, damaged_shards.graph(), shards=shards, labels=labels),
        shared / "graph",
    )
    whole, _ = read_labelled_graph(path)
    for some in teams():
        rows = read_rows(path, some)
        assert rows.W.has_canonical_format
        blocks = some.gathered((rows.W, rows.labels))
        W = sp.csr_array(sp.vstack([block for block, _ in blocks]))
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(W, part), getattr(whole, part))
        np.testing.assert_array_equal(np.concatenate([own for _, own in blocks]), labels)
    team.comm.Barrier()


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_refused_by_all_with_one_message(name, shared, team):
    damage, text = DAMAGES[name]

    def make(path: Path) -> None:
        damaged_shards.put(path)
        damage(path)

    path = on_first(team, make, shared / "graph")
    for some in teams():
        with refused_by_all(some, FormatError, re.escape(text)):
            read_rows(path, some)
    team.comm.Barrier()


def test_a_graph_file_is_refused_with_the_command_that_converts_it(shared, team, monkeypatch):
    monkeypatch.chdir(shared)
    path = on_first(team, lambda p: p.write_text("9 1\n1 2\n"), shared / "my graph.txt")
    with pytest.raises(FormatError) as caught:
        read_rows(path.name, team)
    command = "condal convert 'my graph.txt' 'my graph.txt.shards'"
    assert str(caught.value) == (
        "my graph.txt: is read by one process only; ranks read a folder of shards: make it once "
        f"with {command}"
    )
    folder = on_first(team, lambda p: p.mkdir(), shared / "empty")
    with pytest.raises(FormatError, match="is a folder; wanted a regular file"):
        read_rows(folder, team)


def test_a_folder_that_one_rank_does_not_find_is_refused_by_all(shared, team):
    path = on_first(team, damaged_shards.put, shared / "there")
    given = path if team.rank < team.size - 1 else shared / "absent"
    with refused_by_all(team, CondalError, r"absent: cannot be read: No such file"):
        read_rows(given, team)


def test_copies_of_which_one_is_stale_are_refused_by_all(shared, monkeypatch, team):
    """As on disks of the nodes, each copy right by itself."""
    own = shared / f"{team.rank}"
    own.mkdir()
    monkeypatch.chdir(own)
    last = team.rank == team.size - 1
    write_shards("graph", (2.0 if last else 1.0) * damaged_shards.graph())
    with pytest.raises(ProblemError, match=r"the ranks differ in the manifest of graph"):
        read_rows("graph", team)


def test_more_ranks_than_vertices_are_refused(shared, team):
    path = on_first(team, lambda p: write_shards(p, np.zeros((1, 1))), shared / "few")
    if team.size > 1:
        with pytest.raises(ProblemError, match=f"1 rows cannot be shared by {team.size} ranks"):
            read_rows(path, team)


def test_loops_are_left_out_as_max_cut_does(shared, team):
    def make(path: Path) -> None:
        write_shards(path, damaged_shards.graph() + sp.diags(np.arange(40.0)).tocsr(), shards=3)

    path = on_first(team, make, shared / "graph")
    blocks = team.gathered(condal_mpi.read_max_cut(path, team).block)
    assert (sp.csr_array(sp.vstack(blocks)) != adjacency(read_graph(path))).nnz == 0
    empty = on_first(team, lambda p: write_shards(p, np.zeros((9, 9))), shared / "empty")
    with pytest.raises(ProblemError, match="the graph has no edges"):
        condal_mpi.read_max_cut(empty, team)
