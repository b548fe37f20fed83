"""Shards in another order hold the same graph, and give it back in the user's own numbering."""

import numpy as np
import pytest
import scipy.sparse as sp

import commands
import condal
from condal.errors import ProblemError
from condal.io.formats import read_graph, read_labelled_graph
from condal.problems import max_cut
from condal_mpi import convert_graph, write_shards
from condal_mpi.shards.folder import ShardFolder
from shuffled import shuffled_torus

SIDE = 12
N = SIDE * SIDE


def bandwidth(W):
    entries = sp.coo_array(W)
    return int(np.abs(entries.row - entries.col).max())


@pytest.fixture
def graph(tmp_path):
    W, labels = shuffled_torus(SIDE), 7 * np.arange(N) + 2
    i, j = sp.triu(W).nonzero()
    lines = (f"{labels[a]} {labels[b]} {W[a, b]:g}\n" for a, b in zip(i, j, strict=True))
    path = tmp_path / "graph.el"
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("shards", [None, 5])
def test_cuthill_mckee_stores_neighbours_together_and_gives_the_graph_back(graph, shards):
    folder = graph.with_name("near")
    convert_graph(graph, folder, order="rcm", shards=shards)
    (W, labels), (V, same) = read_labelled_graph(graph), read_labelled_graph(folder)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(V, part), getattr(W, part))
    np.testing.assert_array_equal(same, labels)
    stored = ShardFolder.open(folder)
    assert stored.manifest.renumbered
    rows = stored.rows(0, N)
    np.testing.assert_array_equal(np.sort(rows.numbers), np.arange(N))
    np.testing.assert_array_equal(labels[rows.numbers], rows.labels)
    assert (W[rows.numbers][:, rows.numbers] != rows.W).nnz == 0
    assert bandwidth(rows.W) < 3 * SIDE < bandwidth(W)


def test_rows_without_labels_count_from_1_in_the_file(tmp_path):
    write_shards(tmp_path / "file", shuffled_torus(SIDE))
    convert_graph(tmp_path / "file", tmp_path / "near", order="rcm")
    rows = ShardFolder.open(tmp_path / "near").rows(5, 9)
    np.testing.assert_array_equal(rows.labels, rows.numbers + 1)
    assert ShardFolder.open(tmp_path / "file").rows(5, 9).numbers.tolist() == [5, 6, 7, 8]


def test_what_was_ordered_can_be_ordered_again(graph):
    near, back = graph.with_name("near"), graph.with_name("back")
    convert_graph(graph, near, order="rcm")
    convert_graph(near, back)
    assert not ShardFolder.open(back).manifest.renumbered
    assert (read_graph(back) != read_graph(graph)).nnz == 0


def test_the_cut_is_one_of_the_graph_as_the_user_numbers_it(graph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert commands.run("convert", "graph.el", "near", "--order", "rcm").exit_code == 0
    assert "renumbered for ranks" in commands.run("info", "near").output
    words = ("solve", "near", "--as", "max-cut", "--out", "signs", "--quiet")
    assert commands.run(*words).exit_code == 0
    model = max_cut(read_graph(graph))
    signs = np.loadtxt("signs")
    best = condal.solve(model)
    assert model.weight(signs) == model.round(best).weight


def test_an_unknown_order_is_refused(graph):
    with pytest.raises(ProblemError, match="order must be one of file, rcm; got 'metis'"):
        convert_graph(graph, graph.with_name("other"), order="metis")
    assert not graph.with_name("other").exists()
    ended = commands.run("convert", str(graph), str(graph.with_name("other")), "--order", "metis")
    assert ended.exit_code == 2
