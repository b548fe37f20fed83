"""Clusterings with proved bounds: k-means, and clusters of an affinity graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from condal.linalg.points import Array
from condal.problems.clusterings import k_means
from condal.problems.graphs import adjacency
from condal.problems.partitions import Pairs, Partition
from condal.problems.vertex_groups import Communities, MaxKCut, communities, max_k_cut
from condal.runtime.arguments import require_choice
from condal.sklearn.base import CertifiedEstimator, require_samples, seed_from, shortfall

Affinity: TypeAlias = Literal["rbf", "nearest_neighbors", "precomputed"]
Objective: TypeAlias = Literal["modularity", "block_model", "max_cut"]

MAX_DENSE_SAMPLES = 5000
MAX_SAMPLES_OF_ALL_PAIRS = 500  # by default; the bound is then the tightest
NULLS: dict[Any, Any] = {"modularity": "degrees", "block_model": "uniform"}


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


@dataclass(eq=False, repr=False)
class SDPGraphClustering(ClusterMixin, CertifiedEstimator):
    r"""Clustering of an affinity graph with a certificate, by semidefinite relaxation [1]_.

    The affinities are as in `sklearn.cluster.SpectralClustering`. The clustering has large
    modularity: the affinity within clusters, in excess of what the degrees let expect. That is a
    maximum cut with weights "expected minus actual". The relaxation is solved and rounded.
    `upper_bound_` is a proved upper bound on the value of every clustering into n_clusters, and
    `certified_gap_` bounds how far `value_` can be below the best.

    `tol`, `max_seconds` and `random_state` are those of `CertifiedEstimator`.

    Parameters
    ----------
    n_clusters : int or None, optional
        The largest number of clusters. None for any number, which suits a few hundred samples.
    affinity : {"rbf", "nearest_neighbors", "precomputed"}, optional
        The graph: :math:`\exp(-\gamma |x - x'|^2)`, the nearest neighbours of each sample, or X
        itself, a symmetric matrix, dense or sparse.
    gamma : float, optional
        The coefficient of "rbf".
    n_neighbors : int, optional
        The number of neighbours of "nearest_neighbors", the sample included.
    objective : {"modularity", "block_model", "max_cut"}, optional
        The value: the modularity; the same with equal expected weights for all pairs, as in the
        stochastic block model; or the weight between the clusters, for a precomputed matrix of
        dissimilarities.
    resolution : float, optional
        A factor on the expected weights; values above 1 favour smaller clusters.
    pairs : {"none", "edges", "all"}, optional
        The pairs of samples that tighten the relaxation for more than two clusters. By default
        "all" up to 500 samples and "none" for more, which is fast and gives a weaker bound.
    n_init : int, optional
        The number of trials of the rounding; the best is kept.

    Attributes
    ----------
    labels_ : ndarray of int
        The cluster of each sample.
    affinity_matrix_ : sparse array
        The weights of the graph, without its diagonal.
    value_ : float
        The value of the clustering, such as its modularity.
    upper_bound_ : float
        A proved upper bound on the value of every clustering of this graph.
    certified_gap_ : float
        1 - value_ / upper_bound_: 0.02 means at most 2% below the best.
    result_ : Result or None
        The result of the relaxation, with the proof of its bound; None for one cluster.

    References
    ----------
    .. [1] A. Frieze and M. Jerrum, "Improved approximation algorithms for MAX k-CUT and MAX
       BISECTION", *Algorithmica* 18, 1997.

    Examples
    --------
    >>> from condal.sklearn import SDPGraphClustering
    >>> samples = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> model = SDPGraphClustering(2, random_state=0).fit(samples)
    >>> bool(model.labels_[0] == model.labels_[2] != model.labels_[3])
    True
    >>> model.certified_gap_ < 0.01
    True
    """

    n_clusters: int | None = 8
    _: KW_ONLY
    affinity: Affinity = "rbf"
    gamma: float = 1.0
    n_neighbors: int = 10
    objective: Objective = "modularity"
    resolution: float = 1.0
    pairs: Pairs | None = None
    n_init: int = 20
    random_state: Any = None

    def _fit(self, X: Any) -> None:
        require_choice(self.affinity, "affinity", get_args(Affinity))
        require_choice(self.objective, "objective", get_args(Objective))
        if self.objective == "max_cut" and self.affinity != "precomputed":
            raise ValueError(
                f"objective='max_cut' separates samples of large weight, and affinity="
                f"{self.affinity!r} gives them to similar samples: pass a matrix of "
                "dissimilarities with affinity='precomputed', or use objective='modularity'"
            )
        X = self._checked(X, accept_sparse="csr", ensure_min_samples=2)
        require_samples(X.shape[0], self.n_clusters)
        limit, seed = self._time_limit(), seed_from(self.random_state)
        self.affinity_matrix_ = adjacency(self._weights(X), "the affinity matrix")
        if self.n_clusters == 1:
            partition, result, self.n_iter_ = self._single_cluster(), None, 0
        else:
            model = self._model()
            result = self._solve(model, limit)
            self.n_iter_ = result.iterations
            partition = model.round(
                result, trials=self.n_init, seed=seed, max_seconds=limit.max_seconds
            )
        self.result_ = result
        self.labels_ = np.asarray(partition.labels, dtype=np.int32)
        self.value_ = partition.value
        self.upper_bound_ = partition.bound
        self.certified_gap_ = shortfall(partition.value, partition.bound)

    def _single_cluster(self) -> Partition:
        """Return the only clustering into one cluster, whose value needs no relaxation."""
        value = 0.0 if self.objective == "max_cut" else 1.0 - self.resolution
        return Partition(value, value, np.zeros(self.affinity_matrix_.shape[0]))

    def _weights(self, X: Any) -> Any:
        """Return the weights of the graph of the samples."""
        n = X.shape[0]
        if self.affinity == "nearest_neighbors":
            from sklearn.neighbors import kneighbors_graph

            joined = sp.csr_array(kneighbors_graph(X, self.n_neighbors, include_self=True))
            return 0.5 * (joined + joined.T)
        if n > MAX_DENSE_SAMPLES and not (self.affinity == "precomputed" and sp.issparse(X)):
            raise ValueError(
                f"n_samples={n} is more than the {MAX_DENSE_SAMPLES} that SDPGraphClustering "
                "accepts for a dense graph, which has n_samples^2 weights. Use affinity="
                "'nearest_neighbors', or a sparse precomputed one"
            )
        if self.affinity == "precomputed":
            return X
        from sklearn.metrics.pairwise import rbf_kernel

        return rbf_kernel(X, gamma=self.gamma)

    def _model(self) -> Communities | MaxKCut:
        W, k, pairs = self.affinity_matrix_, self.n_clusters, self.pairs
        if pairs is None and W.shape[0] <= MAX_SAMPLES_OF_ALL_PAIRS:
            pairs = "all"
        if self.objective == "max_cut":
            return max_k_cut(W, k, pairs=pairs)
        null = NULLS[self.objective]
        return communities(W, k, null=null, resolution=self.resolution, pairs=pairs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.positive_only = (
            self.affinity == "precomputed" and self.objective != "max_cut"
        )
        return tags
