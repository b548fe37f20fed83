"""Certified optima of the instances, against which the figures measure residuals.

A method that uses the structure of the problem computes a point and a dual, and `certify` proves
them. The points are feasible up to rounding, so the optimum lies between the objective and the
bound: the error of the objective is at most their difference.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from condal.certificates.certificate import Certificate
from condal.certificates.verification import certify
from condal.domains import Spectrahedron
from condal.driver.scaling import normalise
from condal.driver.solve import solve
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.maps import RowSums, Stack, Triangle
from condal.methods import LowRankCGAL, Splitting
from condal.problem import Problem
from condal.sets import Equal, NonNegative, Separable
from condal.smooth import Linear
from condal.storage import Factor
from condal_lab.experiments.instances import Instance

MAX_STEPS = 6000
STEPS_PER_PAIR = 10


@dataclass(frozen=True, eq=False)
class PrimalDualPair:
    """x, feasible up to rounding, and the multipliers u of x1 = 1 and W <= 0 of x >= 0."""

    x: Array
    u: Array
    W: Array


def splitting(D: Array, k: int) -> Iterator[PrimalDualPair]:
    """Yield primal and dual points that converge to a solution, one pair per 10 steps."""
    n = D.shape[0]
    if k == 1 or n == 1:  # a single point is feasible
        yield PrimalDualPair(np.full((n, n), 1.0 / n), _row_multipliers(D), np.zeros((n, n)))
        return
    entries = Triangle(n)
    problem, scaling = normalise(
        Problem.of(
            f=Linear(D),
            X=Spectrahedron(n, trace=float(k)),
            A=Stack(RowSums(n), entries),
            K=Separable(Equal(np.ones(n)), NonNegative(entries.size)),
        )
    )
    x = Factor()
    states = islice(Splitting().iterates(problem, x), MAX_STEPS)
    while last := deque(islice(states, STEPS_PER_PAIR), maxlen=1):  # fewer at the end
        W = entries.adjoint(scaling.dual(last[0].y)[n:]).to_dense()
        feasible = _make_nonnegative(_meet_equalities(dense(x.point()), k), k)
        yield PrimalDualPair(feasible, _row_multipliers(D + W), W)


def _meet_equalities(x: Array, k: int) -> Array:
    """Move x to x1 = 1 and tr x = k: 11'/n plus a multiple of the part of x orthogonal to 1."""
    z = _centred(x)
    return (k - 1) / float(np.trace(z)) * z + 1.0 / len(x)


def _make_nonnegative(x: Array, k: int) -> Array:
    """Mix x with the centre of the feasible set, just enough for x >= 0."""
    n = x.shape[0]
    spread = (k - 1) / (n - 1)
    centre = (1.0 - spread) / n  # the entries of the centre off its diagonal
    below = max(0.0, -float(x.min()))
    if below == 0.0:
        return x
    t = min(1.0, (1 + 1e-6) * below / (centre + below))
    mixed = (1 - t) * x + t * centre
    mixed[np.diag_indices(n)] += t * spread
    return np.asarray(mixed)


def _row_multipliers(S: Array) -> Array:
    """Return u with (S + (u1' + 1u')/2) 1 = m 1, m the smallest eigenvalue of S orthogonal to 1.

    The bound -sum u + k lambda_min is then 1'S1/n + (k - 1) m.
    """
    n = S.shape[0]
    least = float(eigh(_centred(S), eigvals_only=True, subset_by_index=[0, 0])[0])
    sums = S.sum(axis=1)
    total = least - float(sums.mean())
    return np.asarray((2 * (least - sums) - total) / n)


def _centred(S: Array) -> Array:
    """Return P S P with P = I - 11'/n."""
    means = S.mean(axis=0)
    return S - means[None, :] - means[:, None] + means.mean()


TOLERANCE = 1e-8
MAX_SECONDS = 480.0
MAX_INFEASIBILITY = 1e-6  # of a point that counts as feasible


