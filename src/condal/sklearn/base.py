"""Steps that all estimators share: checked samples, seeds, solves within one time limit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from condal.driver.solve import solve
from condal.result import Result, Status
from condal.runtime.arguments import require_seconds
from condal.runtime.time_limit import TimeLimit

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6 it was a method, and an option had another name

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        """Return X after checking it and recording or comparing its features."""
        if "ensure_all_finite" in options:
            options["force_all_finite"] = options.pop("ensure_all_finite")
        return estimator._validate_data(X, **options)


class CertifiedEstimator(BaseEstimator):
    """An estimator that solves models of condal to `tol` within `max_seconds`."""

    tol: float
    max_seconds: float | None

    def _checked(self, X: Any, *, dtype: Any = np.float64, **options: Any) -> Any:
        return validate_data(self, X, dtype=dtype, **options)

    def _time_limit(self) -> TimeLimit:
        require_seconds(self.max_seconds)
        return TimeLimit(self.max_seconds)

    def _solve(self, model: Any, limit: TimeLimit) -> Result:
        """Solve a model; warn if it was not solved to the tolerance. Only `fit` calls this."""
        result = solve(model, tol=self.tol, max_seconds=limit.max_seconds)
        if result.status is not Status.SOLVED:
            warnings.warn(
                f"the relaxation was not solved to tol={self.tol:g} ({result.status.value}); "
                "the bound is still proved, but may be weak",
                ConvergenceWarning,
                stacklevel=3,
            )
        return result


def seed_of(random_state: Any) -> int:
    """Return a seed for condal from an int, a RandomState or None."""
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
