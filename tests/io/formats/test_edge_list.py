"""Edge lists: known graphs, labels, round trips, and every fault with its line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condal.errors import FormatError, ProblemError
from condal.io.formats import read_edge_list, read_graph, write_edge_list
from condal.io.formats.text import Text

PATH = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
WEIGHTED = np.array([[0.0, 2, 0], [2, 0, -1.5], [0, -1.5, 0]])


def parse(contents: str | bytes):
    return read_edge_list(Text("g", contents.encode() if isinstance(contents, str) else contents))


@pytest.mark.parametrize(
    ("contents", "labels", "W"),
    [
        ("0 1\n1 2\n", [0, 1, 2], PATH),
        ("1 2\n3 2\n", [1, 2, 3], PATH),
        ("# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n7\t30\n30\t1000\n", [7, 30, 1000], PATH),
        ("% sym unweighted\n0 1\n1 2\n", [0, 1, 2], PATH),
        ("source,target,weight\n0,1,2\n1,2,-1.5\n", [0, 1, 2], WEIGHTED),
        ('"0";"1";"2"\r\n"1";"2";"-1.5"\r\n', [0, 1, 2], WEIGHTED),
        ("0 1 2\n\n1 0 2.0\n2 1 -15e-1\n0 1 2\n", [0, 1, 2], WEIGHTED),
        ("0 1\n1 0\n1 2\n2 1\n", [0, 1, 2], PATH),
        ("4 4 3\n", [4], [[3]]),
        ("0 1 0\n", [0, 1], [[0, 0], [0, 0]]),
        ("9007199254740992 0\n", [0, 2**53], [[0, 1], [1, 0]]),
    ],
)
def test_reads_known_graphs(put, contents, labels, W):
    found = read_edge_list(put(contents, "g.edges"))
    np.testing.assert_array_equal(found.labels, labels)
    assert found.W.has_canonical_format
    np.testing.assert_array_equal(found.W.toarray(), W)


@pytest.mark.parametrize(
    ("contents", "line", "message"),
    [
        ("# nothing\n", None, "holds only comments"),
        ("0\n1\n", 1, "has 1 columns; wanted two or three: the two ends of an edge"),
        ("# a\n0 1 2 3\n", 2, "has 4 columns; wanted two or three"),
        ("0 1\n1 -2\n", 2, "the label of a vertex must be a whole number, from 0 to 2.53; got -2"),
        ("0 1\n# c\n1 2.5\n", 3, "the label of a vertex must be a whole number.*got 2.5"),
        ("0 9007199254740994\n", 1, "the label of a vertex must be a whole number"),
        ("ann bob\nbob cat\n", 2, "vertices must be whole numbers, got 'bob cat'; number them"),
        ("0 1 {}\n1 2 {}\n", 1, "use networkx.write_weighted_edgelist, or pass data=False"),
        ("0 1 {'weight': 2}\n", 1, "use networkx.write_weighted_edgelist"),
        ("0 1 1e308\n0 2 1\n1 2 x\n", 3, "column 3 is 'x'"),
    ],
)
def test_refuses(refuses, contents, line, message):
    refuses(read_edge_list, contents, message, line)


EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(-1, 2)), min_size=1)


@settings(max_examples=150)
@given(EDGES, st.sampled_from([" ", ",", "\t", ";"]))
def test_agrees_with_networkx(edges, between):
    """Where no edge has two weights."""
    import networkx as nx

    weights = {frozenset(edge[:2]): edge[2] for edge in edges}
    contents = "".join(f"{i}{between}{j}{between}{w}\n" for i, j, w in edges)
    if any(weights[frozenset(edge[:2])] != edge[2] for edge in edges):
        with pytest.raises(FormatError, match="an edge has one weight"):
            parse(contents)
        return
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    found = parse(contents)
    assert found.labels.tolist() == sorted(graph)
    expected = nx.to_numpy_array(graph, nodelist=sorted(graph))
    np.testing.assert_array_equal(found.W.toarray(), expected)


def test_writes_known_text(tmp_path):
    write_edge_list(tmp_path / "g.csv", WEIGHTED)
    head = "# 3 vertices, 2 edges: two ends and a weight\n"
    assert (tmp_path / "g.csv").read_text() == head + "1,2,2\n2,3,-1.5\n"


def test_a_vertex_without_an_edge_cannot_be_written(tmp_path):
    with pytest.raises(ProblemError, match="vertex 2 has no edge, so an edge list cannot hold it"):
        write_edge_list(tmp_path / "g.csv", np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]]))
    assert not list(tmp_path.iterdir())


def test_what_networkx_writes_is_read(tmp_path):
    import networkx as nx

    graph = nx.karate_club_graph()
    nx.write_weighted_edgelist(graph, tmp_path / "karate.edgelist")
    expected = nx.to_numpy_array(graph)
    np.testing.assert_array_equal(read_graph(tmp_path / "karate.edgelist").toarray(), expected)
