from __future__ import annotations

import gzip
import lzma

import numpy as np
import pytest

from condal.errors import FormatError
from condal.io.formats import read_graph, read_labelled_graph, write_matrix_market, write_rudy

EDGE = np.array([[0.0, 2], [2, 0]])
RUDY = b"2 1\n1 2 2\n"
METIS = b"2 1 1\n2 2\n1 2\n"
LIST = b"1,2,2\n"
MARKET = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 2\n"


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("g.txt", RUDY),
        ("g", b"\xef\xbb\xbf" + RUDY),
        ("g.rud.gz", gzip.compress(RUDY)),
        ("g.txt", MARKET),
        ("g.mtx", MARKET),
        ("g.mtx", b"\xef\xbb\xbf" + MARKET.lower().replace(b"\n", b"\r\n")),
        ("g.mtx.xz", lzma.compress(MARKET)),
        ("no.mtx.here.txt", RUDY),
        ("g.graph", METIS),
        ("g.graph.gz", gzip.compress(METIS)),
        ("g.METIS", METIS),
        ("g.csv", LIST),
        ("g.edges.xz", lzma.compress(LIST)),
        ("g.txt", b"# Undirected graph\n# Nodes: 2\n0\t1\t2\n"),
    ],
)
def test_picks_the_reader(put, name, contents):
    np.testing.assert_array_equal(read_graph(put(contents, name)).toarray(), EDGE)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("g.mtx", "the first line must be '%%MatrixMarket"),
        ("g.txt", "the first line must be 'n m'"),
    ],
)
def test_a_bad_banner_is_refused(put, name, message):
    with pytest.raises(FormatError, match=message):
        read_graph(put(MARKET[1:], name))


@pytest.mark.parametrize("name", ["p.dat-s", "p.DAT-S.xz"])
def test_a_semidefinite_program_is_no_graph(put, name):
    contents = b"1\n1\n2\n1.0\n0 1 1 2 1.0\n1 1 1 1 1.0\n"
    packed = lzma.compress(contents) if name.endswith("xz") else contents
    with pytest.raises(FormatError, match="semidefinite program, not a graph; condal solve takes"):
        read_graph(put(packed, name))


def test_path_may_be_text(put):
    assert read_graph(str(put(RUDY))).shape == (2, 2)


@pytest.mark.parametrize("path", [None, 3])
def test_path_must_be_a_path(path):
    with pytest.raises(TypeError):
        read_graph(path)


def test_reads_back_what_was_written(tmp_path):
    write_rudy(tmp_path / "g.gz", EDGE)
    np.testing.assert_array_equal(read_graph(tmp_path / "g.gz").toarray(), EDGE)


def test_writes_matrix_market_too(tmp_path):
    write_matrix_market(tmp_path / "g.mtx.gz", EDGE)
    np.testing.assert_array_equal(read_graph(tmp_path / "g.mtx.gz").toarray(), EDGE)
    write_matrix_market(tmp_path / "g.mtx", EDGE)
    assert (tmp_path / "g.mtx").read_bytes() == MARKET


def test_labels_are_those_of_an_edge_list_and_else_count(put):
    assert read_labelled_graph(put(b"7 90 2\n", "g.el"))[1].tolist() == [7, 90]
    assert read_labelled_graph(put(RUDY))[1].tolist() == [1, 2]
