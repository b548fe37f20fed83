"""Every method on problems it is for: known optima, its theory's rate, its calls, its resuming."""

from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
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
from condal.methods.rules import Balanced, Corrective, Decr, Exact, Given, LineSearch
from condal.methods.state import Warm
from condal.storage import automatic
from condal_lab.methods import AUPD, CGS, GDMM, IAL, UPD, SketchyCGAL, SketchyCGM, SmoothedCG
from forwarding import Forwarding
from known import PLANTED, Hidden, planted_sdp, torus
from method_cases import (
    CASES,
    built,
    curved,
    lipschitz_simplex,
    new_storage,
    oracle_alone,
    sdp,
    smooth_sdp,
    smooth_simplex,
)

cases = pytest.mark.parametrize("name", CASES)


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
        if state.last or 0 < case.calls <= X.calls:
            break
    if not case.calls:
        objectives, infeasibilities = objectives[-3:], infeasibilities[-3:]
    assert np.median(objectives) <= case.objective
    assert np.median(infeasibilities) <= case.infeasibility


@cases
def test_images_are_the_maps_of_x(name):
    case, _, problem, x = built(name)
    *_, state = islice(case.method.iterates(problem, x), 40)
    point, rounding = x.point(), 1e-5 if case.method.keeps == "sketch" else 1e-12
    assert np.allclose(problem.f.M(point), state.Mx, atol=rounding)
    assert np.allclose(problem.A(point), state.Ax, atol=rounding)
    assert problem.X.distance(point) <= rounding


@cases
def test_lower_bounds_are_below_the_optimum_and_gaps_close(name):
    case, known, problem, x = built(name)
    states = list(islice(case.method.iterates(problem, x), 150))
    assert all(state.lower <= known.optimum + 1e-9 for state in states)
    assert all(np.isfinite(problem.h.conjugate(state.y)) for state in states)
    best = max(state.lower for state in states)
    assert best >= known.optimum - 0.2


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
    unit = known.problem.f.variation(known.problem.X.max_norm)
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
        doublings = np.log2(state.carry.M / (M / 2))
        assert doublings == round(doublings) >= 0
        calls += 1 + round(doublings)
        M = state.carry.M
    assert X.calls == calls


def test_aupd_asks_at_the_extrapolated_point_as_well():
    case, _, problem, x = built("aupd")
    X = Counting(problem.X)
    M, calls = case.method.start(problem).carry.M, 1
    for state in islice(case.method.iterates(replace(problem, X=X), x), 50):
        assert state.carry.M >= M
        calls += 2 + round(np.log2(state.carry.M / M))
        M = state.carry.M
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
    assert state.carry.outer == outer > 3


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


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_sketchy_cgal_takes_the_steps_of_its_paper(factor):
    """ceil(k^(1/4) log n) products in call k, and `factor` times the cap of (const.)."""
    model, n, lam0 = condal.problems.max_cut(torus(8, 6)), 48, 1e-3
    method = SketchyCGAL(lam0, factor=factor)
    result = condal.solve(model, method, tol=0, max_iters=80)
    k = np.arange(1, 81)
    steps = np.diff(result.history["matvecs"], prepend=0)
    np.testing.assert_array_equal(steps, np.ceil(k**0.25 * np.log(n)))

    problem, _ = normalise(model.problem)
    states = list(islice(method.iterates(problem, automatic(problem.X, n)), 80))
    D2, A2, larger = problem.X.diameter**2, problem.A.norm**2, 0
    for before, state in pairwise(states):
        lam_next = lam0 * np.sqrt(state.k + 2)
        d = state.Ax - problem.h.prox(state.Ax + before.y / lam_next, 1 / lam_next)
        budget = 0.5 * (2 / (state.k + 1)) ** 2 * lam_next * A2 * D2
        assert state.sigma == pytest.approx(min(lam0, factor * budget / (d @ d)))
        larger += state.sigma * (d @ d) > budget * (1 + 1e-9)
    assert bool(larger) == (factor > 1)  # the cap of (const.) is the smaller one


def test_sketchy_cgal_solves_and_resumes_bit_for_bit(tmp_path):
    """Its estimated bounds may be too good: the oracle has no tolerance to keep. Proofs decide."""
    model, options = condal.problems.max_cut(torus(8, 6)), {"tol": 2e-2}
    whole = condal.solve(model, SketchyCGAL(), **options)
    assert whole.status is condal.Status.SOLVED
    assert isinstance(whole.x, condal.LowRank)
    condal.solve(model, SketchyCGAL(), max_iters=20, checkpoint=tmp_path / "run", **options)
    resumed = condal.resume(tmp_path / "run", model)
    for column in ("objective", "bound", "matvecs"):
        np.testing.assert_array_equal(resumed.history[column], whole.history[column])


