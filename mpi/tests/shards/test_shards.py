"""A folder of shards gives back its graph, in whole or in parts, and refuses any damage."""

import damaged_shards
import numpy as np
import pytest
import scipy.sparse as sp
from damaged_shards import DAMAGES

import commands
from condal.errors import FormatError, ProblemError
from condal.io.formats import read_graph, read_labelled_graph
from condal.io.formats.signatures import digest_of
from condal_mpi import write_shards
from condal_mpi.shards import shard
from condal_mpi.shards.folder import ShardFolder, row_cuts


@pytest.mark.parametrize("piece", [1, 7, 50, 1 << 20])
@pytest.mark.parametrize("shards", [None, 1, 3, 40])
@pytest.mark.parametrize("labelled", [False, True])
def test_any_rows_are_read_from_any_shards(piece, shards, labelled, tmp_path, monkeypatch):
    monkeypatch.setattr(shard, "PIECE_NUMBERS", piece)
    W = damaged_shards.graph()
    labels = 3 * np.arange(len(W.indptr) - 1) + 5 if labelled else np.arange(1, 41)
    write_shards(tmp_path / "g", W, shards=shards, labels=labels if labelled else None)
    whole, own = read_labelled_graph(tmp_path / "g")
    assert (whole != W).nnz == 0
    assert whole.has_canonical_format
    np.testing.assert_array_equal(own, labels)
    folder = ShardFolder.open(tmp_path / "g")
    assert len(folder.manifest.shards) == (1 if shards is None else shards)
    for begin, end in ((0, 1), (0, 40), (13, 14), (9, 31), (39, 40)):
        rows = folder.rows(begin, end)
        assert rows.n == 40
        assert (W[begin:end] != rows.W).nnz == 0
        np.testing.assert_array_equal(rows.labels, labels[begin:end])


def test_only_the_pieces_of_the_rows_are_read(tmp_path, monkeypatch):
    """Damage elsewhere in the shard is not seen, and where the rows are it is."""
    monkeypatch.setattr(shard, "PIECE_NUMBERS", 20)
    write_shards(tmp_path / "g", damaged_shards.graph())
    file = tmp_path / "g" / "0000.rows"
    file.write_bytes(damaged_shards._flip(file.read_bytes()))
    folder = ShardFolder.open(tmp_path / "g")
    assert folder.rows(0, 20).W.shape == (20, 40)
    with pytest.raises(FormatError, match="does not match its SHA-256"):
        folder.rows(20, 40)


def test_a_graph_without_edges_and_rows_without_entries(tmp_path):
    write_shards(tmp_path / "none", sp.csr_array((4, 4)), shards=3)
    assert read_graph(tmp_path / "none").nnz == 0
    W = sp.csr_array(([2.0, 2.0], ([0, 4], [4, 0])), shape=(5, 5))
    write_shards(tmp_path / "few", W, shards=5)
    assert (read_graph(tmp_path / "few") != W).nnz == 0


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_refused(name, tmp_path):
    damage, text = DAMAGES[name]
    folder = damaged_shards.put(tmp_path / "g")
    damage(folder)
    with pytest.raises(FormatError) as caught:
        read_graph(folder)
    assert text in str(caught.value)


def test_what_is_not_symmetric_is_refused(tmp_path):
    """Rows of two graphs, under one manifest whose digests are right."""
    W = damaged_shards.graph()
    for name, scale in (("one", 1.0), ("two", 2.0)):
        write_shards(tmp_path / name, scale * W, shards=3)
    damage = damaged_shards._shard(
        1, sha256=ShardFolder.open(tmp_path / "two").manifest.shards[1].sha256
    )
    damage(tmp_path / "one")
    (tmp_path / "two" / "0001.rows").replace(tmp_path / "one" / "0001.rows")
    with pytest.raises(FormatError, match="W is not symmetric"):
        read_graph(tmp_path / "one")


@pytest.mark.parametrize("shards", [1, 2, 9, 100])
def test_every_shard_has_rows_and_about_equal_loads(shards):
    rng = np.random.default_rng(0)
    loads = rng.pareto(1.0, 100).astype(int)
    ends = row_cuts(np.arange(101), np.concatenate([[0], np.cumsum(loads)]), shards)
    assert ends[0] == 0
    assert ends[-1] == 100
    assert len(ends) == shards + 1
    assert (np.diff(ends) >= 1).all()
    flat = row_cuts(np.arange(101), 3 * np.arange(101), shards)
    assert np.ptp(np.diff(flat)) <= 1


def test_labels_must_be_whole_numbers_for_all_rows(tmp_path):
    for labels in ([1, 2], [0.5] * 40):
        with pytest.raises(ProblemError, match="labels must be 40 whole numbers"):
            write_shards(tmp_path / "g", damaged_shards.graph(), labels=labels)
    with pytest.raises(ProblemError, match="W is not symmetric"):
        write_shards(tmp_path / "g", np.triu(np.ones((3, 3))))
    assert list(tmp_path.iterdir()) == []


def test_the_commands_take_a_folder_of_shards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text(commands.PENTAGON)
    ended = commands.run("convert", "g.txt", "g.shards", "--shards", "2")
    assert ended.exit_code == 0
    assert "mpirun -n 4 condal solve g.shards --as max-cut --distributed" in ended.output
    ended = commands.run("info", "g.shards")
    assert "converted from        g.txt" in ended.output
    assert "vertices              5" in ended.output
    assert commands.run("solve", "g.shards", "--as", "max-cut", "--save", "run").exit_code == 0
    assert commands.run("certify", "g.shards", "run").exit_code == 0
    before = digest_of("g.shards")
    assert commands.run("convert", "g.txt", "g.shards").exit_code == 2
    assert commands.run("convert", "g.txt", "g.shards", "--overwrite").exit_code == 0
    assert digest_of("g.shards") != before
    ended = commands.run("certify", "g.shards", "run")
    assert ended.exit_code != 0
