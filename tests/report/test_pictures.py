"""Pictures: plain arrays that NumPy keeps, drawn by their kind; layouts that set vertices apart."""

import io

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from condal.report import drawn, pictures
from condal.report.figures import inline, of_picture
from condal.report.pictures import places


def cycle(n):
    return nx.to_scipy_sparse_array(nx.cycle_graph(n), dtype=float)


PICTURES = {
    "graph": pictures.graph(cycle(6), np.arange(6) % 2, ("even", "odd"), "A cycle."),
    "many edges": pictures.graph(
        nx.to_scipy_sparse_array(nx.gnp_random_graph(400, 0.05, seed=0), dtype=float),
        np.arange(400) % 2,
        ("a", "b"),
        "Drawn as pixels.",
    ),
    "matrix": pictures.sorted_matrix(cycle(6), np.arange(6) % 3, ("a", "b", "c"), "Sorted."),
    "signed": pictures.sorted_matrix(-cycle(6) + sp.eye(6), np.arange(6) % 2, "ab", "Signed."),
    "scatter": pictures.scatter(
        np.random.default_rng(0).random((9, 5)), np.arange(9) % 3, "abc", "."
    ),
    "one dimension": pictures.scatter(np.arange(4.0)[:, None], np.zeros(4, int), "a", "."),
    "trajectory": pictures.trajectory(
        np.random.default_rng(0).random((5, 3)), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], "Space."
    ),
    "long trajectory": pictures.trajectory(
        np.random.default_rng(0).random((3000, 2)),
        np.column_stack([np.arange(2999), np.arange(1, 3000)]),
        "Plane, without loop closures.",
    ),
    "images": pictures.images([("u", np.eye(3)), ("v", np.full((2, 9), np.nan))], "Two."),
    "curves": pictures.curves([("u", np.arange(5.0)), ("v", -np.ones(2000))], "Two."),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_arrays_without_objects_and_is_drawn_the_same_after_a_round_trip(name):
    stream = io.BytesIO()
    np.savez(stream, **PICTURES[name])
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as kept:
        again = {key: kept[key] for key in kept.files}
    first, second = of_picture(PICTURES[name], "p"), of_picture(again, "p")
    assert first is not None
    assert first == second
    assert first.caption == str(PICTURES[name]["caption"])
    assert first.svg.startswith("<svg")
    assert len(first.svg) < 400_000


def test_every_kind_is_tried():
    assert {str(picture["kind"]) for picture in PICTURES.values()} == set(drawn.KINDS)


@pytest.mark.parametrize(
    "picture",
    [
        {},
        {"kind": np.array("unknown")},
        {"kind": np.array("graph")},
        {
            "kind": np.array("scatter"),
            "places": np.zeros((3, 2)),
            "labels": np.zeros(5, int),
            "names": np.array(["a"]),
        },
        {
            "kind": np.array("matrix"),
            "values": np.zeros(0),
            "ends": np.zeros(0),
            "names": np.array([]),
        },
    ],
)
def test_arrays_that_are_no_picture_are_left_out(picture):
    assert of_picture(picture, "p") is None


def test_a_large_graph_is_a_matrix_whose_means_keep_the_weight():
    n = 3000
    W = nx.to_scipy_sparse_array(nx.gnp_random_graph(n, 0.002, seed=0), dtype=float)
    labels = np.arange(n) % 2
    picture = pictures.graph(W, labels, ("even", "odd"), "Large.")
    assert str(picture["kind"]) == "matrix"
    values = picture["values"].astype(float)
    assert values.shape == (pictures.MEANS_SIDE, pictures.MEANS_SIDE)
    sizes = np.bincount(np.arange(n) * len(values) // n)
    np.testing.assert_allclose(sizes @ values @ sizes, W.sum(), rtol=1e-5)
    assert picture["ends"].tolist() == [0.5]


def test_a_sorted_matrix_of_two_cliques_is_two_squares():
    labels = np.array([0, 1, 0, 1])
    W = sp.csr_array((labels[:, None] == labels).astype(float))
    values = pictures.sorted_matrix(W, labels, "ab", ".")["values"]
    assert values.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]


def test_points_of_many_dimensions_keep_their_distances_in_a_plane():
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((20, 2))
    turned = flat @ np.linalg.qr(rng.standard_normal((6, 2)))[0].T + 5.0
    picture = pictures.scatter(turned, np.zeros(20, int), "a", ".")
    np.testing.assert_allclose(pdist(picture["places"]), pdist(flat), rtol=1e-4, atol=1e-5)


def test_a_scatter_of_very_many_points_is_thinned():
    picture = pictures.scatter(np.zeros((10_000, 2)), np.arange(10_000) % 2, "ab", ".")
    assert picture["places"].shape == (pictures.MAX_POINTS, 2)


@pytest.mark.parametrize(
    "graph",
    [
        nx.cycle_graph(30),
        nx.grid_2d_graph(6, 6),
        nx.path_graph(2),
        nx.empty_graph(5),
        nx.disjoint_union(nx.cycle_graph(12), nx.complete_graph(5)),
        nx.star_graph(20),
    ],
    ids=str,
)
def test_a_layout_sets_all_vertices_apart(graph):
    W = nx.to_scipy_sparse_array(graph, dtype=float)
    at = places(W)
    assert at.shape == (W.shape[0], 2)
    assert np.isfinite(at).all()
    assert np.array_equal(at, places(W))
    assert pdist(at).min() > 0.01


def test_neighbours_are_near():
    W = cycle(40)
    at = places(W)
    i, j = sp.triu(W).nonzero()
    assert np.linalg.norm(at[i] - at[j], axis=1).mean() < 0.4 * pdist(at).mean()


def test_labels_become_text_and_not_markup():
    figure = drawn.draw({**PICTURES["curves"], "names": np.array(["<i>&amp;", "$\\frac$"])})
    text = inline(figure, name="p", alternative='"<b>"')
    assert "&lt;i&gt;&amp;amp;" in text
    assert "$\\frac$" in text
    assert 'aria-label="&quot;&lt;b&gt;&quot;"' in text
    assert "<i>" not in text
    assert "<b>" not in text


def test_a_few_vertices_far_away_leave_the_others_apart():
    graph = nx.gnp_random_graph(200, 0.05, seed=0)
    nx.add_path(graph, [0, *range(200, 215)])  # a tail
    at = places(nx.to_scipy_sparse_array(graph, dtype=float))[:200]
    spread = np.ptp(at, axis=0) / np.sqrt(215)  # of the square of all vertices
    assert spread.min() > 0.4


def test_of_a_graph_with_many_vertices_some_edges_are_drawn():
    W = nx.to_scipy_sparse_array(nx.gnp_random_graph(600, 0.02, seed=0), dtype=float)
    picture = pictures.graph(W, np.arange(600) % 2, ("even", "odd"), "Sampled.")
    assert len(picture["edges"]) == pictures.MAX_SAMPLED_EDGES
    assert f"2,000 of {W.nnz // 2:,} edges are shown." in str(picture["caption"])
    assert (W.toarray()[tuple(picture["edges"].T)] == 1).all()
