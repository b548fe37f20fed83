"""Whether a point lies in X, and whether it is of the space of X at all."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates.measures import EXACT_INFEASIBILITY
from condal.errors import ProblemError
from condal.linalg.gradients import add, norm
from condal.linalg.points import Array, LowRank, local_rows, total_rows
from condal.linalg.rounding import stable_norm
from condal.problem import Problem
from condal.types import Domain, Spectral

if TYPE_CHECKING:
    from condal.certificates.certificate import EvaluatedPoint

MEMBER_TOL = 1e-6  # of max |x| over X: a point within this distance of X counts as in X
REFUTING_ROUNDING = 1e-9  # of what is added up: more is no rounding of an objective or a price
ASYMMETRY_ROUNDING = 1e-9  # of the largest entry: an asymmetry that is rounding


def is_member(X: Domain, distance: float, tol: float = inf) -> bool:
    """Return whether a point at this distance from X counts as a point of X."""
    return distance <= min(MEMBER_TOL, tol) * X.max_norm


def price_of_distance(problem: Problem, seen: EvaluatedPoint, y: Array) -> float:
    """Return what the distance of a point from X is worth, about, at the slope of the Lagrangian.

    Over a large X, a distance that is small relative to X may be worth more than the objective.
    """
    if seen.distance_to_X == 0.0:
        return 0.0
    f, h = problem.f, problem.h
    v = add(f.M.adjoint(f.gradient(seen.Mx)), problem.A.adjoint(h.dual_point(y)))
    return norm(v, np.random.default_rng(0)) * seen.distance_to_X


def refutes(problem: Problem, seen: EvaluatedPoint, y: Array, lower: float) -> bool:
    """Return whether a point of X refutes a lower bound that the dual y is said to prove.

    By weak duality, no such bound exceeds the objective at any x in X by more than the price of
    its infeasibility. What is left, beyond rounding, shows that the proof is wrong. Proofs that use
    a fixed diagonal say nothing of points with another one.
    """
    if not is_member(problem.X, seen.distance_to_X):
        return False
    if problem.fixed_diagonal is not None and seen.infeasibility > EXACT_INFEASIBILITY:
        return False
    w, value = problem.h.dual_point(y), problem.sense * seen.objective
    excess = lower - value - problem.price(seen.Ax, w)
    if not excess > REFUTING_ROUNDING * problem.gap_unit(value):
        return False
    largest = problem.objective_range + stable_norm(w) * problem.A.norm * problem.X.max_norm
    rounding = REFUTING_ROUNDING * (largest + abs(value) + abs(lower))
    return bool(excess > rounding + 2 * price_of_distance(problem, seen, y))


def require_point(X: Domain, x: Any) -> None:
    """Raise ProblemError unless x is finite, real, and of the shape of the points of X.

    A matrix must be symmetric: functions that read one triangle and functions that read both would
    otherwise see different points.
    """
    parts = getattr(X, "parts", None)
    if parts is not None:
        if not isinstance(x, tuple) or len(x) != len(parts):
            raise ProblemError(f"x must be a tuple of {len(parts)} blocks")
        for part, block in zip(parts, x, strict=True):
            require_point(part, block)
        return
    for array in _arrays(x):
        require_real(array, "x")
    if not isinstance(X, Spectral):
        if isinstance(x, np.ndarray):
            X.check(x, "x")
        return
    side = (total_rows(x.U),) * 2 if isinstance(x, LowRank) else x.shape
    if side != (X.n, X.n):
        raise ProblemError(f"x must be {X.n} x {X.n}; got shape {side}")
    if isinstance(x, np.ndarray) and x.size:
        asymmetry = float(np.abs(x - x.T).max())
        if asymmetry > ASYMMETRY_ROUNDING * float(np.abs(x).max()):
            raise ProblemError(f"x must be symmetric; the largest |x - x'| is {asymmetry:.3g}")


def _arrays(x: Any) -> Iterator[Any]:
    """Yield the arrays of a point."""
    if isinstance(x, tuple):  # blocks of a domain that does not say what they are
        for block in x:
            yield from _arrays(block)
    elif isinstance(x, LowRank):
        yield from (x.U, x.weights)
    else:
        yield x


def require_vector(v: Any, like: Array, name: str) -> None:
    """Raise ProblemError unless v holds as many finite real numbers as `like`."""
    require_real(v, name)
    if v.shape != like.shape:
        raise ProblemError(f"{name} must be {like.size} finite numbers; got shape {v.shape}")


def require_real(array: Any, name: str) -> None:
    """Raise ProblemError unless the array holds finite real numbers."""
    if not isinstance(local_rows(array), np.ndarray) or array.dtype.kind not in "biuf":
        kind = getattr(array, "dtype", type(array).__name__)
        raise ProblemError(f"{name} must be arrays of real numbers; got {kind}")
    if not np.isfinite(array).all():
        raise ProblemError(f"{name} must be finite; it holds nan or inf")
