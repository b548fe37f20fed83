"""Warm starts: where an earlier solve ended, as the normalised problem sees it."""

from __future__ import annotations

from math import nan

from condal.certificates.certificate import EvaluatedPoint
from condal.domains.lifted import from_user
from condal.driver.scaling import Scaling
from condal.errors import PieceError, ProblemError
from condal.methods.registry import ends_with_cgal
from condal.methods.state import Warm
from condal.problem import Problem
from condal.result import Result

NEAR = 1e-6  # of the size of X: a point that is farther off is none of X


def warm_from(result: Result, problem: Problem, scaling: Scaling) -> Warm:
    """The point, dual, k and penalty that a solve of the problem may go on from; ProblemError if
    the result is one of another space."""
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
        lam = nan  # the penalty of another method does not apply
    # Of another domain, only the dual helps.
    near = distance <= NEAR * problem.X.max_norm
    return Warm(x if near else None, scaling.normalised_dual(result.y), k, lam)
