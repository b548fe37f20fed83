"""Every method with a suitable problem and the accuracy that its theory promises there."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import condal
from condal.driver.scaling import normalise
from condal.linalg.symmetric import Symmetric
from condal.methods import (
    CGAL,
    AcceleratedGradient,
    InteriorPoint,
    LowRankCGAL,
    LowRankNewton,
    PrimalDual,
    SphereSweeps,
    Splitting,
    corrective,
    fwal,
    hcgm,
)
from condal.methods.rules import LineSearch
from condal.nonsmooth import L1
from condal.storage import automatic
from condal_lab.methods import AUPD, CGS, GDMM, IAL, UPD, SketchyCGM, SmoothedCG
from known import PLANTED, Known


def smooth_simplex(n: int = 12, seed: int = 0) -> Known:
    """min 1/2 |Mx - c|^2 over the simplex, c chosen such that x* is optimal."""
    rng = np.random.default_rng(seed)
    x = np.maximum(rng.standard_normal(n), 0.0)
    x /= x.sum()
    v = 0.3 + np.where(x > 0, 0.0, rng.uniform(0.2, 1.0, n))
    M = rng.standard_normal((n, n)) + 3 * np.eye(n)
    residual = np.linalg.solve(M.T, v)
    f = condal.LeastSquares(M, M @ x - residual)
    problem = condal.Problem.of(f=f, X=condal.Simplex(n))
    return Known(problem, x, np.zeros(0), 0.5 * float(residual @ residual))


def smooth_sdp(n: int = 10, seed: int = 0) -> Known:
    """min 1/2 |E(x) - E(x*)|^2 over the spectrahedron: the optimum is 0, at a matrix of rank 2."""
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.standard_normal((n, 2)))[0]
    x = 1.5 * R @ R.T
    E = condal.Entries(n)
    problem = condal.Problem.of(
        f=condal.LeastSquares(E, E(x)), X=condal.Spectrahedron(n, trace=3.0)
    )
    return Known(problem, x, np.zeros(0), 0.0)


def seen_sdp(n: int = 30, seed: int = 0) -> Known:
    """min 1/2 |E(x) - E(x*)|^2 over the spectrahedron, E half of the entries: the optimum is 0."""
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.standard_normal((n, 2)))[0]
    x = 1.5 * R @ R.T
    rows, cols = np.nonzero(np.triu(rng.random((n, n)) < 0.5))
    E = condal.Entries(n, rows, cols)
    f = condal.LeastSquares(E, E(x))
    problem = condal.Problem.of(f=f, X=condal.Spectrahedron(n, trace=3.0))
    return Known(problem, x, np.zeros(0), 0.0)


def lipschitz_simplex(n: int = 9, seed: int = 1) -> Known:
    """min <c, x> + |Ax|_1 over the simplex: c = mu - A'w + slack, w a subgradient at Ax*."""
    rng = np.random.default_rng(seed)
    x = np.maximum(rng.standard_normal(n), 0.0)
    x /= x.sum()
    A = rng.standard_normal((5, n))
    A[0] -= A[0] @ x  # a kink: (Ax*)_0 = 0
    w = np.sign(A @ x)
    w[0] = 0.4
    c = 0.2 - A.T @ w + np.where(x > 0, 0.0, rng.uniform(0.2, 1.0, n))
    f = condal.Linear(c)
    problem = condal.Problem.of(f=f, X=condal.Simplex(n), A=condal.Matrix(A), K=L1(size=5))
    return Known(problem, x, w, float(c @ x + np.abs(A @ x).sum()))


def two_polytopes(n: int = 8, seed: int = 0) -> Known:
    """min <c, x1> over x1 = T x2, both in the simplex, T column-stochastic: the best T e_j."""
    rng = np.random.default_rng(seed)
    T = rng.random((n, n))
    T /= T.sum(axis=0)
    c = rng.standard_normal(n)
    best = int(np.argmin(c @ T))
    problem = condal.Problem.of(
        f=condal.Linear((c, np.zeros(n))),
        X=condal.Product(condal.Simplex(n), condal.Simplex(n)),
        A=condal.Across(condal.Matrix(np.eye(n)), condal.Matrix(-T)),
        K=condal.Equal(np.zeros(n)),
    )
    return Known(problem, (T[:, best], np.eye(n)[best]), np.zeros(n), float(c @ T[:, best]))


