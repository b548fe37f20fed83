"""Sparse principal components, each with a proved bound."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from condal.linalg.points import Array
from condal.problems.sparse_components import sparse_pca
from condal.runtime.arguments import require_positive, require_whole
from condal.sklearn.base import CertifiedEstimator, shortfall

MAX_FEATURES = 1000


@dataclass(eq=False, repr=False)
class SDPSparsePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Sparse principal components with certificates, by semidefinite relaxation [1]_.

    Each component is a unit vector v with a large variance and few nonzero entries: it maximises
    :math:`v^T S v - \rho \|v\|_1^2`, with S the covariance that the previous components leave.
    The relaxation is solved and rounded. `upper_bound_` has a proved upper bound on this value for
    each component, and `variance_bound_` one on the variance of every vector with as few nonzero
    entries. The relaxation has :math:`n_{\mathrm{features}}^2` unknowns, so it suits up to a few
    hundred features.

    `tol` and `max_seconds` are those of `CertifiedEstimator`.

    Parameters
    ----------
    n_components : int, optional
        The number of components.
    alpha : float, optional
        The price :math:`\rho`, as a fraction of the largest absolute covariance of two features
        that the previous components leave. From 1 on, a component has a single feature.
    cardinality : int, optional
        The number of nonzero entries of each component; by default the number of the best value.

    Attributes
    ----------
    components_ : ndarray, n_components x n_features
        The components, of unit norm.
    explained_variance_ : ndarray
        The variance of each component, of what the previous components leave.
    explained_variance_ratio_ : ndarray
        The same, as a fraction of the total variance.
    value_ : ndarray
        The variance minus the price, for each component.
    upper_bound_ : ndarray
        A proved upper bound on the value of every unit vector, for each component.
    certified_gap_ : ndarray
        1 - value_ / upper_bound_: 0.02 means at most 2% below the best.
    variance_bound_ : ndarray
        A proved upper bound on the variance of every unit vector with as few nonzero entries.
    rho_ : ndarray
        The price, for each component.
    mean_ : ndarray
        The mean of each feature.
    n_components_ : int
        The number of components.
    n_iter_ : int
        The number of iterations of the longest solve.
    results_ : list of Result
        The results of the relaxations, with the proofs of their bounds.

    References
    ----------
    .. [1] A. d'Aspremont, L. El Ghaoui, M. I. Jordan and G. R. G. Lanckriet, "A direct formulation
       for sparse PCA using semidefinite programming", *SIAM Review* 49, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.sklearn import SDPSparsePCA
    >>> samples = np.random.default_rng(0).standard_normal((50, 6))
    >>> samples[:, 1] = samples[:, 0] + 0.1 * samples[:, 1]
    >>> model = SDPSparsePCA(alpha=0.3).fit(samples)
    >>> np.flatnonzero(model.components_[0]).tolist()
    [0, 1]
    >>> bool(model.certified_gap_[0] < 0.01)
    True
    """

    n_components: int = 1
    _: KW_ONLY
    alpha: float = 0.2
    cardinality: int | None = None

    def _fit(self, X: Any) -> None:
        X = self._checked(X, ensure_min_samples=2)
        self._require_parameters(X.shape[1])
        limit = self._time_limit()
        self.mean_ = X.mean(axis=0)
        covariance = np.atleast_2d(np.cov(X, rowvar=False))
        model = sparse_pca(covariance, self._price(covariance))
        prices, results, components = [], [], []
        for _ in range(self.n_components):
            result = self._solve(model, limit)
            component = model.component(result, cardinality=self.cardinality)
            prices.append(model.rho)
            results.append(result)
            components.append(component)
            rest = model.deflated(component)
            model = replace(rest, rho=self._price(rest.S))
        self.results_ = results
        self.components_ = np.stack([component.vector for component in components])
        self.explained_variance_ = np.array([component.variance for component in components])
        self.explained_variance_ratio_ = np.array([c.explained for c in components])
        self.value_ = np.array([component.objective for component in components])
        self.upper_bound_ = np.array([result.bound for result in results])
        self.certified_gap_ = np.array(list(map(shortfall, self.value_, self.upper_bound_)))
        self.rho_ = np.array(prices)
        self.variance_bound_ = self._variance_bound()
        self.n_components_ = self.n_components
        self.n_iter_ = max(result.iterations for result in results)

    def transform(self, X: Any) -> Array:
        """Return the coefficients of the rows of X, by least squares on the components."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return np.asarray((X - self.mean_) @ np.linalg.pinv(self.components_))

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples of these coefficients, a row each."""
        check_is_fitted(self)
        return np.asarray(np.asarray(X) @ self.components_ + self.mean_)

    @property
    def _n_features_out(self) -> int:
        """The number of columns that `transform` returns."""
        return len(self.components_)

    def _require_parameters(self, n_features: int) -> None:
        require_whole(self.n_components, "n_components")
        require_positive(self.alpha, "alpha")
        if n_features > MAX_FEATURES:
            raise ValueError(
                f"n_features={n_features} is more than the {MAX_FEATURES} that SDPSparsePCA "
                "accepts: its relaxation has n_features^2 unknowns. Drop features of small variance"
            )
        if self.n_components > n_features:
            raise ValueError(f"n_components={self.n_components} must be <= n_features={n_features}")

    def _price(self, covariance: Array) -> float:
        """Return rho for this covariance; any positive number if it is diagonal."""
        largest = np.abs(covariance - np.diag(np.diagonal(covariance))).max()
        return float(self.alpha * (largest or np.abs(covariance).max() or 1.0))

    def _variance_bound(self) -> Array:
        """Return upper_bound_ + rho_ |v|_0, rounded up: |v|_1^2 <= |v|_0 for a unit vector v."""
        prices = self.rho_ * np.count_nonzero(self.components_, axis=1)
        rounding = 4 * np.finfo(float).eps * (np.abs(self.upper_bound_) + prices)
        return self.upper_bound_ + prices + rounding
