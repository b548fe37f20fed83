"""A graph that PT-Scotch renumbered is the same graph, with fewer edges between ranks."""

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import refused_by_all

import condal
import condal_mpi
from condal.errors import CondalError, FormatError, MissingExtra
from condal.io.formats import read_labelled_graph
from condal.problems import max_cut, theta
from condal_mpi import partition, write_shards
from condal_mpi.graphs import in_file_order, read_rows
from condal_mpi.halo import with_halo
from condal_mpi.partition import partition_graph, partition_numbers, renumbered
from condal_mpi.shards.folder import ShardFolder
from shuffled import shuffled_torus

SIDE = 24
N = SIDE * SIDE


def torus():
    """A shuffled torus with loops."""
    return sp.csr_array(shuffled_torus(SIDE) + sp.diags(np.arange(N) % 3.0))


@pytest.fixture
def folders(team, shared):
    """The torus with labels, as it is numbered and as PT-Scotch numbers it."""
    old, new = shared / "old", shared / "new"
    if team.rank == 0:
        write_shards(old, torus(), shards=3, labels=5 * np.arange(N) + 1)
    team.comm.Barrier()
    partition_graph(old, new, team)
    return old, new


def fetched(path, team):
    """The rows of other ranks that all ranks need."""
    return team.sum(float(with_halo(read_rows(path, team).W, team)[1].size))


def test_it_is_the_same_graph_with_fewer_edges_between_ranks(team, folders):
    old, new = folders
    (W, labels), (V, same) = map(read_labelled_graph, folders)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(V, part), getattr(W, part))
    np.testing.assert_array_equal(same, labels)
    manifest = ShardFolder.open(new).manifest
    assert manifest.renumbered
    assert len(manifest.shards) == team.size
    rows = read_rows(new, team)
    np.testing.assert_array_equal(
        np.sort(np.concatenate(team.gathered(rows.numbers))), np.arange(N)
    )
    np.testing.assert_array_equal(rows.labels, labels[rows.numbers])
    assert team.size == 1 or fetched(new, team) < 0.5 * fetched(old, team)


def test_any_other_number_of_ranks_has_fewer_edges_between_them(folders):
    old, new = folders
    for count in (2, 3, 5, 8):
        cut = []
        for path in (old, new):
            entries = sp.coo_array(ShardFolder.open(path).rows(0, N).W)
            cut.append(np.sum(entries.row * count // N != entries.col * count // N))
        assert cut[1] < 0.5 * cut[0]


def test_answers_are_in_the_numbering_of_the_user(team, folders):
    W = torus()
    model = condal_mpi.read_max_cut(folders[1], team)
    result = condal_mpi.solve(model)
    assert result.status is condal.Status.SOLVED
    plain = condal_mpi.solve(condal_mpi.read_max_cut(folders[0], team))
    assert result.objective == pytest.approx(plain.objective, rel=1e-3)
    cut = model.round(result)
    if team.rank == 0:
        assert max_cut(W).weight(cut.signs) == pytest.approx(cut.weight, rel=1e-12)
    bipartite = condal_mpi.read_theta(folders[1], team)
    stable = bipartite.round(condal_mpi.solve(bipartite, tol=5e-2, max_iters=20))
    if team.rank == 0:
        vertices = np.asarray(stable.vertices)
        assert stable.size == vertices.size > 0
        assert not theta(W).W[vertices][:, vertices].nnz


def test_values_go_back_to_the_order_of_the_file(team):
    begin, end = team.range(20)
    order = np.random.default_rng(0).permutation(20)
    for numbers, wanted in ((order, np.argsort(order)), (None, np.arange(20))):
        own = None if numbers is None else numbers[begin:end]
        ordered = in_file_order(np.arange(begin, end), own, team)
        np.testing.assert_array_equal(ordered, wanted if team.rank == 0 else [])


def test_any_permutation_is_carried_out(team, shared):
    if team.rank == 0:
        write_shards(shared / "old", torus())
    team.comm.Barrier()
    W, order = torus(), np.random.default_rng(1).permutation(N)
    begin, end = team.range(N)
    rows = renumbered(read_rows(shared / "old", team), np.argsort(order)[begin:end], team)
    assert (W[order][:, order][begin:end] != rows.W).nnz == 0
    assert rows.W.has_canonical_format
    np.testing.assert_array_equal(rows.numbers, order[begin:end])


@pytest.mark.parametrize("n", [5, 40])
def test_small_graphs_and_graphs_without_edges_are_numbered(team, n):
    begin, end = team.range(n)
    numbers = partition_numbers(sp.csr_array((end - begin, n)), team)
    np.testing.assert_array_equal(np.sort(np.concatenate(team.gathered(numbers))), np.arange(n))


def test_what_cannot_be_done_is_refused_by_all_and_leaves_nothing(team, folders, monkeypatch):
    old, new = folders
    before = sorted(path.name for path in new.parent.iterdir())
    with refused_by_all(team, CondalError, "holds an earlier conversion"):
        partition_graph(old, new, team)

    def failing(*_):
        raise OSError(28, "No space left on device")

    if team.rank == team.size - 1:
        monkeypatch.setattr(partition, "write_shard", failing)
    with pytest.raises(FormatError, match="cannot be written: No space left"):
        partition_graph(old, new.with_name("other"), team)
    team.comm.Barrier()
    assert sorted(path.name for path in new.parent.iterdir()) == before


def test_without_pt_scotch_the_order_that_needs_none_is_named(team, folders, monkeypatch):
    monkeypatch.setattr(partition, "LIBRARY", "absent")
    with refused_by_all(team, MissingExtra, r"built without PT-Scotch .* --order rcm"):
        partition_graph(folders[0], folders[0].with_name("other"), team)
