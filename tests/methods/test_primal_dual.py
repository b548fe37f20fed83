"""The primal-dual method: iterates in X, bounds that are bounds, restarts, and known optima."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import condal
from condal.domains import Box, Hull
from condal.driver.scaling import normalise
from condal.linalg.gradients import add, dot
from condal.linalg.points import dense
from condal.linalg.symmetric import Symmetric
from condal.methods import PrimalDual
from condal.methods.projection import primal_dual
from condal.methods.projection.vectorise import Vectoriser
from condal.storage import Factor
from condal.types import projects
from known import PLANTED
from laws.domains import DOMAINS
from spaces import combination

rng = np.random.default_rng(9)

# Of each kind of domain, the last that is listed: known optima by duality.

LAST = {type(case.X).__name__: case for case in DOMAINS if projects(case.X)}
domains = pytest.mark.parametrize("case", LAST.values(), ids=LAST)


def planted(case, p=3):
    """min <c, x>, Ax = A x*: x* = lmo(v) and c = v - A'y, so that y proves x* the best."""
    rng = np.random.default_rng(2)
    v, y = case.space.gradient(rng), rng.standard_normal(p)
    x = case.X.lmo(v)
    rows = [case.space.gradient(rng) for _ in range(p)]
    A = _inner(rows)
    c = add(v, _scaled(A.adjoint(y), -1.0))
    problem = condal.Problem.of(f=condal.Linear(c), X=case.X, A=A, K=condal.Equal(A(x)))
    return problem, dot(c, x), y


def _inner(rows):
    """The map of all <rows_i, x>."""
    if isinstance(rows[0], tuple):
        return condal.Across(*(_inner([row[i] for row in rows]) for i in range(len(rows[0]))))
    return condal.Inner(rows) if isinstance(rows[0], Symmetric) else condal.Matrix(np.array(rows))


def _scaled(v, c):
    if isinstance(v, tuple):
        return tuple(_scaled(part, c) for part in v)
    return v.scaled(c) if isinstance(v, Symmetric) else c * v


@domains
def test_planted_optima_are_found_over_every_domain_with_a_projection(case):
    problem, optimum, _ = planted(case)
    result = condal.solve(problem, PrimalDual(), tol=1e-5, max_iters=2000)
    assert result.status is condal.Status.SOLVED
    size = problem.f.variation(problem.X.max_norm)
    assert result.objective == pytest.approx(optimum, rel=1e-3, abs=1e-4 * size)
    assert result.bound <= optimum + 1e-9 * size


@domains
def test_iterates_are_members_and_bounds_are_below_the_optimum(case):
    problem, optimum, _ = planted(case)
    normalised, scaling = normalise(problem)
    x = Factor()
    for state in islice(PrimalDual(steps=3).iterates(normalised, x), 30):
        assert problem.X.distance(x.point()) <= 1e-12 * problem.X.max_norm
        assert state.lower <= optimum * scaling.c + 1e-12
        assert np.isfinite(normalised.h.conjugate(state.y))
        np.testing.assert_allclose(normalised.A(x.point()), state.Ax, atol=1e-12)


# Against other solvers.

N = 9
SIMPLICES = (4, 3, 2)
GROUPS = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])
VECTOR = np.array([3.0, 2.0, 1.0, 0.5, 0.0, 0.0, -0.5, -1.0, -2.0])


def permuted(x):
    sums = [cp.sum_largest(x, k) <= VECTOR[:k].sum() for k in range(1, N)]
    return [*sums, cp.sum(x) == VECTOR.sum()]


def stochastic(x):
    P = cp.reshape(x, (3, 3), order="C")
    return [x >= 0, cp.sum(P, axis=0) == 1, cp.sum(P, axis=1) == 1]


