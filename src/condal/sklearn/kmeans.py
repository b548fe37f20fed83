"""k-means with a proved lower bound on the cost of every clustering."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from condal.linalg.points import Array
from condal.problems.clusterings import k_means
from condal.sklearn.base import CertifiedEstimator, require_samples, seed_from


@dataclass(eq=False, repr=False)
class SDPKMeans(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, CertifiedEstimator
):
    r"""K-means clustering with a certificate, by semidefinite relaxation [1]_.

    The relaxation is solved and rounded to a clustering. `lower_bound_` is a proved lower bound on
    the inertia of every clustering into n_clusters, and `certified_gap_` bounds how far `inertia_`
    can be above the best. Up to 7,000 samples the relaxation has :math:`n_{\mathrm{samples}}^2`
    unknowns and memory grows like their number. Above, no such matrix is made: separated clusters
    are still proved optimal, but the bound on overlapping ones is weak. For these, fit a sample of
    the rows and `predict` the others.

    `tol`, `max_seconds` and `random_state` are those of `CertifiedEstimator`.

    Parameters
    ----------
    n_clusters : int, optional
        The number of clusters.
    n_init : int, optional
        The number of starts of the rounding; the best is kept.

    Attributes
    ----------
    cluster_centers_ : ndarray, n_clusters x n_features
        The centres.
    labels_ : ndarray of int
        The cluster of each sample.
    inertia_ : float
        The sum of squared distances of the samples to their centres.
    lower_bound_ : float
        A proved lower bound on the inertia of every clustering of these samples.
    certified_gap_ : float
        inertia_ / lower_bound_ - 1: 0.02 means at most 2% above the best.

    References
    ----------
    .. [1] J. Peng and Y. Wei, "Approximating k-means-type clustering via semidefinite programming",
       *SIAM Journal on Optimization* 18, 2007.

    Examples
    --------
    >>> from condal.sklearn import SDPKMeans
    >>> model = SDPKMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [12.0]])
    >>> model.inertia_
    2.5
    >>> model.certified_gap_ < 0.01
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_init: int = 10
    random_state: Any = None

    def _fit(self, X: Any) -> None:
        X = self._checked(X, ensure_min_samples=2)
        require_samples(len(X), self.n_clusters)
        limit, seed = self._time_limit(), seed_from(self.random_state)
        model = k_means(X, self.n_clusters)
        result = self._solve(model, limit)
        clustering = model.round(
            result, trials=self.n_init, seed=seed, max_seconds=limit.max_seconds
        )
        assert clustering.centres is not None
        self.result_ = result
        self.labels_ = np.asarray(clustering.labels, dtype=np.int32)
        self.cluster_centers_ = clustering.centres
        self.inertia_ = clustering.cost
        self.lower_bound_ = clustering.bound
        self.certified_gap_ = model.excess(clustering.labels, result)
        self.n_iter_ = result.iterations

    def predict(self, X: Any) -> Any:
        """Return the cluster of the nearest centre, for each row of X."""
        return np.argmin(self.transform(X), axis=1).astype(np.int32)

    def transform(self, X: Any) -> Array:
        """Return the distances of the rows of X from the centres."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return np.asarray(euclidean_distances(X, self.cluster_centers_))

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of squared distances of the rows of X from their nearest centres."""
        return -float((self.transform(X).min(axis=1) ** 2).sum())

    @property
    def _n_features_out(self) -> int:
        """The number of columns that `transform` returns."""
        return len(self.cluster_centers_)
