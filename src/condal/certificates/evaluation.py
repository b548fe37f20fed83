"""A point as proofs see it: its images, whether it lies in X, and what it solves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from condal.certificates.certificate import MEMBER_TOL, Certificate
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient, add, frobenius_norm
from condal.linalg.points import Array, LowRank, Point, local_rows, total_rows
from condal.linalg.rounding import Proof, norm_above, stable_norm
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.sets.boxes import Equal
from condal.types import Domain, LinearMap, Spectral

REFUTING_ROUNDING = 1e-9  # of what is added up: more is no rounding of an objective or a price
ASYMMETRY_ROUNDING = 1e-9  # of the largest entry: an asymmetry that is rounding
EXACT_INFEASIBILITY = 1e-12  # an infeasibility that is rounding
ROW_ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of |a_i| max |x|: rounding of (Ax)_i
EXACT_PRICE = 1e-12  # of the unit of a gap: a price that is rounding
MAX_DENSE_SIDE = 1000  # n up to which the norm of a matrix is computed from its entries
EXACT_DISTANCE = 1e-10  # of max |x| over X: a distance from X that is rounding


@dataclass(frozen=True, eq=False)
class EvaluatedPoint:
    """A point with its images, and its objective, infeasibility and distance from X.

    `tangent` is where a bound takes the tangent of f, unless that is Mx.
    """

    x: Point
    Mx: Array
    Ax: Array
    objective: float
    infeasibility: float
    distance_to_X: float
    tangent: Array | None = None

    @classmethod
    def of(cls, problem: Problem, x: Point, tangent: Array | None = None) -> EvaluatedPoint:
        """Evaluate x, which must be a point of the space of X; each image is computed once."""
        require_point(problem.X, x)
        Mx, Ax = problem.f.M(x), problem.A(x)
        return cls(
            x,
            Mx,
            Ax,
            problem.sense * (problem.f.value(Mx) + problem.h.value(Ax)) + 0.0,  # 0 for -0
            problem.h.distance(Ax) / problem.infeasibility_unit,
            problem.X.distance(x),
            tangent,
        )

    @property
    def u(self) -> Array:
        """Where a bound takes the tangent of f."""
        return self.Mx if self.tangent is None else self.tangent


def is_member(X: Domain, distance: float) -> bool:
    """Return whether a point at this distance from X counts as a point of X."""
    return distance <= MEMBER_TOL * X.max_norm


def relative_price(problem: Problem, seen: EvaluatedPoint, y: Array) -> float:
    """Return what the infeasibility of a point and its distance from X are worth, at the dual that
    y proves its bound by, over `Problem.gap_unit`.

    Over a large X, a distance that is small relative to X may be worth more than the objective.
    """
    unit, w, distance = problem.gap_unit(seen.objective), problem.h.dual_point(y), 0.0
    if seen.distance_to_X > 0.0:
        f, A = problem.f, problem.A
        g = f.gradient(seen.Mx)
        slope = norm_of_map(f.M) * stable_norm(g) + norm_of_map(A) * stable_norm(w)
        if slope * seen.distance_to_X > EXACT_PRICE * unit:  # of the Lagrangian, and at most
            slope = min(slope, _norm(add(f.M.adjoint(g), A.adjoint(w))))
        distance = slope * seen.distance_to_X
    return (problem.price(seen.Ax, w) + distance) / unit


def norm_of_map(A: LinearMap) -> float:
    """Return |A| or more. It may be an estimate: twice that is too small with a probability below
    1e-40."""
    return min(2 * A.norm, norm_above(A.row_norms()))


def _norm(v: Gradient | None) -> float:
    """Return |v| or a little more; inf where it would take long."""
    if isinstance(v, tuple):
        return norm_above(np.array([_norm(part) for part in v]))
    if isinstance(v, Symmetric) and not v.matrix_free:
        return frobenius_norm(v) if v.factorable or v.n <= MAX_DENSE_SIDE else inf
    return norm_above(np.ravel(v)) if isinstance(v, np.ndarray) else inf


def refutes(problem: Problem, seen: EvaluatedPoint, y: Array, lower: float, price: float) -> bool:
    """Return whether a point of X refutes a lower bound that the dual y is said to prove.

    By weak duality, no such bound exceeds the objective at any x in X by more than its price. What
    is left, beyond rounding, shows that the proof is wrong. Proofs that use a fixed diagonal say
    nothing of points with another one.
    """
    if not is_member(problem.X, seen.distance_to_X):
        return False
    if problem.fixed_diagonal is not None and seen.infeasibility > EXACT_INFEASIBILITY:
        return False
    value = problem.sense * seen.objective
    w, unit = problem.h.dual_point(y), problem.gap_unit(value)
    largest = problem.objective_range + stable_norm(w) * problem.A.norm * problem.X.max_norm
    rounding = REFUTING_ROUNDING * (largest + abs(value) + abs(lower) + unit)
    return bool(lower - value - price * unit > rounding)


def is_bracket(
    problem: Problem,
    seen: EvaluatedPoint,
    y: Array,
    certificate: Certificate,
    *,
    times: float = 1.0,
) -> bool:
    """Return `Certificate.bracket` of a point, with `times` the rounding that is allowed.

    The infeasibility is one number for all rows: where units differ, it hides what one row
    violates, and over a large X a violation that is rounding may have a price at y.
    """
    beyond = problem.sense * (certificate.bound - certificate.objective)
    price = problem.price(seen.Ax, problem.h.dual_point(y))  # the distance from X is rounding
    return bool(
        certificate.certified
        and certificate.inside
        and certificate.infeasibility <= times * EXACT_INFEASIBILITY
        and price <= times * EXACT_PRICE * certificate.unit
        and beyond <= times * EXACT_PRICE * certificate.unit
        and _rows_hold(problem, seen.Ax, times * ROW_ROUNDING)
    )


def _rows_hold(problem: Problem, Ax: Array, rounding: float) -> bool:
    """Return whether no row of Ax is further from K than its rounding."""
    if not Ax.size:
        return True
    room = rounding * problem.X.max_norm * problem.A.row_norms()
    for part, h in problem.h.pieces:
        if h.lipschitz == inf:
            nearest = h.prox(Ax[part], 1.0)
            allowed = np.maximum(room[part], rounding * np.abs(nearest))
            if not np.all(np.abs(Ax[part] - nearest) <= allowed):
                return False
    return True


def dimacs_errors(
    problem: Problem, seen: EvaluatedPoint, y: Array, lower: float, proof: Proof
) -> dict[str, float]:
    """Return the six DIMACS error measures, for a linear objective over K = {b}.

    The dual slack Z = V - l I, with l proved below lambda_min(V), is psd, so e3 and e4 vanish. e2
    is the distance to X, of which a negative eigenvalue is a part.
    """
    if not isinstance(problem.h, Equal) or problem.f.L != 0.0 or not np.isfinite(lower):
        return {}
    b, value = problem.h.b, problem.f.value(seen.Mx)
    largest = 1.0 + float(np.abs(b).max(initial=0.0))
    total = 1.0 + abs(value) + abs(lower)
    residual = seen.Ax - b
    errors: dict[str, Any] = {
        "e1": stable_norm(residual) / largest,
        "e2": seen.distance_to_X / largest,
        "e3": 0.0,
        "e4": 0.0,
        "e5": (value - lower) / total,
        "e6": (value + y @ seen.Ax - proof.value) / total,
    }
    return {name: float(error) for name, error in errors.items()}


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