SETS = {
    "simplex": (condal.Simplex(N, 2.0), lambda x: [x >= 0, cp.sum(x) == 2]),
    "simplices": (
        condal.Simplices(SIMPLICES),
        lambda x: [x >= 0, *(cp.sum(part) == 1 for part in (x[:4], x[4:7], x[7:]))],
    ),
    "l1": (condal.L1Ball(N, 2.0), lambda x: [cp.norm1(x) <= 2]),
    "l2": (condal.L2Ball(N, 2.0, centre=np.ones(N)), lambda x: [cp.norm2(x - 1) <= 2]),
    "linf": (condal.LinfBall(N, 0.7), lambda x: [cp.abs(x) <= 0.7]),
    "box": (Box(-np.arange(N) / 5, np.ones(N)), lambda x: [x >= -np.arange(N) / 5, x <= 1]),
    "groups": (
        condal.GroupL1Ball(GROUPS, 2.0),
        lambda x: [sum(cp.norm2(x[g == GROUPS]) for g in range(3)) <= 2],
    ),
    "k-sparse": (condal.KSparse(N, 3), lambda x: [cp.norm1(x) <= 3, cp.abs(x) <= 1]),
    "birkhoff": (condal.Birkhoff(3), stochastic),
    "permutahedron": (condal.Permutahedron(VECTOR), permuted),
}
sets = pytest.mark.parametrize("name", SETS)


def members_mean(X):
    """A point inside, so that what is asked for is feasible."""
    rng = np.random.default_rng(4)
    return np.mean([X.lmo(rng.standard_normal(N)) for _ in range(20)], axis=0)


@sets
def test_curved_objectives_with_rows_in_a_box(name):
    X, rows = SETS[name]
    rng = np.random.default_rng(5)
    M, c, a = rng.standard_normal((6, N)), rng.standard_normal(6), rng.standard_normal((2, N))
    middle = a @ members_mean(X)
    problem = condal.Problem.of(
        f=condal.LeastSquares(M, 3 * c),
        X=X,
        A=condal.Matrix(a),
        K=condal.Box(middle - 0.05, middle + 0.05),
    )
    x = cp.Variable(N)
    f = cp.Minimize(0.5 * cp.sum_squares(M @ x - 3 * c))
    inside = [cp.abs(a @ x - middle) <= 0.05]
    optimum = cp.Problem(f, [*rows(x), *inside]).solve(solver=cp.CLARABEL)
    for method in (PrimalDual(), None):
        result = condal.solve(problem, method, tol=1e-5, max_iters=3000)
        assert result.status is condal.Status.SOLVED
        assert result.objective == pytest.approx(optimum, rel=1e-4, abs=1e-4)
        assert result.bound <= optimum + 1e-6 * (1 + optimum)


