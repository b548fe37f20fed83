"""SDPGraphClustering: planted communities, known optima, and what is proved of them."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import condal
from condal.sklearn import SDPGraphClustering
from condal.sklearn.clustering import MAX_DENSE_SAMPLES


def _planted(sizes, within, between, seed=0):
    graph = nx.random_partition_graph(sizes, within, between, seed=seed)
    return nx.to_scipy_sparse_array(graph, dtype=float), np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("objective", ["modularity", "block_model"])
@pytest.mark.parametrize("sizes", [[30, 30], [25, 25, 25]], ids=str)
def test_planted_communities_are_recovered(objective, sizes):
    W, truth = _planted(sizes, 0.6, 0.05)
    fitted = SDPGraphClustering(
        len(sizes), affinity="precomputed", objective=objective, random_state=0
    ).fit(W)
    assert adjusted_rand_score(truth, fitted.labels_) == 1.0
    assert fitted.value_ <= fitted.upper_bound_
    assert fitted.certified_gap_ == 1 - fitted.value_ / fitted.upper_bound_ <= 0.02
    assert fitted.result_.status is condal.Status.SOLVED
    assert fitted.n_iter_ == fitted.result_.iterations


@pytest.mark.parametrize("objective", ["modularity", "block_model", "max_cut"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_clustering_is_above_the_bound(objective, k):
    rng = np.random.default_rng(k)
    W = np.triu(rng.random((7, 7)), 1)
    W += W.T
    fitted = SDPGraphClustering(
        k, affinity="precomputed", objective=objective, resolution=1.3, random_state=0
    ).fit(W)
    degrees = W.sum(axis=1)
    share = degrees if objective == "modularity" else np.full(7, degrees.mean())
    excess = (W - 1.3 * np.outer(share, share) / W.sum()) / W.sum()
    values = []
    for labels in product(range(k), repeat=7):
        together = np.equal.outer(labels, labels)
        values.append(W[~together].sum() / 2 if objective == "max_cut" else excess[together].sum())
    best = max(values)
    assert best <= fitted.upper_bound_ + 1e-12
    assert fitted.value_ == pytest.approx(best, rel=1e-12, abs=1e-12)  # small: the rounding is best


def test_one_cluster_has_nothing_to_solve():
    fitted = SDPGraphClustering(1).fit(np.arange(6.0)[:, None])
    assert not fitted.labels_.any()
    assert fitted.result_ is None
    assert fitted.value_ == fitted.upper_bound_ == fitted.certified_gap_ == fitted.n_iter_ == 0


def test_any_number_of_clusters_is_chosen_by_modularity():
    W, truth = _planted([12, 12, 12, 12], 0.9, 0.02)
    fitted = SDPGraphClustering(None, affinity="precomputed", random_state=0).fit(W)
    assert adjusted_rand_score(truth, fitted.labels_) == 1.0


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors"])
def test_affinities_are_those_of_spectral_clustering(affinity):
    X, _ = make_moons(40, noise=0.05, random_state=0)
    options = {"affinity": affinity, "gamma": 3.0, "n_neighbors": 5}
    ours = SDPGraphClustering(2, **options).fit(X).affinity_matrix_.toarray()
    theirs = SpectralClustering(2, **options).fit(X).affinity_matrix_
    theirs = theirs.toarray() if sp.issparse(theirs) else theirs
    np.testing.assert_allclose(ours, theirs - np.diag(np.diagonal(theirs)), rtol=1e-12)


def test_moons_are_told_apart_by_their_neighbours():
    X, truth = make_moons(120, noise=0.03, random_state=0)
    fitted = SDPGraphClustering(2, affinity="nearest_neighbors", random_state=0).fit(X)
    assert adjusted_rand_score(truth, fitted.labels_) == 1.0
    assert fitted.certified_gap_ <= 2e-3


def test_a_sparse_and_a_dense_affinity_give_the_same_clusters():
    W, _ = _planted([20, 20], 0.5, 0.1)
    options = {"affinity": "precomputed", "random_state": 0}
    one, two = (SDPGraphClustering(2, **options).fit(X) for X in (W, W.toarray()))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.upper_bound_ == two.upper_bound_


def test_it_works_in_a_pipeline_and_a_grid_search():
    X, truth = make_blobs(60, centers=3, cluster_std=0.5, random_state=1)
    pipeline = make_pipeline(StandardScaler(), SDPGraphClustering(3, gamma=5.0, random_state=0))
    assert adjusted_rand_score(truth, pipeline.fit_predict(X)) == 1.0
    search = GridSearchCV(
        SDPGraphClustering(random_state=0, gamma=5.0),
        {"n_clusters": [2, 3]},
        scoring=lambda fitted, X: -fitted.certified_gap_,
        cv=KFold(2, shuffle=True, random_state=0),
    )
    assert search.fit(X).best_params_["n_clusters"] in (2, 3)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_too_many_samples_of_a_dense_graph_are_refused_before_anything_is_computed():
    X = np.zeros((MAX_DENSE_SAMPLES + 1, 1))
    with pytest.raises(ValueError, match=r"n_samples=5001 is more .*'nearest_neighbors'"):
        SDPGraphClustering(2).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 7}, "n_samples=6 should be >= n_clusters=7"),
        ({"n_clusters": 0}, "k must be a whole number"),
        ({"affinity": "cosine"}, "affinity must be"),
        ({"objective": "ratio_cut"}, "objective must be"),
        ({"objective": "max_cut"}, "pass a matrix of dissimilarities"),
        ({"affinity": "precomputed"}, "must be a square matrix"),
        ({"affinity": "nearest_neighbors", "n_neighbors": 7}, "n_neighbors"),
        ({"resolution": 0.0}, "resolution must be"),
        ({"pairs": "some"}, "pairs must be"),
        ({"gamma": 1e6}, "the graph has no edges"),
        ({"n_init": 0}, "trials must be"),
    ],
)
def test_parameters_that_are_not_allowed_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SDPGraphClustering(**{"n_clusters": 2} | parameters).fit(np.arange(12.0).reshape(6, 2))


def test_an_affinity_that_is_not_symmetric_or_negative_is_refused():
    W = np.ones((3, 3))
    W[0, 1] = 2.0
    with pytest.raises(ValueError, match=r"affinity matrix .*symmetric"):
        SDPGraphClustering(2, affinity="precomputed").fit(W)
    with pytest.raises(ValueError, match="weights must not be negative"):
        SDPGraphClustering(2, affinity="precomputed").fit(-np.ones((3, 3)))