class Careless(Forwarding):
    """A domain whose oracle errs more than it says: its tenth answer is the worst atom.

    G0 is then seen too low at one dual, and no step from there, however short, would be accepted.
    """

    def __init__(self, X: Any) -> None:
        self.X, self.calls = X, 0

    def lmo(self, v: Any, tol: float = 0.0, guess: Any = None) -> Any:
        self.calls += 1
        return self.X.lmo(-1.0 * np.asarray(v) if self.calls == 10 else v, tol, guess)


@pytest.mark.parametrize("method", [UPD(1e-2), AUPD(1e-2)])
def test_a_line_search_recovers_from_an_answer_that_was_wrong(method):
    known = PLANTED["simplex-equal"]()
    problem, _ = normalise(replace(known.problem, f=condal.Linear(np.arange(10.0))))
    reached = []
    for X in (problem.X, Careless(problem.X)):
        *_, last = islice(method.iterates(replace(problem, X=X), automatic(problem.X, 3)), 500)
        reached.append(last.lower)
    assert reached[1] == pytest.approx(reached[0], abs=2e-2)


def over_matrices(**pieces: Any) -> condal.Problem:
    """min <I, x> over the spectrahedron of 3 x 3 matrices."""
    return condal.Problem.of(condal.Linear(np.eye(3)), condal.Spectrahedron(3), **pieces)


E3, hidden = condal.Entries(3), replace(sdp().problem, A=Hidden(sdp().problem.A))
l1_ball = condal.Problem.of(condal.Linear(np.ones(3)), condal.L1Ball(3))
in_a_ball = over_matrices(A=E3, K=condal.Ball(np.zeros(9), 1.0))
theta_plus = condal.problems.theta(nx.path_graph(4), theta_plus=True).problem


@pytest.mark.parametrize(
    ("method", "known", "text"),
    [
        (UPD(), curved, "UPD needs a linear objective: got LeastSquares"),
        (AUPD(), curved, "AUPD needs a linear objective: got LeastSquares"),
        (GDMM(), curved, "GDMM needs a linear objective: got LeastSquares"),
        (AcceleratedGradient(), sdp, "needs a smooth objective over X alone: got Ax with 12 rows"),
        (AcceleratedGradient(), smooth_simplex, "accelerated gradient method needs a spectral"),
        (GDMM(), sdp, "GDMM needs a Product of polytopes"),
        (CGS(), sdp, "CGS needs a problem without a constraint Ax in K: got one with 12 rows"),
        (SmoothedCG(), sdp, "smoothed conditional gradient needs a problem without a constraint"),
        (LowRankCGAL(), curved, "needs a spectral domain, such as"),
        (PrimalDual(), oracle_alone, "the primal-dual method needs a domain with a projection"),
        (SketchyCGM(), sdp, "storage-optimal CGM needs a smooth objective over X alone"),
        (SketchyCGAL(), smooth_sdp, "SketchyCGAL needs a linear objective"),
        (SketchyCGAL(), oracle_alone, "SketchyCGAL needs a spectral domain"),
        (SketchyCGM(), lipschitz_simplex, "needs a smooth objective over X alone: got Ax with 5"),
        (Splitting(), curved, "needs a linear objective: got LeastSquares"),
        (Splitting(), l1_ball, "needs a spectral domain, such as"),
        (Splitting(), hidden, "operator hides, or one too large to write"),
        (InteriorPoint(), curved, "needs a linear objective: got LeastSquares"),
        (InteriorPoint(), l1_ball, "a domain that is none of"),
        (InteriorPoint(), hidden, "A as a matrix: this problem has an A that an operator hides"),
        (
            InteriorPoint(),
            over_matrices(B=E3, g=condal.L1(0.5)),
            "K of bounds on coordinates and of second-order cones: this problem has a nonsmooth",
        ),
        (InteriorPoint(), in_a_ball, "this problem has a set without coordinates, Ball"),
        (LowRankNewton(), smooth_sdp, "linear objective"),
        (LowRankNewton(), in_a_ball, "sparse rows"),
        (SphereSweeps(), theta_plus, "needs diag x = d and bounds on single entries"),
    ],
)
def test_a_method_that_does_not_apply_says_so_in_one_line(method, known, text):
    problem = known if isinstance(known, condal.Problem) else known().problem
    with pytest.raises(condal.ProblemError, match=text) as caught:
        condal.solve(problem, method)
    assert not hasattr(method, "suits") or not method.suits(problem)
    assert "\n" not in str(caught.value)
    assert "condal.CGAL()" in str(caught.value)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fwal(1.0, 2.0), r"rho must lie in \(0, 1\]; got 2.0"),
        (lambda: IAL(eta=Corrective()), r"IAL takes eta=Classical\(\) or LineSearch"),
        (lambda: GDMM(1.0, 1.5), r"rho must lie in \(0, 1\]; got 1.5"),
        (lambda: CGAL("big"), "lam0 must be a positive number, a penalty rule or None; got 'big'"),
        (lambda: Balanced(rate=2.0), r"rate must lie in \[0, 1.5\]; got 2.0"),
        (lambda: Given(-2.0), "lam0 must be a positive number"),
        (lambda: CGAL(sigma=Decr), r"sigma takes a rule of condal.methods.rules, such as Decr\(\)"),
        (lambda: CGAL(eta="ls"), r"eta takes a rule .* such as LineSearch\(\); got 'ls'"),
        (lambda: CGAL(tol=0.1), r"tol takes a rule .* such as Exact\(\); got 0.1"),
        (lambda: SphereSweeps(aim=-1.0), "aim"),
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
    assert state.carry.lam0 == 2.0
    assert state.k == 0
    assert CGAL(1.0).start(problem, Warm(None, y, 8, lam=6.0)).carry.lam0 == 1.0


