"""SDPKMeans: known clusters, and what is proved of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import condal
from condal.sklearn import SDPKMeans


@pytest.fixture(scope="module")
def blobs():
    centers = 9.0 * np.eye(3)
    return make_blobs(60, n_features=3, centers=centers, cluster_std=1.0, random_state=0)


def test_clusters_that_are_apart_are_found_and_proved_to_be_the_best(blobs):
    X, truth = blobs
    found = SDPKMeans(3, random_state=0).fit(X)
    assert adjusted_rand_score(truth, found.labels_) == 1.0
    assert 0 <= found.certified_gap_ <= 2e-3
    assert found.lower_bound_ <= found.inertia_ * (1 + 1e-12)
    assert found.certified_gap_ == pytest.approx(found.inertia_ / found.lower_bound_ - 1, abs=1e-12)
    apart = ((X - found.cluster_centers_[found.labels_]) ** 2).sum()
    assert found.inertia_ == pytest.approx(apart)
    assert found.score(X) == pytest.approx(-apart)
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    assert found.result_.status is condal.Status.SOLVED
    assert found.n_iter_ == found.result_.iterations >= 1


def test_it_works_in_a_pipeline_and_with_pandas(blobs):
    X, truth = blobs
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    pipeline = make_pipeline(StandardScaler(), SDPKMeans(3, random_state=0))
    pipeline.set_output(transform="pandas")
    assert adjusted_rand_score(truth, pipeline.fit_predict(table)) == 1.0
    distances = pipeline.transform(table)
    assert list(distances.columns) == ["sdpkmeans0", "sdpkmeans1", "sdpkmeans2"]
    assert list(pipeline[-1].fit(table).feature_names_in_) == ["a", "b", "c"]


def test_many_separated_samples_are_proved_optimal():
    """Above 7,000 samples there is no n x n matrix, and the clustering itself is the proof."""
    rng = np.random.default_rng(5)
    truth = np.arange(7200) % 3
    X = 12.0 * np.eye(3)[truth] + rng.standard_normal((7200, 3))
    clusters = SDPKMeans(3, tol=1e-4, random_state=0).fit(X)
    assert adjusted_rand_score(truth, clusters.labels_) == 1.0
    assert clusters.result_.status.name == "SOLVED"
    assert 0.0 <= clusters.certified_gap_ <= 1e-4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 7}, "n_samples=6 should be >= n_clusters=7"),
        ({"n_clusters": 0}, "k must be a whole number"),
        ({"n_clusters": 2, "tol": -1.0}, "tol must be a positive number"),
        ({"n_clusters": 2, "n_init": 0}, "trials must be"),
    ],
)
def test_parameters_that_are_none_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SDPKMeans(**parameters).fit(np.arange(12.0).reshape(6, 2))
