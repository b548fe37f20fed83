"""The paper's guarantees, on planted problems whose x*, y* and f* are known exactly.

The problem is min <C, x> over x psd of a given trace, with diag(x) in K: K is the point 1, or the
box [0, 1]. x* = R R' and C = S - Diag(y*) with S psd and S R = 0, so that f* = -sum(y*).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product
from math import sqrt
from typing import Literal

import numpy as np
from scipy.linalg import null_space

from condal.domains import Spectrahedron
from condal.linalg.points import Array
from condal.maps import Diagonal
from condal.methods import CGAL
from condal.methods.rules import (
    Classical,
    Const,
    Corrective,
    Decr,
    DualRule,
    Exact,
    LineSearch,
    PrimalRule,
)
from condal.methods.state import State
from condal.problem import Problem
from condal.sets import Box, Equal
from condal.smooth import Linear
from condal.storage import Atoms, Dense
from condal.types import Method
from condal_lab.experiments.claims import Measured, PaperClaim, claim
from condal_lab.experiments.curve import slope
from condal_lab.methods import UPD

FULL_ITERATIONS, QUICK_ITERATIONS = 2_000, 300
SIDE, RANK, SEED = 12, 3, 7
LAM0 = (0.1, 1.0, 10.0)
CORRECTIVE_SHARE = 0.05  # of the iterations: a corrective one is much dearer
DUAL_FACTOR = 3  # times as many iterations: y settles late if lam0 is small
NO_GROWTH = 0.02  # of |y|
SCALES = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the objective of UPD
MATTERS = 2.0  # a factor in the merit that matters

Measurement = Callable[[int], PaperClaim]
PointOrBox = Literal["point", "box"]
CASES: tuple[tuple[PointOrBox, float], ...] = tuple(product(("point", "box"), LAM0))


@dataclass(frozen=True, eq=False)
class PlantedProblem:
    """A problem, its optimum f*, and a solution x* with its multipliers y*."""

    problem: Problem
    optimum: float
    x: Array
    y: Array


def planted(kind: PointOrBox) -> PlantedProblem:
    """Return the planted problem whose K is a point or a box."""
    rng = np.random.default_rng(SEED)
    R = rng.standard_normal((SIDE, RANK))
    R /= np.linalg.norm(R, axis=1)[:, None]
    y = 1 + rng.standard_normal(SIDE)
    if kind == "box":  # half of the bounds are active, with multipliers >= 0
        R[::2] *= 0.7
        y = np.abs(y)
        y[::2] = 0.0
    N = null_space(R.T)
    S = (N * rng.uniform(0.5, 2.0, N.shape[1])) @ N.T
    ones = np.ones(SIDE)
    K = Equal(ones) if kind == "point" else Box(0 * ones, ones)
    problem = Problem.of(
        f=Linear(0.5 * (S + S.T) - np.diag(y)),
        X=Spectrahedron(SIDE, trace=float(np.sum(R * R))),
        A=Diagonal(SIDE),
        K=K,
    )
    return PlantedProblem(problem, -float(y.sum()), R @ R.T, y)


def theorem(name: str, eta: PrimalRule, sigma: Literal["const", "decr"]) -> Measurement:
    """Test whether the three bounds of Theorem 3.1 hold at every iteration."""

    @claim("3.1, 3.2", f"Theorem 3.1 holds with {name}")
    def measure(iterations: int) -> Measured:
        corrects = isinstance(eta, Corrective)
        count = round(CORRECTIVE_SHARE * iterations) if corrects else iterations
        runs = [_bound_ratios(planted(kind), eta, sigma, lam0, count) for kind, lam0 in CASES]
        above, apart, below = np.max(np.concatenate(runs), axis=0)
        said = (
            f"over {count} iterations f - f* reaches {above:.2g} of its upper bound and "
            f"{below:.2g} of its lower bound, the feasibility gap {apart:.2g} of its bound"
        )
        return said, bool(max(above, apart, below) <= 1)

    return measure


def _bound_ratios(
    truth: PlantedProblem,
    eta: PrimalRule,
    sigma: Literal["const", "decr"],
    lam0: float,
    iterations: int,
) -> Array:
    """Return, for each x_k, k >= 2, its residuals over their bounds, with D_Y = D_X |A| lam0.

    The columns are f - f* from above, the feasibility gap, and f - f* from below.
    """
    problem = truth.problem
    D_X, norm = problem.X.diameter, problem.A.norm
    D_Y = D_X * norm * lam0
    rule: DualRule = Const() if sigma == "const" else Decr()
    half = 1.0 if sigma == "const" else 0.5
    square, rows = half * D_X**2, []
    method = CGAL(lam0, eta=eta, sigma=rule, tol=Exact(), D_Y=D_Y)
    for state in states(problem, method, iterations):
        root = sqrt(state.k + 1)  # the state after iteration k holds x_{k+1}
        residual = state.value - truth.optimum
        gap = problem.h.distance(state.Ax)
        above = 4 * square * lam0 * norm**2 / root + D_Y**2 / (2 * lam0 * root)
        to_y = float(np.linalg.norm(state.y - truth.y))
        apart = 2 / (lam0 * root) * (D_Y / 2 + to_y + sqrt(2 * square) * norm * lam0)
        below = max(float(np.linalg.norm(truth.y)) * gap, 1e-9)
        rows.append((residual / above, gap / apart, -residual / below))
    return np.array(rows)


@claim("B", "Under decr. the norm |Ax - rbar| of the dual direction is O(1/sqrt k)")
def decr_steps_shrink(iterations: int) -> Measured:
    """Test whether sqrt(k) |Ax - rbar| under decr. has stopped growing."""
    places, slopes = [], []
    for k, d, _ in _decr_runs(DUAL_FACTOR * iterations):
        places.append(k[int(np.argmax(np.sqrt(k) * d))] / k[-1])
        slopes.append(slope(k, d).value)
    said = (
        f"sqrt(k) |Ax - rbar| is largest at {max(places):.1%} of the iterations or before, and the "
        f"slopes of |Ax - rbar| are {min(slopes):.2f} to {max(slopes):.2f}, with D_Y = inf"
    )
    return said, bool(max(places) <= 0.1)


@claim("B", "Under decr. |y| grows at most like log k without a bound D_Y")
def decr_duals_are_bounded(iterations: int) -> Measured:
    """Test whether |y| under decr. grows in the last decade by no more than in an earlier one.

    Growth by less than `NO_GROWTH` counts as none.
    """
    growths, truth = [], True
    for k, _, norms in _decr_runs(DUAL_FACTOR * iterations):
        ends = np.interp(k[-1] / np.array([1e3, 1e2, 1e1, 1.0]), k, norms)
        growths.append(np.diff(ends))
        truth &= growths[-1][-1] <= max(*growths[-1][:-1], NO_GROWTH * ends[-1])
    first = max(growths, key=lambda growth: float(growth[-1]))
    changes = ", ".join(f"{growth:.2g}" for growth in first)
    said = f"over the last three decades of iterations |y| changes by {changes} where it grows most"
    return said, bool(truth)


def _decr_runs(iterations: int) -> Iterator[tuple[Array, Array, Array]]:
    """Run CGAL (decr.) without D_Y on each planted problem with each lam0.

    Yield k, and |Ax - rbar| and |y| after iteration k.
    """
    for kind, lam0 in CASES:
        method = CGAL(lam0, sigma=Decr(), tol=Exact())
        visited = list(states(planted(kind).problem, method, iterations))
        d = [np.linalg.norm(b.y - a.y) / b.sigma for a, b in pairwise(visited)]
        norms = [np.linalg.norm(state.y) for state in visited[1:]]
        yield np.arange(2.0, iterations + 1), np.array(d), np.array(norms)


@claim("5.2", "UPD depends on the scale of the objective in addition to eps")
def upd_depends_on_scale(iterations: int) -> Measured:
    """Test whether the scale of the objective matters to UPD beyond eps.

    With f scaled by t, y scales by t and M by 1/t: UPD at t f and t eps takes the steps of UPD at f
    and eps, except for the M that it starts from.
    """
    count = max(100, iterations // 10)
    fixed = [_upd_merit(scale, 0.1, count) for scale in SCALES]
    scaled = [_upd_merit(scale, 0.1 * scale, count) for scale in SCALES]
    spread = max(scaled) / min(scaled)
    said = (
        f"with f times {SCALES[0]:g} to {SCALES[-1]:g}, the merit varies by a factor of "
        f"{max(fixed) / min(fixed):.2g} at a fixed eps, of {spread:.3g} if eps is scaled with f"
    )
    return said, spread > MATTERS


def _upd_merit(scale: float, eps: float, iterations: int) -> float:
    truth = planted("point")
    scaled = replace(truth.problem, f=truth.problem.f.scaled(scale))
    *_, last = states(scaled, UPD(eps), iterations)
    residual = abs(last.value / scale - truth.optimum) / abs(truth.optimum)
    return max(residual, truth.problem.h.distance(last.Ax) / sqrt(SIDE))


def states(problem: Problem, method: Method, iterations: int) -> Iterator[State]:
    """Run a method, and yield its first states."""
    x = Atoms() if method.keeps == "atoms" else Dense()
    return islice(method.iterates(problem, x), iterations)


def measure_all(*, quick: bool) -> list[PaperClaim]:
    """Return every claim with its verdict."""
    iterations = QUICK_ITERATIONS if quick else FULL_ITERATIONS
    return [measure(iterations) for measure in MEASUREMENTS]


MEASUREMENTS: tuple[Measurement, ...] = (
    theorem("the classical step, const.", Classical(), "const"),
    theorem("the classical step, decr.", Classical(), "decr"),
    theorem("line search, const.", LineSearch(), "const"),
    theorem("line search, decr.", LineSearch(), "decr"),
    theorem("the fully corrective step, const.", Corrective(), "const"),
    theorem("the fully corrective step, decr.", Corrective(), "decr"),
    decr_steps_shrink,
    decr_duals_are_bounded,
    upd_depends_on_scale,
)
