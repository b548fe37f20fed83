"""METIS files: known graphs, round trips, and every fault with its line."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from condal.errors import FormatError, ProblemError
from condal.io.formats import numerals, read_metis, write_metis
from condal.io.formats.text import Text

PATH = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
WEIGHTED = np.array([[0.0, 2, 0], [2, 0, -1.5], [0, -1.5, 0]])


def parse(contents: str | bytes) -> sparse.csr_array:
    return read_metis(Text("g", contents.encode() if isinstance(contents, str) else contents))


@pytest.mark.parametrize(
    ("contents", "W"),
    [
        ("3 2\n2\n1 3\n2\n", PATH),
        ("3 2 0\n2\n3 1\n2", PATH),
        ("3 2 000\r\n2\r\n1 3\r\n2\r\n", PATH),
        ("% a comment\n\n3 2\n% of vertex 1\n2\n1\t3\n  % and 3\n2\n%\n\n\n", PATH),
        ("3 2 1\n2 2\n1 2 3 -1.5\n2 -15e-1\n", WEIGHTED),
        ("3 2 001\n2 2\n3 -1.5 1 2\n2 -1.5\n", WEIGHTED),
        ("3 2 10\n7 2\n0 1 3\n1 2\n", PATH),
        ("3 2 10 2\n7 7 2\n0 0 1 3\n1 1 2\n", PATH),
        ("3 2 11 1\n7 2 2\n0 1 2 3 -1.5\n1 2 -1.5\n", WEIGHTED),
        ("3 2 100\n5 2\n5 1 3\n5 2\n", PATH),
        ("3 2 111 2\n5 1 1 2 2\n5 1 1 1 2 3 -1.5\n5 1 1 2 -1.5\n", WEIGHTED),
        ("4 1\n\n4\n\n2\n", [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]),
        ("3 1\n2\n1\n", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
        ("1 0\n", [[0]]),
        ("2 0 10\n3\n4\n", [[0, 0], [0, 0]]),
        ("2 1 1\n2 0\n1 0\n", [[0, 0], [0, 0]]),
    ],
)
@pytest.mark.parametrize("block", [1, 1 << 23])
def test_reads_known_graphs(put, monkeypatch, block, contents, W):
    monkeypatch.setattr(numerals, "BLOCK_BYTES", block)
    found = read_metis(put(contents, "g.graph"))
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), W)


@pytest.mark.parametrize(
    ("contents", "line", "message"),
    [
        ("% nothing\n", None, "holds only comments; wanted a header"),
        ("3\n", 1, "the header must be 'n m'.*got '3'"),
        ("3 2 0 1 1\n", 1, "the header must be 'n m'"),
        ("x 2\n", 1, "number of vertices must be a whole number.*got 'x'"),
        ("3 -2\n", 1, "number of edges must be"),
        ("3 2 2\n", 1, "fmt must be up to three digits 0 or 1.*got '2'"),
        ("3 2 0011\n", 1, "fmt must be up to three digits"),
        ("3 2 1 1\n", 1, "1 weights per vertex, but fmt 1 says none; write 011"),
        ("3 2 10 0\n", 1, "0 weights per vertex; wanted 1 to 1000"),
        ("3 2 10 1000000000000\n", 1, "1000000000000 weights per vertex; wanted 1 to 1000"),
        ("0 0\n", 1, "0 vertices; wanted at least 1"),
        ("999999 1\n2\n1\n", 1, "999999 vertices, but 3 lines follow"),
        ("3 1000000000000\n2\n1 3\n2\n", 1, "1000000000000 edges, but the lines hold 2"),
        ("4 2\n2\n1 3\n2", 1, "4 vertices, but 3 lines follow; a vertex without neighbours has a"),
        ("2 1\n2\n% here\n0\n", 4, "got index 0, wanted 1 to 2; add 1 to all indices"),
        ("3 2\n2\n1 4\n2\n", 3, "got index 4, but the header says 3 vertices"),
        ("3 2\n2\n1 3.0\n2\n", 3, "an index must be a whole number from 1 to 3, got '3.0'"),
        ("3 2\n2\n1 -3\n2\n", 3, "an index must be .*got '-3'"),
        ("3 2\n2\n1 x\n2\n", 3, "an index must be .*got 'x'"),
        ("3 2\n2\n1 3 2\n2\n", 3, "vertex 2 is its own neighbour"),
        ("3 2\n2\n1 3\n\n", 3, "the edge to vertex 3 is given once: the line of vertex 3 does not"),
        ("3 2\n2\n1\n2\n", 4, "the edge to vertex 2 is given once"),
        ("3 1\n\n% here\n1 3\n2\n", 4, "the edge to vertex 1 is given once"),
        ("3 2 1\n2 2\n1 2 3 4\n2 5\n", 4, "vertices 2 and 3 has weight 4 .* and 5 in the other"),
        ("3 2 1\n2 2\n1 2 3\n2 4\n", 3, "the last neighbour of vertex 2 has no weight"),
        ("3 2 10\n7 2\n1.5 1 3\n1 2\n", 3, "a vertex weight must be a whole number.*'1.5'"),
        ("3 2 10\n7 2\n-1 1 3\n1 2\n", 3, "a vertex weight must be a whole number.*'-1'"),
        ("2 0 10\n3\n\n", 3, "got 0 numbers for vertex 2; .* its line begins with its 1"),
        ("2 0 10\n3\n", 2, "the line of vertex 2 is missing"),
        ("3 1\n2\n1 3\n2\n", 1, "the header says 1 edges, but the lines hold 2, each twice"),
    ],
)
@pytest.mark.parametrize("block", [1, 1 << 23])
def test_refuses(refuses, monkeypatch, block, contents, line, message):
    monkeypatch.setattr(numerals, "BLOCK_BYTES", block)
    refuses(read_metis, contents, message, line)


LINES = st.lists(st.lists(st.sampled_from("0123x"), max_size=3), min_size=3, max_size=3)


@settings(max_examples=300)
@given(lines=LINES, m=st.integers(0, 4), block=st.integers(1, 20))
def test_agrees_with_a_reader_that_goes_line_by_line(lines, m, block):
    W = np.zeros((3, 3))
    good = all(len(set(row)) == len(row) and set(row) <= set("123") for row in lines)
    for i, row in enumerate(lines):
        for word in row if good else []:
            W[i, int(word) - 1] = 1.0
    good = good and (W == W.T).all() and not W.diagonal().any() and W.sum() == 2 * m
    contents = f"3 {m}\n" + "".join(" ".join(row) + "\n" for row in lines)
    with mock.patch.object(numerals, "BLOCK_BYTES", block):
        if good:
            np.testing.assert_array_equal(parse(contents).toarray(), W)
        else:
            with pytest.raises(FormatError):
                parse(contents)


def test_writes_known_text(tmp_path):
    write_metis(tmp_path / "g.graph", PATH)
    assert (tmp_path / "g.graph").read_text() == "3 2\n2\n1 3\n2\n"
    write_metis(tmp_path / "g.graph", WEIGHTED)
    assert (tmp_path / "g.graph").read_text() == "3 2 1\n2 2\n1 2 3 -1.5\n2 -1.5\n"


def test_a_self_loop_cannot_be_written(tmp_path):
    with pytest.raises(ProblemError, match="self-loop at vertex 2, which METIS files cannot hold"):
        write_metis(tmp_path / "g.graph", np.diag([0.0, 1.0]))
    assert not list(tmp_path.iterdir())
