"""Where a solve starts: where an earlier one ended, or a given pair, in the units of the method."""

from __future__ import annotations

from hashlib import sha256
from math import isclose, nan
from typing import Any

import numpy as np

from condal.certificates.evaluation import EvaluatedPoint, is_member, require_point
from condal.certificates.history import Row
from condal.driver.run_record import HANDOVER, UNITS_AS_GIVEN
from condal.driver.scaling import Scaling
from condal.errors import PieceError, ProblemError
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, Point
from condal.methods.state import LEAST_WARM_K, Warm, point_dual
from condal.problem import Problem
from condal.result import Result
from condal.types import from_user

SAME_VALUE = 1e-6  # relative: x is the iterate of a row whose values it has to this


def warm_from(start: Result | tuple[Any, Any], problem: Problem, scaling: Scaling) -> Warm:
    """Return the point, dual, k and penalty to start from; raise ProblemError if they are of
    another space."""
    if isinstance(start, tuple):
        return _first_pair(start, problem, scaling)
    return _end_of(start, problem, scaling)


def claimed_answer(
    start: Result | tuple[Any, Any], problem: Problem, x: Point | None, tol: float
) -> tuple[Point, Array] | None:
    """Return x and y of a result that claims an error of at most tol, if x has its objective here.

    They may be the answer already: it takes one proof to see.
    """
    if isinstance(start, tuple) or x is None:
        return None
    claim = start.certificate
    if not max(claim.gap, claim.infeasibility, claim.price) <= tol:
        return None
    return (x, start.y) if _has_objective(EvaluatedPoint.of(problem, x), start) else None


def seed_offset(start: Result | tuple[Any, Any]) -> int:
    """Return a number that depends on every bit of the dual.

    The dual was chosen after the proofs of an earlier solve, so further proofs of it must not
    repeat their random vectors.
    """
    y = start[1] if isinstance(start, tuple) else start.y
    digest = sha256(np.ascontiguousarray(0.0 if y is None else y).tobytes()).digest()
    return int.from_bytes(digest[:4], "little")


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
    """Where an earlier solve ended.

    k and the penalty of CGAL belong to its last iterate. If x is that iterate, the solve continues
    as if it had not stopped. A repaired point, or one of other data, keeps its dual, and k starts
    again: with steps of 2 / (k + 1), a large k would keep the errors of x for another k iterations.
    Where the diagonal of x is fixed and the objective is another, x tells a better dual: the old
    one leaves a negative eigenvalue of V wherever entries of C are new.
    """
    if result.x is None:
        raise ProblemError("warm_start has no point: the solve it comes from ended too early")
    if result.y.shape != (problem.A.size,) or result.y.dtype.kind not in "iuf":
        raise ProblemError(
            f"warm_start has a dual of length {result.y.size} and this problem needs "
            f"{problem.A.size}: start from a result of a problem of the same shape"
        )
    try:
        x = from_user(problem.X, result.x)
        seen = EvaluatedPoint.of(problem, x)
        distance = problem.X.distance(x)
    except (AssertionError, AttributeError, IndexError, PieceError, TypeError, ValueError):
        raise ProblemError(
            "warm_start has a point of another space than this problem's: start from a result "
            "of a problem of the same shape"
        ) from None
    k, lam, history = LEAST_WARM_K, nan, result.history
    if len(history) and _is_iterate(seen, history.last):
        k = max(history.last.k, LEAST_WARM_K)
        if ends_with_cgal(result.method):  # the penalty of another method has another meaning
            lam = history.last.lam
    # For another domain, only the dual helps.
    inside, moved = is_member(problem.X, distance), not _has_objective(seen, result)
    y = point_dual(problem, x) if inside and moved else None
    y = scaling.normalised_dual(result.y if y is None else y)
    return Warm(x if inside else None, y, k, lam, moved)


def _has_objective(seen: EvaluatedPoint, result: Result) -> bool:
    """Return whether a point has the objective that the result claims for it."""
    claimed = result.certificate.objective
    return isclose(seen.objective, claimed, rel_tol=SAME_VALUE, abs_tol=1e-12)


def _is_iterate(seen: EvaluatedPoint, row: Row) -> bool:
    """Return whether a point has the objective and the infeasibility of a row."""
    pairs = (seen.objective, row.objective), (seen.infeasibility, row.infeasibility)
    return all(isclose(a, b, rel_tol=SAME_VALUE, abs_tol=1e-12) for a, b in pairs)


def ends_with_cgal(name: str) -> bool:
    """Whether CGAL with a moving dual was the last method of a run, so that its lam can resume."""
    last = name.split(HANDOVER)[-1]
    return last.startswith("cgal") and not last.endswith(UNITS_AS_GIVEN)
