"""Warm starts: where an earlier solve ended, in normalised units."""

from __future__ import annotations

from math import nan

from condal.certificates.certificate import EvaluatedPoint
from condal.certificates.membership import is_member
from condal.domains.lifted import from_user
from condal.driver.scaling import Scaling
from condal.errors import PieceError, ProblemError
from condal.methods.registry import ends_with_cgal
from condal.methods.state import Warm
from condal.problem import Problem
from condal.result import Result


def warm_from(result: Result, problem: Problem, scaling: Scaling) -> Warm:
    """Return the point, dual, k and penalty to start from; raise ProblemError if the result is of
    another space."""
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
    return Warm(x if inside else None, scaling.normalised_dual(result.y), k, lam)