@dataclass(frozen=True)
class Reference:
    """The optimum f* lies between the `objective` of a feasible point and the proved `bound`.

    `gap` is |objective - bound| / |objective|. `infeasibility` and `distance_to_X` measure how far
    the point is from feasible. `how` names the proof of the bound, `failure` is its failure
    probability. All fields are numbers or text for JSON.
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
    """Return the certified optimum of the instance, with a gap of at most `tol` if time allows."""
    return solution(instance, tol=tol, max_seconds=max_seconds).reference


def solution(
    instance: Instance, *, tol: float = TOLERANCE, max_seconds: float = MAX_SECONDS
) -> Solution:
    """Return `reference` with its point and dual: the best certified pair."""
    start = time.perf_counter()
    method, pairs = _METHODS[instance.kind]
    best: Solution | None = None
    for looks, (x, y) in enumerate(pairs(instance.problem), start=1):
        slack = 0.01 * tol * abs(instance.problem.objective(x))
        proved = certify(instance.problem, x, y, slack=slack)
        seconds = time.perf_counter() - start
        candidate = _reference(proved, method, looks, seconds)
        if best is None or _merit(candidate) < _merit(best.reference):
            best = Solution(candidate, x, y)
        if _merit(candidate) <= tol or seconds >= max_seconds:
            break
    if best is None or not np.isfinite(best.reference.bound):
        raise ProblemError(
            f"{method} proved no bound on the optimum of {instance.name}: "
            "solve it with condal.solve, and look at its certificate"
        )
    if best.reference.infeasibility > MAX_INFEASIBILITY:
        raise ProblemError(
            f"{method} found no feasible point of {instance.name}: the best has an infeasibility "
            f"of {best.reference.infeasibility:.1e}; solve it with condal.solve"
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


def _merit(candidate: Reference) -> float:
    return max(candidate.gap, candidate.infeasibility)


def _max_cut(problem: Problem) -> Iterator[tuple[Point, Array]]:
    """Yield the pair that the low-rank method proves."""
    result = solve(problem, LowRankCGAL(), tol=0.5 * TOLERANCE, max_iters=1000, seed=0)
    if result.x is not None:
        yield result.x, result.y


def _k_means(problem: Problem) -> Iterator[tuple[Point, Array]]:
    """Yield the pairs of `splitting`, with y for the map x -> (x1, the entries of x)."""
    for pair in splitting(_cost(problem).to_dense(), round(_domain(problem).trace)):
        yield pair.x, np.concatenate([pair.u, Triangle(len(pair.W))(pair.W)])


def _geneig(problem: Problem) -> Iterator[tuple[Point, Array]]:
    """Minimise y + alpha max(0, lambda_max(Phi - y Psi)) by the root of its slope.

    The slope is 1 - alpha <Psi, u u'>, u the top eigenvector. If it passes through 0, or the trace
    constraint is inactive, x is a multiple of u u'. If it jumps, the top eigenvalue is double.
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
    scale = float(np.linalg.norm(Phi) / np.linalg.norm(Psi)) or 1.0
    low, high = -scale, scale
    while slope(low) > 0:
        low *= 4
        if low < -1e12 * scale:
            raise ProblemError("alpha lambda_max(Psi) < 1: no x is feasible; choose a larger alpha")
    while slope(high) <= 0:
        high *= 4
    y = brentq(slope, low, high, xtol=1e-15 * scale, rtol=1e-15)
    V = top(y, min(2, n))[1]
    u = V[:, 0]
    weight = 1.0 / float(u @ Psi @ u)
    yield LowRank(u[:, None], np.array([weight if 0 < weight < alpha else alpha])), np.array([y])
    if n == 1:
        return
    # The multiple of u + t v, v the second eigenvector, with <Psi, x> = 1 and tr x = alpha.
    B = V.T @ Psi @ V - np.eye(2) / alpha
    root = np.sqrt(max(B[0, 1] ** 2 - B[0, 0] * B[1, 1], 0.0))
    pivot = B[0, 1] + np.copysign(root, B[0, 1])
    if pivot != 0:
        t = -B[0, 0] / pivot
        u = (u + t * V[:, 1]) / np.hypot(1.0, t)
        yield LowRank(u[:, None], np.array([alpha])), np.array([y])


def _cost(problem: Problem) -> Symmetric:
    """Return C of the minimised objective <C, x>."""
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
