"""Certified optima of the instances: what the residuals in the figures are measured against.

A point and a dual are found by a method that knows the problem's structure; what counts is that
`certify` proves them. The points are feasible but for rounding, so that the optimum lies between
the objective and the bound: the objective is off by at most their difference.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from condal.certificates.certificate import Certificate, certify
from condal.domains import Spectrahedron
from condal.driver.solve import solve
from condal.errors import ProblemError
from condal.lab.experiments.instances import Instance
from condal.lab.experiments.splitting import splitting
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps import Triangle
from condal.methods import LowRankCGAL
from condal.problem import Problem

TOLERANCE = 1e-8
MAX_SECONDS = 480.0
FEASIBLE = 1e-6  # infeasibility above which a point is none


@dataclass(frozen=True)
class Reference:
    """The optimum f* lies between `objective`, that of a feasible point, and the proved `bound`.

    `gap` is |objective - bound| / |objective|; `infeasibility` and `distance_to_X` say how far the
    point is from feasible, `how` what proved the bound, `failure` how likely it is wrong. All are
    plain numbers and text, to be written as JSON.
    """

    objective: float
    bound: float
    gap: float
    infeasibility: float
    distance_to_X: float
    how: str
    failure: float
    method: str
    looks: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Solution:
    """A reference with the point and the dual that prove it."""

    reference: Reference
    x: Point
    y: Array


def reference(
    instance: Instance, *, tol: float = TOLERANCE, max_seconds: float = MAX_SECONDS
) -> Reference:
    """The certified optimum of the instance, its gap at most `tol` if the time allows."""
    return solution(instance, tol=tol, max_seconds=max_seconds).reference


def solution(
    instance: Instance, *, tol: float = TOLERANCE, max_seconds: float = MAX_SECONDS
) -> Solution:
    """`reference` with its point and its dual: the best pair that was certified."""
    start = time.perf_counter()
    method, pairs = _METHODS[instance.kind]
    best: Solution | None = None
    for looks, (x, y) in enumerate(pairs(instance.problem), start=1):
        slack = 0.01 * tol * abs(instance.problem.objective(x))
        proved = certify(instance.problem, x, y, slack=slack)
        seconds = time.perf_counter() - start
        found = _reference(proved, method, looks, seconds)
        if best is None or _merit(found) < _merit(best.reference):
            best = Solution(found, x, y)
        if _merit(found) <= tol or seconds >= max_seconds:
            break
    if best is None or not np.isfinite(best.reference.bound):
        raise ProblemError(
            f"no bound on the optimum of {instance.name} was proved by {method}: "
            "solve it with condal.solve, and look at its certificate"
        )
    if best.reference.infeasibility > FEASIBLE:
        raise ProblemError(
            f"no feasible point of {instance.name} was found by {method}: the best has an "
            f"infeasibility of {best.reference.infeasibility:.1e}; solve it with condal.solve"
        )
    return best


def _reference(proved: Certificate, method: str, looks: int, seconds: float) -> Reference:
    objective, bound = float(proved.objective), float(proved.bound)
    return Reference(
        objective,
        bound,
        abs(objective - bound) / (abs(objective) or 1.0),
        float(proved.infeasibility),
        float(proved.distance_to_X),
        proved.how,
        float(proved.failure),
        method,
        looks,
        seconds,
    )


def _merit(found: Reference) -> float:
    return max(found.gap, found.infeasibility)


def _max_cut(problem: Problem) -> Iterator[tuple[Point, Array]]:
    """The pair that the low-rank method proves."""
    result = solve(problem, LowRankCGAL(), tol=0.5 * TOLERANCE, max_iters=1000)
    if result.x is not None:
        yield result.x, result.y


def _k_means(problem: Problem) -> Iterator[tuple[Point, Array]]:
    """The pairs of `splitting`, y as the maps x -> (x1, the entries of x) have it."""
    for pair in splitting(_cost(problem).to_dense(), round(_domain(problem).trace)):
        yield pair.x, np.concatenate([pair.u, Triangle(len(pair.W))(pair.W)])


def _geneig(problem: Problem) -> Iterator[tuple[Point, Array]]:
    """The y of least y + alpha max(0, lambda_max(Phi - y Psi)): where its slope changes sign.

    The slope is 1 - alpha <Psi, u u'>, u the top eigenvector. Where it passes through 0, or the
    trace constraint is idle, x is a multiple of u u'; where it jumps, the top eigenvalue is double.
    """
    alpha, Phi = _domain(problem).trace, -_cost(problem).to_dense()
    constraint = problem.A.adjoint(np.ones(1))
    assert isinstance(constraint, Symmetric)
    Psi, n = constraint.to_dense(), constraint.n

    def top(y: float, count: int = 1) -> tuple[Array, Array]:
        values, vectors = eigh(Phi - y * Psi, subset_by_index=[n - count, n - 1])
        return values[::-1], vectors[:, ::-1]

    def slope(y: float) -> float:
        values, vectors = top(y)
        u = vectors[:, 0]
        return 1.0 - alpha * float(u @ Psi @ u) if values[0] > 0 else 1.0

    if not Psi.any():
        raise ProblemError("Psi is 0: no x has <Psi, x> = 1")
    reach = float(np.linalg.norm(Phi) / np.linalg.norm(Psi)) or 1.0
    low, high = -reach, reach
    while slope(low) > 0:
        low *= 4
        if low < -1e12 * reach:
            raise ProblemError("alpha lambda_max(Psi) < 1: no x is feasible; choose a larger alpha")
    while slope(high) <= 0:
        high *= 4
    y = brentq(slope, low, high, xtol=1e-15 * reach, rtol=1e-15)
    V = top(y, min(2, n))[1]
    u = V[:, 0]
    size = 1.0 / float(u @ Psi @ u)
    yield LowRank(u[:, None], np.array([size if 0 < size < alpha else alpha])), np.array([y])
    if n == 1:
        return
    # u + t v of norm 1, v the second eigenvector, that meets the constraint with tr x = alpha.
    B = V.T @ Psi @ V - np.eye(2) / alpha
    root = np.sqrt(max(B[0, 1] ** 2 - B[0, 0] * B[1, 1], 0.0))
    whole = B[0, 1] + np.copysign(root, B[0, 1])
    if whole != 0:
        t = -B[0, 0] / whole
        u = (u + t * V[:, 1]) / np.hypot(1.0, t)
        yield LowRank(u[:, None], np.array([alpha])), np.array([y])


def _cost(problem: Problem) -> Symmetric:
    """C of the minimised objective <C, x>."""
    C = problem.f.M.adjoint(np.ones(1))
    assert isinstance(C, Symmetric)
    return C


def _domain(problem: Problem) -> Spectrahedron:
    assert isinstance(problem.X, Spectrahedron)
    return problem.X


_METHODS: dict[str, tuple[str, Any]] = {
    "max-cut": ("low-rank CGAL", _max_cut),
    "k-means": ("splitting", _k_means),
    "geneig": ("root of the dual's slope", _geneig),
}
