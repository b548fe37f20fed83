import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from condal.errors import FormatError
from condal.io.formats import (
    read_graph,
    read_labelled_graph,
    write_edge_list,
    write_matrix_market,
    write_metis,
    write_rudy,
)

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


@pytest.mark.parametrize("path", [None, 3])
def test_path_must_be_a_path(path):
    with pytest.raises(TypeError):
        read_graph(path)


WEIGHTS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60).map(float)
WRITERS = {
    "rudy.txt": write_rudy,
    "market.mtx": write_matrix_market,
    "metis.graph": write_metis,  # without self-loops
    "list.edges": write_edge_list,  # without vertices that have no edge
    "list.csv": write_edge_list,
    "list.tsv": write_edge_list,
}


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(1, 6),
    entries=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), WEIGHTS), max_size=12),
    name=st.sampled_from(sorted(WRITERS)),
    packing=st.sampled_from(["", ".gz", ".xz"]),
)
def test_round_trips_are_exact(tmp_path_factory, n, entries, name, packing):
    write, W = WRITERS[name], np.zeros((n, n))
    if write is write_edge_list:
        W[n - 1] = W[:, n - 1] = 1.0
    for i, j, w in entries:
        if (i % n != j % n or write is not write_metis) and (w or write is not write_edge_list):
            W[i % n, j % n] = W[j % n, i % n] = w
    path = tmp_path_factory.getbasetemp() / f"{name}{packing}"
    write(path, sparse.csr_array(W))
    found, labels = read_labelled_graph(path)
    np.testing.assert_array_equal(found.toarray(), W)
    np.testing.assert_array_equal(labels, np.arange(1, n + 1))


def test_writes_matrix_market(tmp_path):
    write_matrix_market(tmp_path / "g.mtx", EDGE)
    assert (tmp_path / "g.mtx").read_bytes() == MARKET


def test_labels_are_those_of_an_edge_list_and_else_count(put):
    assert read_labelled_graph(put(b"7 90 2\n", "g.el"))[1].tolist() == [7, 90]
    assert read_labelled_graph(put(RUDY))[1].tolist() == [1, 2]