def oracle_alone() -> Known:
    """min <c, x> over the hull of three points, which has no known projection."""
    X = condal.Hull(np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]))
    problem = condal.Problem.of(f=condal.Linear([1.0, 1.0]), X=X)
    return Known(problem, np.array([0.0, 1.0]), np.zeros(0), 1.0)


def unit_diagonal(n: int = 20, seed: int = 0) -> Known:
    """min <C, x>, diag x = 1: C = Z - Diag y with Z psd, Z x* = 0, x* of rank 2."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((n, 2))
    R /= np.linalg.norm(R, axis=1, keepdims=True)
    across = np.linalg.svd(R)[0][:, 2:]
    Z = (across * rng.uniform(0.5, 2.0, n - 2)) @ across.T
    y = rng.standard_normal(n)
    C = Z - np.diag(y)
    problem = condal.Problem.of(
        f=condal.Linear(0.5 * (C + C.T)),
        X=condal.Spectrahedron(n, trace=float(n)),
        A=condal.Diagonal(n),
        K=condal.Equal(np.ones(n)),
    )
    return Known(problem, R @ R.T, y, -float(y.sum()))


def pentagon() -> Known:
    """Theta of a cycle of five vertices is the square root of 5 (Lovasz 1979)."""
    i, ones, root = np.arange(5), np.ones(5), np.sqrt(5.0)
    problem = condal.Problem.of(
        f=condal.Linear(Symmetric(5, pairs=((-ones, ones),))),
        X=condal.Spectrahedron(5),
        A=condal.Entries(5, i, (i + 1) % 5),
        K=condal.Equal(np.zeros(5)),
    )
    away = np.minimum((i[:, None] - i) % 5, (i - i[:, None]) % 5)
    x = np.choose(away, [1.0, 0.0, (root - 1) / 2]) / 5
    return Known(problem, x, np.full(5, 5 - root), -float(root))


@dataclass(frozen=True)
class Case:
    """A method, a problem, and the accuracy it must reach in a number of oracle calls, or at the
    end if it makes none."""

    method: Any
    known: Callable[[], Known]
    calls: int
    objective: float
    infeasibility: float


sdp, box = PLANTED["sdp-equal"], PLANTED["sdp-box"]
curved = PLANTED["simplex-equal"]

# Except for fully corrective methods the worst-case rates are 1/sqrt(k). The accuracies are
# relative to the normalised problem, whose objective and images have a size of about 1.
CASES = {
    "cgal": Case(CGAL(1.0), sdp, 3000, 1e-3, 1e-3),
    "cgal-ls": Case(CGAL(eta=LineSearch()), box, 1000, 1e-3, 1e-3),
    "hcgm": Case(hcgm(1.0), sdp, 3000, 2e-2, 2e-2),
    "fw-al": Case(fwal(1.0, 1.0), sdp, 3000, 2e-2, 2e-2),
    "fw-al curved": Case(fwal(1.0, 1.0), curved, 3000, 2e-2, 2e-2),
    "ial": Case(IAL(1.0, 0.1), sdp, 3000, 2e-2, 2e-2),
    "ial box": Case(IAL(1.0, 0.1), box, 3000, 2e-2, 2e-2),
    "ial curved": Case(IAL(1.0, 0.1), curved, 3000, 2e-2, 2e-2),
    "ial line search": Case(IAL(1.0, 0.1, eta=LineSearch()), sdp, 3000, 2e-2, 2e-2),
    "upd": Case(UPD(1e-2), sdp, 3000, 2e-2, 3e-2),
    "upd box": Case(UPD(1e-2), box, 3000, 2e-2, 3e-2),
    "aupd": Case(AUPD(1e-2), sdp, 3000, 2e-2, 3e-2),
    "aupd box": Case(AUPD(1e-2), box, 3000, 2e-2, 3e-2),
    "corrective": Case(corrective(), sdp, 200, 1e-6, 1e-6),
    "corrective box": Case(corrective(), box, 200, 1e-6, 1e-6),
    "corrective curved": Case(corrective(), curved, 800, 1e-6, 1e-6),
    "corrective lipschitz": Case(corrective(), lipschitz_simplex, 200, 1e-6, 0.0),
    "lowrank": Case(LowRankCGAL(), sdp, 9, 1e-5, 1e-5),
    "lowrank box": Case(LowRankCGAL(), box, 9, 1e-5, 1e-5),
    "lowrank at most": Case(LowRankCGAL(), PLANTED["sdp-at-most"], 9, 1e-5, 1e-5),
    "lowrank curved": Case(LowRankCGAL(), smooth_sdp, 3, 1e-5, 0.0),
    "lowrank rows": Case(LowRankCGAL(), unit_diagonal, 4, 1e-6, 1e-9),
    "accelerated": Case(AcceleratedGradient(), seen_sdp, 6, 1e-6, 0.0),
    "newton": Case(LowRankNewton(), sdp, 0, 1e-6, 1e-9),
    "newton at most": Case(LowRankNewton(), PLANTED["sdp-at-most"], 0, 1e-6, 1e-9),
    "newton rows": Case(LowRankNewton(), unit_diagonal, 0, 1e-6, 1e-9),
    "spheres": Case(SphereSweeps(), pentagon, 20, 1e-6, 1e-6),
    "splitting": Case(Splitting(), sdp, 60, 1e-5, 1e-5),
    "splitting box": Case(Splitting(), box, 60, 1e-5, 1e-5),
    "splitting at most": Case(Splitting(), PLANTED["sdp-at-most"], 60, 1e-5, 1e-5),
    "splitting rows": Case(Splitting(), unit_diagonal, 60, 1e-5, 1e-5),
    "splitting pentagon": Case(Splitting(), pentagon, 20, 1e-6, 1e-6),
    "interior-point": Case(InteriorPoint(), sdp, 0, 1e-9, 1e-9),
    "interior-point box": Case(InteriorPoint(), box, 0, 1e-9, 1e-9),
    "interior-point at most": Case(InteriorPoint(), PLANTED["sdp-at-most"], 0, 1e-9, 1e-9),
    "interior-point rows": Case(InteriorPoint(), unit_diagonal, 0, 1e-9, 1e-9),
    "interior-point polytopes": Case(InteriorPoint(), two_polytopes, 0, 1e-9, 1e-9),
    "primal-dual": Case(PrimalDual(), sdp, 450, 1e-7, 1e-7),
    "primal-dual box": Case(PrimalDual(), box, 450, 1e-7, 1e-7),
    "primal-dual at most": Case(PrimalDual(), PLANTED["sdp-at-most"], 450, 1e-7, 1e-7),
    "primal-dual curved": Case(PrimalDual(), curved, 450, 1e-7, 1e-7),
    "primal-dual lipschitz": Case(PrimalDual(), lipschitz_simplex, 200, 1e-7, 0.0),
    "primal-dual polytopes": Case(PrimalDual(steps=2), two_polytopes, 200, 1e-6, 1e-6),
    "primal-dual smooth": Case(PrimalDual(steps=2), smooth_simplex, 60, 1e-8, 0.0),
    "gdmm": Case(GDMM(1.0), two_polytopes, 60, 1e-8, 1e-8),
    "cgs": Case(CGS(), smooth_simplex, 3000, 1e-3, 0.0),
    "cgs sdp": Case(CGS(), smooth_sdp, 1500, 2e-3, 0.0),
    "cgs lipschitz": Case(CGS(100.0), lipschitz_simplex, 6000, 2e-2, 0.0),
    "smoothed-cg": Case(SmoothedCG(), lipschitz_simplex, 3000, 2e-2, 0.0),
    "smoothed-cg fixed": Case(SmoothedCG(1e-2), lipschitz_simplex, 3000, 2e-2, 0.0),
    "sketchy-cgm": Case(SketchyCGM(), smooth_sdp, 1000, 2e-3, 0.0),
}


def built(name: str) -> tuple[Case, Known, condal.Problem, Any]:
    """Return the case, its known problem, the normalised problem, and a storage for it."""
    case = CASES[name]
    known = case.known()
    problem, scaling = normalise(known.problem)
    normalised = replace(known, problem=problem, optimum=known.optimum * scaling.c)
    return case, normalised, problem, new_storage(case, known)


def new_storage(case: Case, known: Known) -> Any:
    problem = known.problem
    return automatic(problem.X, problem.A.size + problem.f.M.size, keeps=case.method.keeps)
