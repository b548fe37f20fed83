"""Infeasibility: proved soon where it is true, never where it is not."""

import numpy as np
import pytest

import condal
from condal.certificates.bound import infeasibility_proof
from condal.driver import guards
from known import PLANTED

EVERY = {"slack": 1e-6, "failure": 1e-6, "seed": 0}


def test_infeasibility_is_proved_only_where_it_is_true():
    for name in PLANTED:
        known = PLANTED[name]()
        for seed in range(10):
            Ax = known.problem.A.size * np.random.default_rng(seed).standard_normal(known.y.size)
            for d in (known.problem.h.normal_residual(Ax), known.problem.h.dual_point(Ax), known.y):
                assert infeasibility_proof(known.problem, d, **EVERY) is None


def test_a_nonsmooth_term_makes_nothing_infeasible():
    """x = (1/2, 1/2, 0) satisfies x_0 = 1/2; that 5 |sum x| is large there proves nothing."""
    problem = condal.Problem.of(
        f=condal.Linear(np.ones(3)),
        X=condal.Simplex(3),
        A=condal.Stack(condal.Matrix(np.eye(3)[:1]), condal.Matrix(np.ones((1, 3)))),
        K=condal.Separable(condal.Equal([0.5]), condal.L1(5.0, 1)),
    )
    for seed in range(20):
        Ax = problem.A(np.random.default_rng(seed).dirichlet(np.ones(3)))
        assert infeasibility_proof(problem, problem.h.normal_residual(Ax), **EVERY) is None
    assert condal.solve(problem, condal.CGAL(1.0), tol=1e-3, max_iters=3000).infeasible is None


class Offset(condal.L1):
    """g(z) = t |z|_1 + more: a function of the user's, whose minimum is positive."""

    more = 5.0

    def value(self, z):
        return super().value(z) + self.more

    def conjugate(self, y):
        return super().conjugate(y) - self.more

    def conjugate_abs_sum(self, y):
        return self.more

    def _of_size(self, size):
        return self._with(Offset(self.t, size), 1.0)

    def scaled(self, rows, c):
        return self._with(Offset(c * self.t / rows), c)

    def _with(self, twin, c):
        twin.more = c * self.more
        return twin

    @property
    def pieces(self):
        return [(slice(0, self.size), self)]


class Bare:
    """A user's g or K: another one, without what a guard can supply."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        if name.startswith(("support", "_")):
            raise AttributeError(name)
        return getattr(self._inner, name)

    @property
    def pieces(self):
        return [(slice(0, self.size), self)]

    def sized(self, size):
        inner = self._inner
        return type(self)(inner.sized(size) if hasattr(inner, "sized") else inner)

    def scaled(self, rows, c):
        return type(self)(self._inner.scaled(rows, c))


def composite(K, g, n=6):
    """A problem whose constraint is on sum x, 1 for every x in X."""
    return condal.Problem.of(
        condal.Linear(np.arange(float(n))),
        condal.Simplex(n),
        condal.Matrix(np.ones((1, n))),
        K,
        B=condal.Matrix(np.eye(n)),
        g=g,
    )


NONSMOOTH = [
    condal.L1(1.0),
    condal.L2(0.1),
    condal.Maximum(1.0),
    condal.MaxEigenvalue(3),
    condal.Hinge(),
    Offset(0.1),
    Bare(condal.Maximum(0.3)),
    Bare(Offset(0.1)),
]


@pytest.mark.parametrize("g", NONSMOOTH, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("method", [None, condal.CGAL()], ids=["default", "cgal"])
def test_infeasible_composite_problems_are_proved_so(g, method):
    for K in (condal.Equal([2.0]), condal.Box([-1.0], [0.9]), Bare(condal.Equal([0.7]))):
        result = condal.solve(composite(K, g), method, max_iters=300)
        assert result.status is condal.Status.INFEASIBLE
        assert 0 < result.infeasible.value <= K.distance(np.ones(1)) * (1 + 1e-9)


@pytest.mark.parametrize("g", NONSMOOTH, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("method", [None, condal.CGAL()], ids=["default", "cgal"])
def test_no_feasible_composite_problem_is_called_infeasible(g, method):
    rng = np.random.default_rng(3)
    n = 6
    a = rng.standard_normal((3, n))
    b = a @ rng.dirichlet(np.ones(n))
    for K in (condal.Equal(b), Bare(condal.Equal(b))):
        problem = condal.Problem.of(
            condal.Linear(rng.standard_normal(n)),
            condal.Simplex(n),
            condal.Matrix(a),
            K,
            B=condal.Matrix(np.eye(n)),
            g=g,
        )
        result = condal.solve(problem, method, tol=1e-9, max_iters=1500)
        assert result.status is not condal.Status.INFEASIBLE
        assert result.infeasible is None
        guarded = guards.guarded(problem)
        for _ in range(20):
            Ax = problem.A(rng.dirichlet(np.ones(n))) + rng.standard_normal(problem.A.size)
            for d in (
                guarded.h.normal_residual(Ax),
                guarded.h.dual_point(Ax),
                problem.h.dual_point(Ax),
            ):
                assert infeasibility_proof(guarded, d, **EVERY) is None


def test_a_function_that_is_no_set_and_no_lipschitz_one_has_no_support_unless_it_says_so():
    """h(z) = z^2 / 2 for z <= 1: h*(1/2) = 1/8, and sup z / 2 over its domain is 1/2."""

    class HalfParabola(Bare):
        def conjugate(self, y):
            return float(np.sum(np.where(y <= 1, y * y / 2, y - 0.5)))

    K = HalfParabola(condal.Box([-np.inf], [1.0]))
    problem = guards.guarded(
        condal.Problem.of(
            condal.Linear([1.0, 2.0]), condal.Simplex(2), condal.Matrix([[0.5, 0.7]]), K
        )
    )
    assert problem.h.support(np.array([0.5])) == np.inf
    assert problem.h.support(np.zeros(1)) == 0.0
    assert infeasibility_proof(problem, np.array([0.5]), **EVERY) is None


@pytest.mark.parametrize("goal", [50.0, -50.0, 1.5])
@pytest.mark.parametrize("c", [np.ones(3), np.zeros(3), 1e4 * np.arange(3.0)])
def test_a_dual_that_diverges_ends_a_solve_at_once(goal, c):
    problem = condal.Problem.of(
        condal.Linear(c), condal.Simplex(3), condal.Matrix(np.ones((1, 3))), condal.Equal([goal])
    )
    result = condal.solve(problem, max_iters=40)
    assert result.status is condal.Status.INFEASIBLE
    assert result.infeasible.value == pytest.approx(abs(goal - 1.0), rel=1e-6)


@pytest.mark.parametrize("method", [None, condal.CGAL(), condal.methods.PrimalDual()])
@pytest.mark.parametrize("maximise", [False, True])
def test_no_bound_is_above_all_that_can_be_reached_without_a_word(method, maximise):
    """On the simplex <c, x> + max_i |x_i| is between 0 and 4."""
    problem = condal.Problem.of(
        condal.Linear([1.0, 2.0, 3.0]),
        condal.Simplex(3),
        condal.Matrix([[1.0, 1.0, 2.0], [0.0, 1.0, 0.0]]),
        condal.Equal([50.0, 0.5]),
        B=condal.Matrix(np.eye(3)),
        g=condal.Linf(1.0),
        maximise=maximise,
    )
    for k in (*range(1, 30), 60, 100):
        result = condal.solve(problem, method, max_iters=k)
        if problem.sense * result.bound > 20.0:
            assert result.status is condal.Status.INFEASIBLE
    assert result.status is condal.Status.INFEASIBLE
