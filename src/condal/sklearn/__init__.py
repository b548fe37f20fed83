"""k-means for scikit-learn, with a proved lower bound on the cost of every clustering.

It needs the extra `sklearn`: pip install 'condal[sklearn]'.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from condal.driver.solve import solve
from condal.linalg.points import Array
from condal.problems.kmeans import k_means
from condal.result import Status

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6 it was a method

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        """X, checked, and its features noted or compared."""
        return estimator._validate_data(X, **options)


LARGEST = 5000  # samples
COPIES = 17  # of n x n numbers, that a solve of more than 2,000 samples holds; measured


class SDPKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """minimise the sum of squared distances to n_clusters centres, and prove what the least can be.

    The semidefinite relaxation of k-means (Peng and Wei 2007) is solved, and rounded to a
    clustering: `lower_bound_` is proved to be at most the inertia of every clustering into
    n_clusters, and `certified_gap_` says how far above the best `inertia_` can be. The relaxation
    has n_samples^2 unknowns: it is for up to a few thousand samples. Of more, fit a sample of them,
    and `predict` the others.

    Parameters
    ----------
    n_clusters : how many clusters.
    tol : the relative gap to which the relaxation is solved.
    max_seconds : when to stop before that; None for no limit. What is proved by then is valid.
    n_init : how many starts of the rounding to try, the best of which is kept.
    random_state : of these starts; an int for the same answer each time.

    Attributes
    ----------
    cluster_centers_ : n_clusters x n_features.
    labels_ : the cluster of each sample.
    inertia_ : the sum of squared distances of the samples to their centres.
    lower_bound_ : no clustering of these samples has less inertia; proved.
    certified_gap_ : inertia_ / lower_bound_ - 1: 0.02 means at most 2% above the best.
    n_iter_ : the iterations of the solve.
    result_ : the `condal.Result` of the relaxation, with the proof of its bound.
    n_features_in_, feature_names_in_ : of the samples.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tol: float = 1e-3,
        max_seconds: float | None = None,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.tol = tol
        self.max_seconds = max_seconds
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> SDPKMeans:
        """Cluster the rows of X; y is not looked at."""
        X = self._checked(X, reset=True, ensure_min_samples=2)
        n = len(X)
        if n > LARGEST:
            gigabytes = 8e-9 * COPIES * n**2
            raise ValueError(
                f"n_samples={n} is more than the {LARGEST} that SDPKMeans takes: its relaxation "
                f"has n_samples^2 unknowns, and would take about {gigabytes:.0f} GB and "
                "hours. Fit a sample of the rows, and predict the others"
            )
        if n < self.n_clusters:
            raise ValueError(
                f"n_samples={n} should be >= n_clusters={self.n_clusters}: some would be empty"
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        model = k_means(X, self.n_clusters)
        result = solve(model, tol=self.tol, max_seconds=self.max_seconds)
        if result.status is not Status.SOLVED:
            warnings.warn(
                f"the relaxation was not solved to tol={self.tol:g} ({result.status.value}); "
                "lower_bound_ is proved nevertheless, and may be low",
                ConvergenceWarning,
                stacklevel=2,
            )
        found = model.round(result, trials=self.n_init, seed=seed)
        assert found.centres is not None
        self.result_ = result
        self.labels_ = np.asarray(found.labels, dtype=np.int32)
        self.cluster_centers_ = found.centres
        self.inertia_ = found.cost
        self.lower_bound_ = found.bound
        self.certified_gap_ = model.excess(found.labels, result)
        self.n_iter_ = result.iterations
        return self

    def predict(self, X: Any) -> Any:
        """The cluster of the nearest centre, for each row of X."""
        return np.argmin(self.transform(X), axis=1).astype(np.int32)

    def transform(self, X: Any) -> Array:
        """The distances of the rows of X from the centres."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return np.asarray(euclidean_distances(X, self.cluster_centers_))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances of the rows of X from their nearest centres."""
        return -float((self.transform(X).min(axis=1) ** 2).sum())

    @property
    def _n_features_out(self) -> int:
        """How many columns `transform` gives."""
        return len(self.cluster_centers_)

    def _checked(self, X: Any, **options: Any) -> Array:
        return np.asarray(validate_data(self, X, dtype=np.float64, **options))
