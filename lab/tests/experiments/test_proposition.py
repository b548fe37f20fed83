"""The lemma and the proposition of docs/rates.md, with their constants, at each iteration."""

from itertools import product
from math import sqrt

import numpy as np
import pytest

from condal.domains import Spectrahedron
from condal.maps import Entries
from condal.methods import CGAL
from condal.methods.lagrangian import lagrangian, residual
from condal.methods.rules import Decr, Exact, Fixed
from condal.problem import Problem
from condal.sets import Equal
from condal.smooth import Linear
from condal_lab.experiments.guarantees import planted, states
from condal_lab.experiments.rate_instances import rate_instances

INSTANCES = rate_instances((1,))
PLANTED = [*(instance.truth for instance in INSTANCES), planted("point"), planted("box")]
NAMES = [f"{i.kind} {'strict' if i.strict else 'not'}" for i in INSTANCES] + ["point", "box 12"]
ITERATIONS, LATE = 300, 50
ROUNDING = 1e-9


class Run:
    """CGAL on a planted problem, lam0 in units of |y*| / (D_X |A|), and the letters of the page."""

    def __init__(self, truth, unit, *, grows, **rules):
        self.problem, self.optimum, self.grows = truth.problem, truth.optimum, grows
        self.D_X, self.norm = self.problem.X.diameter, self.problem.A.norm
        self.y_star = float(np.linalg.norm(truth.y))
        self.lam0 = unit * self.y_star / (self.D_X * self.norm)
        rule = self.lam0 if grows else Fixed(self.lam0)
        self.method = CGAL(rule, tol=Exact(), **rules)
        self.start = self.method.start(self.problem)
        self.states = list(states(self.problem, self.method, ITERATIONS))
        self.room = ROUNDING * (1 + abs(self.optimum))

    def lam(self, k):
        return self.lam0 * sqrt(k + 1) if self.grows else self.lam0

    def error(self, state, y):
        """Return L_lam(x_{k+1}, y) - f* at the penalty lam_{k+1}."""
        lam = self.lam(state.k + 1)
        return lagrangian(self.problem, state.Mx, state.Ax, y, lam) - self.optimum

    def curvature(self, lam):
        return self.D_X**2 * (self.problem.f.L + lam * self.norm**2)

    def e(self, k):
        """Return e_{k+1}."""
        return 4 * self.curvature(self.lam(k)) / (k + 1)

    def steps(self):
        """Yield y_k, the state after iteration k, E'_{k+1} and |d_{k+1}|."""
        y = self.start.y
        for state in self.states:
            d = residual(self.problem.h, state.Ax, y, self.lam(state.k + 1))
            yield y, state, self.error(state, y), float(np.linalg.norm(d))
            y = state.y


@pytest.fixture(
    scope="module", params=product(range(len(PLANTED)), (0.1, 1.0, 10.0), (True, False))
)
def run(request):
    number, unit, grows = request.param
    return Run(PLANTED[number], unit, grows=grows)


def test_the_lemma_bounds_each_step(run):
    error = 0.0
    for _, state, before_dual, d in run.steps():
        k, eta = state.k, 2 / (state.k + 1)
        mu = run.lam(k) + 4 / 3 * (run.lam(k + 1) - run.lam(k))
        assert before_dual <= (1 - eta) * error + eta**2 / 2 * run.curvature(mu) + run.room
        error = run.error(state, state.y)
        assert error <= before_dual + state.sigma * d**2 + run.room
        assert max(before_dual, error) <= run.e(k) + run.room


def check_means(run):
    """Check both bounds for the means from m = 1 and from m = 100 to every n."""
    for m in (1, 100):
        S = values = errors = 0.0
        images, first = 0.0, run.start.y
        for y, state, before_dual, _ in run.steps():
            if state.k < m:
                continue
            first = y if state.k == m else first
            S, images = S + state.sigma, images + state.sigma * state.Ax
            values, errors = values + state.sigma * state.value, errors + state.sigma * before_dual
            moved, residual_f = np.linalg.norm(state.y - first) / S, values / S - run.optimum
            assert run.problem.h.distance(images / S) <= moved + ROUNDING
            assert residual_f <= (first @ first / 2 + errors) / S + run.room
            if run.problem.f.L == 0:  # then f(xhat) is the mean of the f(x_{k+1})
                assert residual_f >= -run.y_star * moved - run.room


def test_the_proposition_bounds_the_means(run):
    check_means(run)


@pytest.mark.parametrize("truth", PLANTED, ids=NAMES)
def test_the_means_of_another_dual_rule_obey_the_same_bounds(truth):
    check_means(Run(truth, 1.0, grows=True, sigma=Decr()))


def test_the_proposition_bounds_the_iterates_after_full_steps(run):
    for y, state, _, d in run.steps():
        if state.sigma < run.lam0:
            continue
        k, residual_f = state.k, state.value - run.optimum
        delta = sqrt(2 * run.curvature(run.lam(k + 1)) / run.lam0) / (k + 1)
        assert run.problem.h.distance(state.Ax) <= d + ROUNDING
        assert d <= delta * (1 + ROUNDING)
        assert -run.y_star * delta - run.room <= residual_f
        assert residual_f <= run.e(k) + float(np.linalg.norm(y)) * delta + run.room


@pytest.mark.parametrize("number", range(len(INSTANCES)), ids=NAMES[: len(INSTANCES)])
@pytest.mark.parametrize("grows", [True, False])
def test_what_the_rates_assume_holds_unless_lam0_is_small(number, grows):
    for unit in (1.0, 10.0):
        run = Run(PLANTED[number], unit, grows=grows)
        assert all(state.sigma == run.lam0 for state in run.states[LATE:])
        assert max(np.linalg.norm(state.y) for state in run.states) <= 11 * run.y_star


def test_a_small_constant_penalty_freezes_the_dual_over_matrices():
    for instance in INSTANCES:
        if instance.kind == "simplex":
            continue
        run = Run(instance.truth, 0.1, grows=False)
        early, late = (run.problem.h.distance(run.states[k - 1].Ax) for k in (LATE, ITERATIONS))
        sigma = np.array([state.sigma for state in run.states[ITERATIONS // 2 :]])
        assert sigma.mean() < 0.01 * run.lam0
        assert late > 0.8 * early


def test_without_slaters_condition_feasibility_is_bounded_by_the_dual():
    """No finite y is optimal: x11 = 0 leaves one point of the spectrahedron, with f = 0."""
    C = np.array([[0.0, 1.0], [1.0, 0.0]])
    X, A = Spectrahedron(2, trace=1.0), Entries(2, [0], [0])
    problem = Problem.of(f=Linear(C), X=X, A=A, K=Equal([0.0]))
    norms = []
    for state in states(problem, CGAL.paper(1.0), 1000):
        lam, norm = sqrt(state.k + 2), float(np.linalg.norm(state.y))
        R = 4 * X.diameter**2 * A.norm**2 / sqrt(state.k + 1) + 1.0  # min f = -1
        assert problem.h.distance(state.Ax) <= 2 * norm / lam + sqrt(2 * R / lam)
        norms.append(norm)
    assert norms[-1] > 2 * norms[99] > 3 * norms[9]
