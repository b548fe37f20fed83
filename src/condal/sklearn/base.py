"""What all estimators share: parameters, checked samples, seeds, solves within a time limit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from condal.driver.solve import solve
from condal.result import Result, Status
from condal.runtime.arguments import require_seconds
from condal.runtime.limits import TimeLimit


@dataclass(eq=False, repr=False, kw_only=True)
class CertifiedEstimator(BaseEstimator):
    """The base of the estimators that prove bounds on what they optimise.

    Parameters
    ----------
    tol : float, optional
        The relative gap to which the relaxation is solved.
    max_seconds : float, optional
        A time limit for `fit`; what is proved by then is valid.
    random_state : int, RandomState or None, optional
        The seed, of the estimators that draw; an int makes the answer reproducible.

    Attributes
    ----------
    n_iter_ : int
        The number of iterations of the solve.
    result_ : Result
        The result of the relaxation, with the proof of its bound.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features, if the samples have names.
    """

    tol: float = 1e-3
    max_seconds: float | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to the rows of X.

        Parameters
        ----------
        X : array_like, n_samples x n_features
            The samples.
        y : None
            Ignored.

        Returns
        -------
        CertifiedEstimator
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If the samples or a parameter are not allowed.
        """
        self._fit(X)
        return self

    def _fit(self, X: Any) -> None:
        raise NotImplementedError

    def _checked(self, X: Any, *, dtype: Any = np.float64, **options: Any) -> Any:
        return validate_data(self, X, dtype=dtype, **options)

    def _time_limit(self) -> TimeLimit:
        require_seconds(self.max_seconds)
        return TimeLimit(self.max_seconds)

    def _solve(self, model: Any, limit: TimeLimit) -> Result:
        """Solve a model; warn if it was not solved to the tolerance. Only `_fit` calls this."""
        result = solve(model, tol=self.tol, max_seconds=limit.max_seconds)
        if result.status is not Status.SOLVED:
            warnings.warn(
                f"the relaxation was not solved to tol={self.tol:g} ({result.status.value}); "
                "the bound is still proved, but may be weak",
                ConvergenceWarning,
                stacklevel=4,
            )
        return result


def seed_from(random_state: Any) -> int:
    """Return a seed for condal."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def require_samples(n: int, n_clusters: int | None) -> None:
    """Raise ValueError if there are fewer samples than clusters."""
    if n_clusters is not None and n < n_clusters:
        raise ValueError(f"n_samples={n} should be >= n_clusters={n_clusters}: some would be empty")


def shortfall(value: float, bound: float) -> float:
    """Return 1 - value / bound, the proved relative distance below the largest possible value.

    It is inf if the bound is not positive, unless the value reaches the bound.
    """
    if value >= bound:
        return 0.0
    return 1 - value / bound if bound > 0 else float("inf")