@sets
def test_an_absolute_loss(name):
    X, rows = SETS[name]
    rng = np.random.default_rng(6)
    B, b = rng.standard_normal((7, N)), 2 * rng.standard_normal(7)
    problem = condal.Problem.of(X=X, B=condal.Matrix(B), g=condal.AbsoluteLoss(b))
    x = cp.Variable(N)
    optimum = cp.Problem(cp.Minimize(cp.norm1(B @ x - b)), rows(x)).solve(solver=cp.CLARABEL)
    result = condal.solve(problem, PrimalDual(), tol=1e-5, max_iters=3000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_linear_programs(seed):
    """min <c, x>, a x <= b, sum x = 1, x >= 0, by HiGHS."""
    rng = np.random.default_rng(seed)
    n, p = 40, 12
    c, a = rng.standard_normal(n), rng.standard_normal((p, n))
    b = a @ rng.dirichlet(np.ones(n)) + 0.01
    exact = linprog(c, A_ub=a, b_ub=b, A_eq=np.ones((1, n)), b_eq=[1.0], bounds=(0, None))
    problem = condal.Problem.of(
        f=condal.Linear(c),
        X=condal.Simplex(n),
        A=condal.Matrix(a),
        K=condal.Box(np.full(p, -np.inf), b),
    )
    result = condal.solve(problem, PrimalDual(), tol=1e-6, max_iters=5000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(exact.fun, abs=1e-5)
    assert result.bound <= exact.fun + 1e-9


# How it goes.


def test_without_rows_it_accelerates():
    """Nesterov's rate: f - f* <= 2 L |x - x*|^2 / (k + 1)^2, which plain steps do not keep."""
    n = 60
    second = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    f = condal.LeastSquares(second, second @ np.sin(np.arange(n) / 4))
    problem = condal.Problem.of(f=f, X=condal.LinfBall(n, 2.0))
    x, far = Factor(), np.linalg.norm(np.sin(np.arange(n) / 4))
    states = list(islice(PrimalDual(steps=1).iterates(problem, x), 200))
    for state in states:
        assert state.value <= 2 * f.L * far**2 / (state.k + 1) ** 2
    plain = np.zeros(n)
    for _ in range(200):
        plain -= second @ (second @ plain - f.c) / f.L
    assert states[-1].value <= 0.1 * f.value(second @ plain)


def test_restarts_turn_a_slow_rate_into_a_linear_one(monkeypatch):
    problem, _ = normalise(PLANTED["simplex-equal"]().problem)

    def error(k):
        states = list(islice(PrimalDual().iterates(problem, Factor()), k))
        return max(abs(states[-1].value - states[-1].lower), problem.h.distance(states[-1].Ax))

    assert error(15) <= 1e-6 * error(1)
    monkeypatch.setattr(primal_dual, "SUFFICIENT_DECREASE", 0.0)
    monkeypatch.setattr(primal_dual, "NECESSARY_DECREASE", 0.0)
    monkeypatch.setattr(primal_dual, "MAX_ROUND", np.inf)
    assert error(15) >= 1e-6 * error(1)


def test_a_restart_begins_at_the_better_of_the_last_pair_and_the_average():
    problem, _ = normalise(PLANTED["simplex-equal"]().problem)
    begun = 0
    for state in islice(PrimalDual().iterates(problem, Factor()), 15):
        carry = state.carry
        if carry.since == 0:
            begun += 1
            np.testing.assert_array_equal(carry.y, state.y)
            np.testing.assert_allclose(problem.A(carry.x), state.Ax, atol=1e-14)
            assert not carry.sum_x.any()
            assert carry.balance > 0
    assert 2 <= begun < 15


def test_a_warm_start_goes_on_from_its_point_and_dual():
    known = PLANTED["sdp-equal"]()
    first = condal.solve(known.problem, PrimalDual(), tol=1e-7)
    again = condal.solve(known.problem, PrimalDual(), tol=1e-6, warm_start=first)
    assert again.status is condal.Status.SOLVED
    assert len(again.history) <= 2
    changed = replace(known.problem, f=condal.Linear(known.problem.f.C.scaled(1.001)))
    near = condal.solve(changed, PrimalDual(), tol=1e-6, warm_start=first)
    assert near.status is condal.Status.SOLVED


@pytest.mark.parametrize(
    ("X", "A", "b"),
    [
        (condal.Simplex(3), condal.Matrix(np.ones((1, 3))), [2.0]),
        (condal.L1Ball(4), condal.Matrix(np.eye(4)[:2]), [0.8, 0.8]),
        (condal.Spectrahedron(3), condal.Diagonal(3), [1.0, 1.0, 1.0]),
        (Box(np.zeros(2), np.ones(2)), condal.Matrix(np.eye(2)), [0.5, -1.0]),
    ],
)
def test_infeasible_problems_are_proved_so(X, A, b):
    problem = condal.Problem.of(X=X, A=A, K=condal.Equal(b))
    for method in (PrimalDual(), None):
        result = condal.solve(problem, method, max_iters=3000)
        assert result.status is condal.Status.INFEASIBLE


def test_degenerate_problems():
    one = condal.Problem.of(
        f=condal.Linear([3.0]), X=condal.Simplex(1), A=condal.Matrix([[2.0]]), K=condal.Equal([2.0])
    )
    assert condal.solve(one, PrimalDual()).objective == pytest.approx(3.0)
    matrix = condal.Problem.of(f=condal.Linear([[3.0]]), X=condal.Spectrahedron(1, 2.0))
    assert condal.solve(matrix, PrimalDual()).objective == pytest.approx(6.0)
    nothing = condal.Problem.of(
        f=condal.Linear(np.zeros(4)),
        X=condal.Simplex(4),
        A=condal.Matrix(np.arange(4.0)[None, :]),
        K=condal.Equal([2.5]),
    )
    result = condal.solve(nothing, PrimalDual())
    assert result.status is condal.Status.SOLVED
    assert result.objective == 0.0
    no_map = condal.Problem.of(
        f=condal.Linear(np.arange(4.0)),
        X=condal.Simplex(4),
        A=condal.Matrix(np.zeros((2, 4))),
        K=condal.Equal(np.zeros(2)),
    )
    assert condal.solve(no_map, PrimalDual(), tol=1e-6).objective == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_scale_of_the_data_does_not_matter(scale):
    problem = PLANTED["simplex-equal"]().problem
    known = PLANTED["simplex-equal"]().optimum
    scaled = replace(problem, f=problem.f.scaled(scale))
    result = condal.solve(scaled, PrimalDual(), tol=1e-5, max_iters=500)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(known * scale, rel=1e-3)


def test_a_product_of_which_a_part_has_no_projection_is_refused():
    X = condal.Product(condal.Simplex(2), Hull(np.eye(2)))
    problem = condal.Problem.of(f=condal.Linear((np.ones(2), np.arange(2.0))), X=X)
    assert not PrimalDual().suits(problem)
    with pytest.raises(condal.ProblemError, match="needs a domain with a projection"):
        condal.solve(problem, PrimalDual())
    assert condal.solve(problem).status is condal.Status.SOLVED


def test_large_matrices_are_left_to_others(monkeypatch):
    problem = PLANTED["sdp-equal"]().problem
    assert PrimalDual().suits(problem)
    monkeypatch.setattr(primal_dual, "MAX_MATRIX_SIDE", 5)
    assert not PrimalDual().suits(problem)


class Mine:
    """A user's domain with a projection: the unit ball."""

    diameter, max_norm = 2.0, 1.0

    def lmo(self, v, tol=0.0, guess=None):
        return -v / np.linalg.norm(v)

    def bound(self, v, *, slack, failure, seed, enough=np.inf):
        return condal.types.Proof(-float(np.linalg.norm(v)) * (1 + 1e-12), "by hand")

    def distance(self, x):
        return max(0.0, float(np.linalg.norm(x)) - 1.0)

    def check(self, v, name):
        pass

    def project(self, v):
        return v / max(1.0, float(np.linalg.norm(v)))


def test_a_domain_of_the_user_s_own_may_have_a_projection():
    problem = condal.Problem.of(f=condal.LeastSquares(np.eye(3), [3.0, 4.0, 0.0]), X=Mine())
    result = condal.solve(problem, tol=1e-6)
    assert result.method == "primal-dual"
    np.testing.assert_allclose(result.x, [0.6, 0.8, 0.0], atol=1e-3)

    class Wrong(Mine):
        def project(self, v):
            return np.zeros(2)

    wrong = condal.solve(replace(problem, X=Wrong()))
    assert wrong.status is condal.Status.NUMERICAL_ERROR
    assert "the projection" in wrong.reason


# Points and gradients as one vector.


@pytest.mark.parametrize("case", DOMAINS, ids=[case.name for case in DOMAINS])
def test_flattening_keeps_points_and_inner_products(case):
    rng = np.random.default_rng(7)
    v = case.space.gradient(rng)
    problem = condal.Problem.of(f=condal.Linear(v), X=case.X)
    flat = Vectoriser.of(problem)
    x = case.members(rng)[0]
    vector = flat.vector(x)
    assert vector.shape == (flat.size,)
    back = flat.point(vector)
    assert _difference(back, dense(x)) == 0.0
    assert float(flat.gradient(v) @ vector) == pytest.approx(dot(v, x), rel=1e-10, abs=1e-12)
    twice = flat.point(2 * vector)
    assert _difference(twice, combination(2.0, x, 0.0, x)) <= 1e-13


def _difference(a, b):
    if isinstance(a, tuple):
        return max(_difference(p, q) for p, q in zip(a, b, strict=True))
    return float(np.abs(a - b).max())
