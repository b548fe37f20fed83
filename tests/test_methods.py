"""Every method on problems it is for: known optima, its theory's rate, its calls, its resuming."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

import condal
from condal.methods import (
    AUPD,
    CGAL,
    CGS,
    GDMM,
    IAL,
    UPD,
    InteriorPoint,
    LowRankCGAL,
    PrimalDual,
    SketchyCGM,
    SmoothedCG,
    Splitting,
    corrective,
    fwal,
    hcgm,
)
from condal.methods.rules import Decr, Exact, LineSearch
from condal.nonsmooth import L1
from condal.scaling import normalise
from condal.state import Warm
from condal.storage import automatic
from forwarding import Forwarding
from known import PLANTED, Known, planted_sdp, torus


def smooth_simplex(n: int = 12, seed: int = 0) -> Known:
    """min 1/2 |Mx - c|^2 over the simplex, c made so that x* is optimal."""
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
    """min <c, x> over the hull of three points, of which no projection is known."""
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


@dataclass(frozen=True)
class Case:
    """A method, a problem, and what it must reach in so many calls of the oracle; in the end, if it
    calls none."""

    method: Any
    known: Callable[[], Known]
    calls: int
    objective: float
    infeasibility: float


sdp, box = PLANTED["sdp-equal"], PLANTED["sdp-box"]
curved = PLANTED["simplex-equal"]

# The worst-case rates are 1/sqrt(k) for all that is not fully corrective: the accuracies are
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
    "splitting": Case(Splitting(), sdp, 60, 1e-5, 1e-5),
    "splitting box": Case(Splitting(), box, 60, 1e-5, 1e-5),
    "splitting at most": Case(Splitting(), PLANTED["sdp-at-most"], 60, 1e-5, 1e-5),
    "splitting rows": Case(Splitting(), unit_diagonal, 60, 1e-5, 1e-5),
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
cases = pytest.mark.parametrize("name", CASES)


def built(name: str) -> tuple[Case, Known, condal.Problem, Any]:
    """The case, its known problem, that problem normalised, and a storage for it."""
    case = CASES[name]
    known = case.known()
    problem, scaling = normalise(known.problem)
    normalised = replace(known, problem=problem, optimum=known.optimum * scaling.c)
    return case, normalised, problem, new_storage(case, known)


def new_storage(case: Case, known: Known) -> Any:
    problem = known.problem
    return automatic(problem.X, problem.A.size + problem.f.M.size, keeps=case.method.keeps)


class Counting(Forwarding):
    """A domain that counts what is asked of it."""

    def __init__(self, X: Any) -> None:
        self.X, self.calls = X, 0

    def lmo(self, v: Any, tol: float = 0.0, guess: Any = None) -> Any:
        self.calls += 1
        return self.X.lmo(v, tol, guess)

    def lowest(self, v: Any, count: int, tol: float, *, beside: Any = None) -> Any:
        self.calls += 1
        return self.X.lowest(v, count, tol, beside=beside)

    def project(self, v: Any, *given: Any, **options: Any) -> Any:
        self.calls += 1
        return self.X.project(v, *given, **options)


def value(problem: condal.Problem, state: Any) -> float:
    return state.value + problem.h.value(state.Ax)


@cases
def test_converges_to_the_known_optimum_at_the_accuracy_of_its_theory(name):
    case, known, problem, x = built(name)
    X = Counting(problem.X)
    counted = replace(problem, X=X)
    # The median of the last tenth of the calls: a single state of a method that swings between
    # subproblems (IAL) is as far off as rounding makes it.
    objectives, infeasibilities = [], []
    for state in case.method.iterates(counted, x):
        if X.calls >= 0.9 * case.calls:
            objectives.append(abs(value(problem, state) - known.optimum))
            infeasibilities.append(problem.h.distance(state.Ax))
        if 0 < case.calls <= X.calls:
            break
    if not case.calls:
        objectives, infeasibilities = objectives[-3:], infeasibilities[-3:]
    assert np.median(objectives) <= case.objective
    assert np.median(infeasibilities) <= case.infeasibility


@cases
def test_images_are_the_maps_of_x(name):
    case, _, problem, x = built(name)
    *_, state = islice(case.method.iterates(problem, x), 40)
    point, rounding = x.point(), 1e-5 if case.method.keeps == "sketch" else 1e-10
    assert np.allclose(problem.f.M(point), state.Mx, atol=rounding)
    assert np.allclose(problem.A(point), state.Ax, atol=rounding)
    assert problem.X.distance(point) <= rounding


@cases
def test_lower_bounds_are_below_the_optimum_and_gaps_close(name):
    case, known, problem, x = built(name)
    states = list(islice(case.method.iterates(problem, x), 150))
    assert all(state.lower <= known.optimum + 1e-9 for state in states)
    best = max(state.lower for state in states)
    assert best >= known.optimum - 0.2


@cases
def test_goes_on_from_a_state_as_if_it_had_not_stopped(name):
    case, known, problem, whole = built(name)
    first = new_storage(case, known)
    uninterrupted = list(islice(case.method.iterates(problem, whole), 12))
    half = list(islice(case.method.iterates(problem, first), 6))[-1]
    rest = list(islice(case.method.iterates(problem, first, half), 6))
    assert [state.k for state in rest] == list(range(7, 13))
    np.testing.assert_array_equal(rest[-1].y, uninterrupted[-1].y)
    np.testing.assert_array_equal(rest[-1].Mx, uninterrupted[-1].Mx)
    a, b = condal.dense(first.point()), condal.dense(whole.point())
    for one, other in zip(*((p,) if not isinstance(p, tuple) else p for p in (a, b)), strict=True):
        np.testing.assert_array_equal(one, other)


@cases
def test_solve_counts_the_calls_and_goes_on_from_a_result(name):
    case = CASES[name]
    known = case.known()
    X = Counting(known.problem.X)
    x = new_storage(case, known)
    counted = replace(known.problem, X=X)
    first = condal.solve(counted, case.method, tol=1e-13, max_iters=30, storage=x)
    assert first.oracle_calls == X.calls
    assert first.method == case.method.name
    again = condal.solve(known.problem, case.method, tol=1e-13, max_iters=60, warm_start=first)
    assert again.status is not condal.Status.SOLVED or again.gap <= 1e-13
    # What a warm start may lose is what the first steps of a method forget; it must not go astray.
    unit = known.problem.f.magnitude(known.problem.X.size)
    assert (
        abs(again.objective - known.optimum)
        <= 3 * abs(first.objective - known.optimum) + 0.1 * unit
    )


@pytest.mark.parametrize(
    "name", ["cgal", "hcgm", "fw-al", "ial", "corrective", "gdmm", "sketchy-cgm"]
)
def test_an_iteration_is_one_call(name):
    case, _, problem, x = built(name)
    X = Counting(problem.X)
    list(islice(case.method.iterates(replace(problem, X=X), x), 25))
    assert X.calls == 25


def test_upd_asks_once_to_begin_and_once_a_trial():
    case, _, problem, x = built("upd")
    X = Counting(problem.X)
    M, calls = 1.0, 1
    for state in islice(case.method.iterates(replace(problem, X=X), x), 50):
        doublings = np.log2(state.own.M / (M / 2))
        assert doublings == round(doublings) >= 0
        calls += 1 + round(doublings)
        M = state.own.M
    assert X.calls == calls


def test_aupd_asks_at_the_extrapolated_point_as_well():
    case, _, problem, x = built("aupd")
    X = Counting(problem.X)
    M, calls = case.method.start(problem).own.M, 1
    for state in islice(case.method.iterates(replace(problem, X=X), x), 50):
        assert state.own.M >= M
        calls += 2 + round(np.log2(state.own.M / M))
        M = state.own.M
    assert X.calls == calls


def test_ial_steps_in_the_dual_only_where_its_subproblem_is_solved():
    case, _, problem, x = built("ial")
    method = replace(case.method, tol=Exact())
    outer, before = 1, None
    for state in islice(method.iterates(problem, x), 400):
        if state.sigma > 0:
            assert state.gap <= method.eps0 / outer
            assert state.eta == 0.0
            np.testing.assert_array_equal(state.Ax, before.Ax)
            outer += 1
        elif before is not None:
            np.testing.assert_array_equal(state.y, before.y)
            assert before.sigma > 0 or state.gap > method.eps0 / outer
        before = state
    assert state.own.outer == outer > 3


@pytest.mark.parametrize("eps", [1e-1, 1e-2])
def test_upd_reaches_its_eps_and_saturates_there(eps):
    """The dual comes within eps of the optimum, as promised, and not within eps/100."""
    _, known, problem, x = built("upd")
    states = islice(UPD(eps).iterates(problem, x), 2000)
    missed = [known.optimum - state.lower for state in states]
    assert min(missed) <= eps
    assert min(missed[1000:]) >= 0.01 * eps


def test_cgs_keeps_the_bound_of_lan_and_zhou():
    """F(x_k) - F* <= 15 L D_X^2 / (2 (k + 1)(k + 2)), in O(k) calls an iteration."""
    known = smooth_simplex()
    problem = known.problem
    X = Counting(problem.X)
    x = automatic(problem.X, 0)
    for state in islice(CGS().iterates(replace(problem, X=X), x), 60):
        k = state.k
        bound = 7.5 * problem.f.L * problem.X.diameter**2 / ((k + 1) * (k + 2))
        assert state.value - known.optimum <= bound
        assert X.calls <= 1 + sum(18 * j + 1 for j in range(1, k + 1))


def test_smoothed_cg_keeps_the_rate_of_lan():
    """With beta_k = |A| D_X / (D_Y sqrt(k+1)): 4 D_X^2 L/k + 4.5 D_Y |A| D_X / sqrt(k)."""
    known = lipschitz_simplex()
    problem = known.problem
    D_Y, A_D = problem.h.lipschitz, problem.A.norm * problem.X.diameter
    x = automatic(problem.X, 5)
    for state in islice(SmoothedCG().iterates(problem, x), 2, 1000):
        assert value(problem, state) - known.optimum <= 4.5 * D_Y * A_D / np.sqrt(state.k)


def test_the_sketch_alone_gives_the_low_rank_solution():
    known = smooth_sdp(n=20)
    result = condal.solve(known.problem, SketchyCGM(), tol=1e-3, max_iters=3000)
    assert isinstance(result.x, condal.LowRank)
    assert np.linalg.norm(condal.dense(result.x) - known.x) <= 0.1 * np.linalg.norm(known.x)


class Careless:
    """A domain whose oracle errs more than it says: its tenth answer is the worst atom.

    G0 is then seen too low at one dual, and no step from there, however short, would be accepted.
    """

    def __init__(self, X: Any) -> None:
        self.X, self.calls = X, 0

    def lmo(self, v: Any, tol: float = 0.0, guess: Any = None) -> Any:
        self.calls += 1
        return self.X.lmo(-1.0 * np.asarray(v) if self.calls == 10 else v, tol, guess)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.X, name)


@pytest.mark.parametrize("method", [UPD(1e-2), AUPD(1e-2)])
def test_a_line_search_recovers_from_an_answer_that_was_wrong(method):
    known = PLANTED["simplex-equal"]()
    problem, _ = normalise(replace(known.problem, f=condal.Linear(np.arange(10.0))))
    reached = []
    for X in (problem.X, Careless(problem.X)):
        *_, last = islice(method.iterates(replace(problem, X=X), automatic(problem.X, 3)), 500)
        reached.append(last.lower)
    assert reached[1] == pytest.approx(reached[0], abs=2e-2)


@dataclass(frozen=True)
class Exhausted:
    """A method that can do no more after three steps."""

    name = "exhausted"
    keeps = "x"

    def start(self, problem: Any, warm: Any = None) -> Any:
        return CGAL().start(problem, warm)

    def iterates(self, problem: Any, x: Any, start: Any = None) -> Any:
        return islice(CGAL().iterates(problem, x, start), 3)


def test_a_method_that_can_do_no_more_ends_as_stalled():
    result = condal.solve(planted_sdp().problem, Exhausted(), tol=1e-9)
    assert result.status is condal.Status.STALLED
    assert result.iterations == 3
    assert "pass another method" in result.status.value


@pytest.mark.parametrize(
    ("method", "known", "text"),
    [
        (UPD(), curved, "UPD needs a linear objective: got LeastSquares"),
        (AUPD(), curved, "AUPD needs a linear objective: got LeastSquares"),
        (GDMM(), curved, "GDMM needs a linear objective: got LeastSquares"),
        (GDMM(), sdp, "GDMM needs a Product of polytopes"),
        (CGS(), sdp, "CGS needs a problem without a constraint Ax in K: got one of 12 rows"),
        (SmoothedCG(), sdp, "smoothed conditional gradient needs a problem without a constraint"),
        (PrimalDual(), oracle_alone, "the primal-dual method needs a domain with a projection"),
        (SketchyCGM(), sdp, "storage-optimal CGM needs a smooth objective over X alone"),
        (SketchyCGM(), lipschitz_simplex, "needs a smooth objective over X alone: got Ax of 5"),
    ],
)
def test_a_method_that_does_not_apply_says_so_in_one_line(method, known, text):
    with pytest.raises(condal.ProblemError, match=text) as caught:
        condal.solve(known().problem, method)
    assert "\n" not in str(caught.value)
    assert "condal.CGAL()" in str(caught.value)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fwal(0.0), "lam must be a positive number; got 0.0"),
        (lambda: fwal(1.0, 2.0), r"rho must lie in \(0, 1\]; got 2.0"),
        (lambda: IAL(-1.0), "lam must be a positive number; got -1.0"),
        (lambda: IAL(1.0, 0.0), "eps0 must be a positive number; got 0.0"),
        (lambda: UPD(0.0), "eps must be a positive number; got 0.0"),
        (lambda: AUPD("a"), "eps must be a positive number; got 'a'"),
        (lambda: CGS(float("nan")), "lam must be a positive number; got nan"),
        (lambda: GDMM(0.0), "lam must be a positive number; got 0.0"),
        (lambda: GDMM(1.0, 1.5), r"rho must lie in \(0, 1\]; got 1.5"),
        (lambda: SmoothedCG(-2.0), "beta must be a positive number; got -2.0"),
        (lambda: PrimalDual(balance=0.0), "balance must be a positive number; got 0.0"),
        (lambda: PrimalDual(steps=0), "steps must be a whole number, at least 1; got 0"),
        (lambda: corrective(0.0), "lam0 must be a positive number; got 0.0"),
        (lambda: CGAL("big"), "lam0 must be a positive number, a penalty rule or None; got 'big'"),
    ],
)
def test_parameters_are_checked(make, text):
    with pytest.raises(condal.ProblemError, match=text):
        make()


def test_the_dual_of_a_warm_start_is_kept():
    known = planted_sdp()
    problem, _ = normalise(known.problem)
    y = np.arange(1.0, 13.0)
    for method in (CGAL(), IAL(), UPD(), AUPD(), corrective()):
        np.testing.assert_array_equal(method.start(problem, Warm(None, y, 5)).y, y)
    state = CGAL().start(problem, Warm(None, y, 8, lam=6.0))
    assert state.own.lam0 == 2.0
    assert state.k == 0
    assert CGAL(1.0).start(problem, Warm(None, y, 8, lam=6.0)).own.lam0 == 1.0


def test_the_corrective_method_proves_a_small_gap_on_max_cut():
    model = condal.problems.max_cut(torus(6, 5))
    result = condal.solve(model, corrective(), tol=1e-6, max_iters=2000)
    assert result.status is condal.Status.SOLVED
    plain = condal.solve(model, CGAL(eta=LineSearch()), tol=1e-3)
    assert abs(plain.objective - result.objective) <= 2e-3 * result.objective


class Spendthrift:
    """A domain whose oracle uses all of the error that it is allowed."""

    def __init__(self, X: Any) -> None:
        self.X = X

    def lmo(self, v: Any, tol: float = 0.0, guess: Any = None) -> Any:
        best, other = self.X.lmo(v), self.X.lmo(-1.0 * np.asarray(v))
        spread = float(np.vdot(v, other - best))
        t = min(1.0, tol / spread) if spread > 0 else 0.0
        return (1 - t) * best + t * other

    def __getattr__(self, name: str) -> Any:
        return getattr(self.X, name)


@pytest.mark.parametrize(
    "method", [CGAL(), hcgm(1.0), fwal(), IAL(), UPD(), AUPD(), CGAL(eta=LineSearch())]
)
def test_lower_bounds_allow_for_all_of_the_oracle_s_error(method):
    known = PLANTED["simplex-equal"]()
    c = np.random.default_rng(0).standard_normal(10)
    problem, _ = normalise(replace(known.problem, f=condal.Linear(c)))
    careless = replace(problem, X=Spendthrift(problem.X))
    for state in islice(method.iterates(careless, automatic(problem.X, 3)), 60):
        w = state.w
        v = problem.f.M.adjoint(np.ones(1)) + problem.A.adjoint(w)
        dual = float(np.min(v)) - problem.h.conjugate(w)  # the minimum over the simplex
        assert state.lower <= dual + 1e-12


def test_hcgm_goes_on_as_hcgm():
    """A warm start of HCGM forgets the multiplier that the result carries: its dual is 0."""
    known = planted_sdp()
    half = condal.solve(known.problem, hcgm(1.0), tol=1e-9, max_iters=50)
    assert np.linalg.norm(half.y) > 0
    whole = condal.solve(known.problem, hcgm(1.0), tol=1e-9, max_iters=100)
    rest = condal.solve(known.problem, hcgm(1.0), tol=1e-9, max_iters=50, warm_start=half)
    assert rest.history.last.objective == pytest.approx(whole.history.last.objective, rel=1e-3)


def test_cgal_goes_on_well_from_a_rival_s_result():
    known = planted_sdp()
    rival = condal.solve(known.problem, UPD(1e-4), tol=1e-9, max_iters=100)
    warm = condal.solve(known.problem, CGAL(), tol=1e-3, max_iters=1000, warm_start=rival)
    assert max(warm.gap, warm.infeasibility) <= 2e-2


def test_ial_by_line_search_keeps_its_point_between_subproblems():
    case, _, problem, x = built("ial line search")
    states = list(islice(case.method.iterates(problem, x), 200))
    assert states[0].eta == 1.0
    assert sum(state.eta == 1.0 for state in states) == 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: CGAL(sigma=Decr), r"sigma takes a rule of condal.methods.rules, such as Decr\(\)"),
        (lambda: CGAL(eta="ls"), r"eta takes a rule .* such as LineSearch\(\); got 'ls'"),
        (lambda: CGAL(tol=0.1), r"tol takes a rule .* such as Exact\(\); got 0.1"),
    ],
)
def test_rules_are_checked(make, text):
    with pytest.raises(condal.ProblemError, match=text):
        make()
