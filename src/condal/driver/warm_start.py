"""Where a solve starts: where an earlier one ended, or a given pair, in the units of the method."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from condal.certificates.certificate import EvaluatedPoint
from condal.certificates.membership import is_member, require_point
from condal.driver.run_record import HANDOVER, UNITS_AS_GIVEN
from condal.driver.scaling import Scaling
from condal.errors import PieceError, ProblemError
from condal.linalg.images import zeros_of
from condal.methods.state import LEAST_WARM_K, Warm
from condal.problem import Problem
from condal.result import Result
from condal.types import from_user


def warm_from(start: Result | tuple[Any, Any], problem: Problem, scaling: Scaling) -> Warm:
    """Return the point, dual, k and penalty to start from; raise ProblemError if they are of
    another space."""
    if isinstance(start, tuple):
        return _first_pair(start, problem, scaling)
    return _end_of(start, problem, scaling)


def _first_pair(pair: tuple[Any, ...], problem: Problem, scaling: Scaling) -> Warm:
    """The x1 and y1 of Algorithm 1; None stands for 0."""
    if len(pair) != 2:
        raise ProblemError(f"warm_start takes a Result or a pair (x1, y1); got {len(pair)} items")
    x, y = pair
    y = zeros_of(problem.A) if y is None else np.asarray(y)
    if y.shape != (problem.A.size,) or y.dtype.kind not in "iuf" or not np.isfinite(y).all():
        raise ProblemError(
            f"y1 of warm_start must hold {problem.A.size} finite numbers, one per row of A; got "
            f"shape {y.shape}"
        )
    if x is not None:
        try:
            x = from_user(problem.X, x)
            require_point(problem.X, x)
            distance = problem.X.distance(x)
        except (PieceError, ProblemError, TypeError, ValueError) as error:
            raise ProblemError(f"x1 of warm_start: {error}") from None
        if not is_member(problem.X, distance):
            raise ProblemError(
                f"x1 of warm_start must lie in X; its distance from X is {distance:.3g}: project "
                "it, or pass None"
            )
    return Warm(x, scaling.normalised_dual(y), 0)


def _end_of(result: Result, problem: Problem, scaling: Scaling) -> Warm:
    """Where an earlier solve ended."""
    if result.x is None:
        raise ProblemError("warm_start has no point: the solve it comes from ended too early")
    if result.y.shape != (problem.A.size,):
        raise ProblemError(
            f"warm_start has a dual of length {result.y.size} and this problem needs "
            f"{problem.A.size}: start from a result of a problem of the same shape"
        )
    try:
        x = from_user(problem.X, result.x)
        EvaluatedPoint.of(problem, x)
        distance = problem.X.distance(x)
    except (AssertionError, AttributeError, IndexError, PieceError, TypeError, ValueError):
        raise ProblemError(
            "warm_start has a point of another space than this problem's: start from a result "
            "of a problem of the same shape"
        ) from None
    history = result.history
    k, lam = (history.last.k, history.last.lam) if len(history) else (0, nan)
    if not ends_with_cgal(result.method):
        lam = nan  # the penalty of another method has another meaning
    # For another domain, only the dual helps.
    inside = is_member(problem.X, distance)
    k = max(k, LEAST_WARM_K)
    return Warm(x if inside else None, scaling.normalised_dual(result.y), k, lam)


def ends_with_cgal(name: str) -> bool:
    """Whether CGAL with a moving dual was the last method of a run, so that its lam can resume."""
    last = name.split(HANDOVER)[-1]
    return last.startswith("cgal") and not last.endswith(UNITS_AS_GIVEN)