class Spendthrift(Forwarding):
    """A domain whose oracle uses all of the error that it is allowed."""

    def lmo(self, v: Any, tol: float = 0.0, guess: Any = None) -> Any:
        best, other = self._inner.lmo(v), self._inner.lmo(-1.0 * np.asarray(v))
        spread = float(np.vdot(v, other - best))
        t = min(1.0, tol / spread) if spread > 0 else 0.0
        return (1 - t) * best + t * other


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


def test_ial_by_line_search_keeps_its_point_between_subproblems():
    case, _, problem, x = built("ial line search")
    states = list(islice(case.method.iterates(problem, x), 200))
    assert states[0].eta == 1.0
    assert sum(state.eta == 1.0 for state in states) == 1


@pytest.mark.parametrize(("method", "least"), [(InteriorPoint(), 1e-4), (Splitting(), 1e-3)])
def test_units_change_nothing_but_the_last_digits_and_so_not_the_steps(method, least):
    """Splitting takes rows of one unit only."""
    problem, c = sdp().problem, 1e9
    factors = np.geomspace(least, 1e4, 12) if least < 1e-3 else np.full(12, least)
    scaled = replace(
        problem,
        f=condal.Linear(c * problem.f.C.to_dense()),
        A=problem.A.scaled(factors),
        h=problem.h.scaled(factors, 1.0),
    )
    one, other = (condal.solve(p, method, tol=1e-6) for p in (problem, scaled))
    assert one.status is other.status is condal.Status.SOLVED
    assert other.objective == pytest.approx(c * one.objective, rel=2e-6)
    assert abs(other.iterations - one.iterations) <= (0 if least < 1e-3 else 10)


@pytest.mark.parametrize("name", ["accelerated", "spheres", "splitting", "newton", "lowrank"])
def test_the_time_limit_leaves_a_point(name):
    case = CASES[name]
    result = condal.solve(case.known().problem, case.method, tol=1e-12, max_seconds=1e-6)
    assert result.status is condal.Status.MAX_SECONDS
    assert np.isfinite(result.objective)


@pytest.mark.parametrize("name", ["accelerated", "lowrank", "newton", "primal-dual", "splitting"])
def test_a_warm_start_from_a_solution_ends_sooner_also_for_another_objective(name):
    case = CASES[name]
    problem = case.known().problem
    first = condal.solve(problem, case.method, tol=1e-6, max_iters=1000)
    again = condal.solve(problem, case.method, tol=1e-5, max_iters=1000, warm_start=first)
    assert again.status is condal.Status.SOLVED
    assert again.objective == pytest.approx(first.objective, rel=1e-5, abs=1e-5)
    assert len(again.history) <= max(2, 0.5 * len(first.history))
    near = replace(problem, f=problem.f.scaled(1.001))
    result = condal.solve(near, case.method, tol=1e-5, max_iters=1000, warm_start=first)
    assert result.status is condal.Status.SOLVED
