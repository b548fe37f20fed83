"""Answers have the vertex names of the graph that was given: NetworkX, igraph, or a DataFrame."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import condal
from condal.problems import bisection, communities, max_cut, max_k_cut, quadratic_assignment, theta
from condal.problems.graphs import vertex_names

CLUB = nx.relabel_nodes(nx.barbell_graph(4, 0), dict(enumerate("abcdefgh")))
TABLE = nx.to_pandas_adjacency(CLUB)


class Attributes:
    def __init__(self, values):
        self.values = values

    def attributes(self):
        return list(self.values)

    def __getitem__(self, name):
        return self.values[name]


class Igraph:
    """The parts of igraph.Graph that are used."""

    def __init__(self, W, *, directed=False, weighted=True, **vertices):
        self.W, self.directed = sp.csr_array(W), directed
        self.es = Attributes({"weight": []} if weighted else {})
        self.vs = Attributes(vertices)

    def is_directed(self):
        return self.directed

    def get_adjacency_sparse(self, attribute=None):
        return self.W if attribute == "weight" else (self.W != 0).astype(float)


FORMS = {
    "networkx": CLUB,
    "table": TABLE,
    "igraph": Igraph(TABLE.to_numpy(), name=list("abcdefgh")),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_sides_of_a_cut_have_the_names_of_the_vertices(form):
    model = bisection(FORMS[form])
    sides = model.round(condal.solve(model)).sides
    assert sorted(sides) == [list("abcd"), list("efgh")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("build", [communities, max_k_cut])
def test_the_groups_of_a_partition_have_the_names_of_the_vertices(form, build):
    model = build(FORMS[form], 2)
    partition = model.round(condal.solve(model))
    names = np.array(list("abcdefgh"))
    groups = [names[partition.labels == group].tolist() for group in range(len(partition.sizes))]
    assert partition.groups == groups


@pytest.mark.parametrize("form", FORMS)
def test_a_stable_set_has_the_names_of_its_vertices(form):
    model = theta(FORMS[form])
    chosen = model.round(condal.solve(model))
    assert chosen.names == ["abcdefgh"[v] for v in chosen.vertices]
    assert CLUB.subgraph(chosen.names).number_of_edges() == 0
    assert model.complement.names == list("abcdefgh")


def test_sides_and_signs_are_of_the_same_order():
    graph = nx.relabel_nodes(nx.path_graph(3), {0: "left", 1: "middle", 2: "right"})
    model = max_cut(graph)
    cut = model.round(condal.solve(model))
    assert {"left", "right"} in map(set, cut.sides)
    assert [len(side) for side in cut.sides] == [(cut.signs > 0).sum(), (cut.signs < 0).sum()]


@pytest.mark.parametrize("form", [nx.Graph, np.asarray, sp.csr_array, pd.DataFrame, Igraph])
def test_vertices_without_names_are_numbers(form):
    graph = form(nx.to_numpy_array(nx.path_graph(3)))
    assert vertex_names(graph) is None
    model = max_cut(graph)
    assert sorted(model.round(condal.solve(model)).sides) == [[0, 2], [1]]


def test_a_table_whose_columns_are_in_another_order_is_refused():
    with pytest.raises(condal.ProblemError, match=r"in another order: pass W\[W.index\]$"):
        max_cut(TABLE[list("badcefgh")])


def test_the_weights_of_igraph_are_the_attribute_weight():
    W = np.array([[0.0, 3.0], [3.0, 0.0]])
    assert max_cut(Igraph(W)).W.sum() == 6.0
    assert max_cut(Igraph(W, weighted=False)).W.sum() == 2.0
    with pytest.raises(condal.ProblemError, match=r"is directed; .* graph.as_undirected\(\)"):
        max_cut(Igraph(W, directed=True))
    assert quadratic_assignment(Igraph(W, directed=True), W).problem is not None


def test_a_table_with_unknown_entries_is_completed_under_its_names():
    full = np.outer([1.0, 2.0, 3.0], [1.0, 2.0])
    table = pd.DataFrame(full, index=list("xyz"), columns=["u", "v"])
    table.loc["y", "v"] = np.nan
    model = condal.problems.matrix_completion(table, radius=9.0, effects=False)
    completed = model.complete(condal.solve(model, tol=1e-6)).to_pandas()
    assert list(completed.index) == list("xyz")
    assert list(completed.columns) == ["u", "v"]
    known = table.notna().to_numpy()
    np.testing.assert_allclose(completed.to_numpy()[known], full[known], atol=0.1)


@pytest.mark.parametrize("form", [np.asarray, sp.coo_array, np.ma.masked_invalid, pd.DataFrame])
def test_a_matrix_stands_for_its_known_entries(form):
    full = np.arange(1.0, 7.0).reshape(2, 3)
    by_matrix = condal.problems.matrix_completion(form(full), radius=2.0)
    entries = condal.problems.known_entries(full)
    by_entries = condal.problems.matrix_completion(*entries, shape=(2, 3), radius=2.0)
    for name in ("rows", "cols", "values", "shape"):
        assert np.array_equal(getattr(by_matrix, name), getattr(by_entries, name)), name


def test_a_matrix_has_its_own_shape():
    full = np.ones((2, 3))
    full[:, 2] = full[1] = np.nan
    assert condal.problems.matrix_completion(full, radius=1.0).shape == (2, 3)
    with pytest.raises(condal.ProblemError, match="a shape of its own: leave out shape"):
        condal.problems.matrix_completion(full, shape=(2, 3))
