"""Missing values, filled in by matrix completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from condal.linalg.points import Array, Outer
from condal.problems.completion import MatrixCompletion, matrix_completion
from condal.sklearn.base import CertifiedEstimator, seed_from

TUNING_SHARE = 0.5  # of max_seconds, at most, for the choice of the radius
NEGLIGIBLE = 1e-6  # of the largest singular value
ENTRIES_PER_BLOCK = 2**22  # of the systems of a block of rows


@dataclass(eq=False, repr=False, kw_only=True)
class MatrixCompletionImputer(OneToOneFeatureMixin, TransformerMixin, CertifiedEstimator):
    r"""Imputation of missing values by a matrix of small nuclear norm, with a certificate.

    The columns are centred and scaled. `fit` then minimises the mean of :math:`(z_{ij} -
    x_{ij})^2 / 2` over the known entries of z, among the matrices x whose sum of singular values is
    at most a radius, as in [1]_. `lower_bound_` is a proved lower bound on that loss. `transform`
    fits each row, new or not, to the learned row space by least squares with the price of the
    radius as a penalty. For the rows of `fit` this gives the solution x, up to `tol`, unless x is
    not unique.

    `tol`, `max_seconds` and `random_state` are those of `CertifiedEstimator`.

    Parameters
    ----------
    missing_values : float, optional
        The value that marks missing entries.
    radius : float, optional
        The bound on the sum of singular values, in units of the scaled columns. By default the one
        that best predicts a tenth of the known entries, held back; `radius_` has it.
    scale : bool, optional
        Whether columns are divided by their standard deviation.
    keep_empty_features : bool, optional
        Whether columns without known values in `fit` are kept, filled with 0, or dropped.

    Attributes
    ----------
    components_ : ndarray, rank x n_features
        Orthonormal rows that span the row space, without empty features.
    singular_values_ : ndarray
        The singular values of x, one for each component.
    penalty_ : float
        The weight of the squared norm of a row in its fit; 0 if the radius is not reached.
    mean_, scale_ : ndarray
        The mean and the scale of each feature, without empty ones.
    radius_ : float
        The bound on the sum of singular values.
    loss_ : float
        The loss of x.
    lower_bound_ : float
        A proved lower bound on the loss of every matrix within the radius.

    References
    ----------
    .. [1] E. J. Candes and B. Recht, "Exact matrix completion via convex optimization",
       *Foundations of Computational Mathematics* 9, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.sklearn import MatrixCompletionImputer
    >>> full = np.outer(np.linspace(1.0, 3.0, 50), np.linspace(1.0, 2.0, 20))
    >>> table = full.copy()
    >>> table[::7, 4] = np.nan
    >>> imputed = MatrixCompletionImputer(random_state=0).fit_transform(table)
    >>> bool(np.abs(imputed - full).max() < 0.05)
    True
    """

    missing_values: float = np.nan
    radius: float | None = None
    scale: bool = True
    keep_empty_features: bool = False
    random_state: Any = None

    def _fit(self, X: Any) -> None:
        X = self._samples(X)
        limit, seed = self._time_limit(), seed_from(self.random_state)
        known = self._known(X)
        if not known.any():
            raise ValueError(
                f"no entry of X is known: all are missing_values={self.missing_values}"
            )
        self._filled = known.any(axis=0)
        known, X = known[:, self._filled], X[:, self._filled].astype(np.float64)
        self.mean_ = np.mean(X, axis=0, where=known)
        deviation = np.std(X, axis=0, where=known) if self.scale else np.ones_like(self.mean_)
        self.scale_ = np.where(deviation > 0, deviation, 1.0)
        rows, cols = np.nonzero(known)
        model = matrix_completion(
            rows,
            cols,
            ((X - self.mean_) / self.scale_)[known],
            shape=X.shape,
            radius=self.radius,
            effects=False,
            seed=seed,
            max_seconds=limit.share(TUNING_SHARE).max_seconds,
        )
        result = self._solve(model, limit)
        self.result_ = result
        self._learn(model, model.complete(result).x)
        self.radius_ = model.radius
        self.loss_ = result.objective
        self.lower_bound_ = max(0.0, result.bound)  # no loss is negative
        self.n_iter_ = result.iterations

    def transform(self, X: Any) -> Array:
        """Return X with its missing values filled in; known ones are unchanged."""
        check_is_fitted(self)
        X = self._samples(X, reset=False)
        known, imputed = self._known(X), X.copy()
        imputed[:, ~self._filled] = np.where(known, X, 0)[:, ~self._filled]
        missing = ~known & self._filled
        rows = np.flatnonzero(missing.any(axis=1))
        block = max(1, ENTRIES_PER_BLOCK // max(1, self.singular_values_.size) ** 2)
        for part in (rows[k : k + block] for k in range(0, rows.size, block)):
            full = np.zeros((part.size, X.shape[1]))
            full[:, self._filled] = self._fitted(X[part][:, self._filled], known[part])
            imputed[part] = np.where(missing[part], full, imputed[part])
        return imputed if self.keep_empty_features else imputed[:, self._filled]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of `transform`, without dropped features."""
        names = super().get_feature_names_out(input_features)
        return names if self.keep_empty_features else names[self._filled]

    def _learn(self, model: MatrixCompletion, x: Outer) -> None:
        """Keep the row space of x, and the price of a unit of its nuclear norm.

        With x = (U sqrt(s)) (V sqrt(s))', the nuclear norm is half the squared norm of both
        factors, so that row i of the first minimises the loss of row i of x plus half the price
        times its own squared norm. At a solution, the price times the norm is -<gradient, x>.
        """
        left, right = np.linalg.qr(x.U), np.linalg.qr(x.V)
        _, s, Vt = np.linalg.svd((left[1] * x.weights) @ right[1].T)
        kept = s > NEGLIGIBLE * s.max(initial=0.0)
        self.singular_values_ = s[kept]
        self.components_ = (right[0] @ Vt.T).T[kept]
        entries = x.entries(model.rows, model.cols)
        slope = float((model.values - entries) @ entries)
        self.penalty_ = max(0.0, slope / s.sum()) if s.any() else 0.0

    def _fitted(self, X: Array, known: Array) -> Array:
        """Return the rows of the row space, in units of X, that fit the known entries of X."""
        known = known[:, self._filled].astype(np.float64)
        A = self.components_.T * np.sqrt(self.singular_values_)
        r = A.shape[1]
        Z = np.where(known, (X - self.mean_) / self.scale_, 0.0)
        squares = (A[:, :, None] * A[:, None, :]).reshape(len(A), r * r)
        systems = (known @ squares).reshape(len(X), r, r) + self.penalty_ * np.eye(r)
        codes = np.linalg.pinv(systems, hermitian=True) @ (Z @ A)[:, :, None]
        return np.asarray(codes[:, :, 0] @ A.T * self.scale_ + self.mean_)

    def _samples(self, X: Any, **options: Any) -> Any:
        finite: Any = "allow-nan" if self._marks_by_nan() else True
        dtypes = (np.float64, np.float32)
        return self._checked(X, dtype=dtypes, ensure_all_finite=finite, **options)

    def _known(self, X: Any) -> Any:
        return ~np.isnan(X) if self._marks_by_nan() else self.missing_values != X

    def _marks_by_nan(self) -> bool:
        return bool(np.isnan(self.missing_values))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._marks_by_nan()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
