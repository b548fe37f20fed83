"""Quadratic objectives reach the solver as they are, and the judge proves them with P."""

import numpy as np
import pytest
import scipy.sparse as sp

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from condal.cvxpy import CONDAL, structure
from condal.cvxpy.forms import CvxpyProblem, Pair, with_cone, without_cone
from condal.cvxpy.judge import Judge
from condal.cvxpy.solver import cone_program
from condal.cvxpy.structure import is_convex
from condal.cvxpy.svec import Layout
from condal.errors import ProblemError


def _portfolio(n: int = 12, seed: int = 0) -> cp.Problem:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, n))
    w = cp.Variable(n)
    risk = cp.quad_form(w, cp.psd_wrap(root @ root.T))
    return cp.Problem(cp.Minimize(risk - rng.random(n) @ w), [cp.sum(w) == 1, w >= 0])


def _parabola(P: list[list[float]], q: list[float]) -> CvxpyProblem:
    """minimise 1/2 <x, Px> + <q, x>, x >= 0."""
    n = len(q)
    return CvxpyProblem(
        -sp.eye_array(n, format="csr"),
        np.zeros(n),
        np.array(q),
        Layout(nonneg=n),
        P=sp.csr_array(np.array(P)),
    )


def test_cvxpy_hands_the_quadratic_objective_over():
    data, _, _ = _portfolio().get_problem_data(CONDAL())
    assert data["P"].nnz
    assert not data["dims"].soc


@pytest.mark.parametrize("use_quad_obj", [True, False])
def test_both_statements_have_the_same_answer(use_quad_obj):
    problem, other = _portfolio(), _portfolio()
    other.solve(solver=cp.CLARABEL)
    problem.solve(solver=CONDAL(), use_quad_obj=use_quad_obj)
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(other.value, abs=1e-4 * max(1.0, abs(other.value)))
    judged = problem.solver_stats.extra_stats.certificate
    assert judged.bound <= other.value + 1e-7


def test_a_tangent_proves_a_bound_that_holds_everywhere():
    """1/2 |x|^2 - x_1 + x_2 over x >= 0 has its minimum -1/2 at (1, 0)."""
    judge = Judge(_parabola([[1.0, 0.0], [0.0, 1.0]], [-1.0, 1.0]))
    for x in ([1.0, 0.0], [0.5, 0.1], [3.0, 0.0]):
        z = np.maximum(judge.problem.gradient(np.array(x)), 0.0)
        bound = judge.bound(z, x=np.array(x))
        assert bound <= -0.5
    assert judge.bound(np.array([0.0, 1.0]), x=np.array([1.0, 0.0])) == pytest.approx(-0.5)


def test_a_quadratic_that_is_not_convex_proves_nothing():
    judge = Judge(_parabola([[1.0, 0.0], [0.0, -1e-3]], [0.0, 0.0]))
    assert judge.bound(np.zeros(2), x=np.zeros(2)) == -np.inf
    assert judge.judge(Pair(np.zeros(2), np.zeros(2)), 1e-4).bound == -np.inf
    with pytest.raises(ProblemError, match="not convex"):
        with_cone(judge.problem)


def test_convexity_is_proved_block_by_block():
    eye = np.eye(2)
    assert is_convex(None)
    assert is_convex(sp.csr_array(np.diag([0.0, 1.0])))
    assert is_convex(sp.csr_array(sp.block_diag([[[0.0]], [[2.0, 1.0], [1.0, 2.0]]])))
    assert not is_convex(sp.csr_array(np.ones((2, 2)) - 1e-3 * eye))
    assert not is_convex(sp.csr_array(np.diag([-1e-300, 1.0])))
    # A small singular form is proved in fractions.
    assert is_convex(sp.csr_array(np.ones((2, 2))))
    assert not is_convex(sp.csr_array(np.array([[1.0, 0.5], [0.5, 0.25 - 2.0**-54]])))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("exact", [True, False])
def test_a_curvature_that_a_root_loses_still_bounds_the_objective(exact, monkeypatch):
    """P is positive definite by 2^-54, and the objective falls along the flat direction."""
    if not exact:
        monkeypatch.setattr(structure, "MAX_EXACT_SIDE", 1)
    P = np.array([[1.0, 0.5], [0.5, 0.25 + 2.0**-54]])
    assert is_convex(sp.csr_array(P)) == exact
    x = cp.Variable(2)
    objective = 0.5 * cp.quad_form(x, cp.psd_wrap(P)) + 0.5 * x[0] - x[1]
    problem = cp.Problem(cp.Minimize(objective), [x[1] >= 0])
    problem.solve(solver=CONDAL(max_seconds=20))
    assert problem.status.endswith("_inaccurate")


def test_a_bound_by_a_rounded_root_says_so():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((60, 3))
    w = cp.Variable(60)
    problem = cp.Problem(
        cp.Minimize(cp.quad_form(w, cp.psd_wrap(root @ root.T)) - rng.random(60) @ w),
        [cp.sum(w) == 1, w >= 0],
    )
    problem.solve(solver=CONDAL())
    assert problem.status == "optimal"
    how = problem.solver_stats.extra_stats.certificate.how
    assert how.endswith("trusting a rounded root of the quadratic objective")


def test_a_singular_form_is_stated_by_its_cone():
    """(x_1 + x_2)^2 has a P whose smallest eigenvalue is 0, which no factorisation proves."""
    problem = _parabola([[2.0, 2.0], [2.0, 2.0]], [0.0, 0.0])
    linear = with_cone(problem)
    assert linear.P is None
    assert linear.layout.soc == (linear.b.size - 2,)
    x = np.array([1.0, 2.0])
    s = linear.b - linear.A @ np.append(x, problem.value(x))
    assert s[2] == pytest.approx(np.linalg.norm(s[3:]))
    pair = without_cone(linear, Pair(np.append(x, problem.value(x)), s))
    assert (pair.x.tolist(), pair.z.tolist()) == ([1.0, 2.0], [1.0, 2.0])
    w = cp.Variable(2)
    asked = cp.Problem(cp.Minimize(cp.quad_form(w, np.ones((2, 2)))), [w[0] >= 1, w[1] >= 2])
    asked.solve(solver=CONDAL())
    assert asked.status == "optimal"
    assert asked.value == pytest.approx(9.0, abs=1e-3)
    assert [c.dual_value for c in asked.constraints] == pytest.approx([6.0, 6.0], abs=1e-2)


x = cp.Variable(2)
ENDS = {
    "unbounded": (cp.square(x[0]) - x[1], [x[1] >= 0], "unbounded", -np.inf),
    "infeasible": (cp.sum_squares(x), [x >= 1, cp.sum(x) <= 1], "infeasible", np.inf),
    "bounded along x_1, which has curvature": (
        cp.square(x[0]) - x[0] + x[1], [x >= 0], "optimal", -0.25
    ),
}  # fmt: skip


@pytest.mark.parametrize(("objective", "rows", "status", "value"), ENDS.values(), ids=ENDS)
def test_how_a_quadratic_program_ends(objective, rows, status, value):
    problem = cp.Problem(cp.Minimize(objective), rows)
    problem.solve(solver=CONDAL())
    assert problem.status == status
    assert problem.value == pytest.approx(value, abs=1e-4)


def test_unconstrained_least_squares_is_proved():
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((12, 5)), rng.standard_normal(12)
    x = cp.Variable(5)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)))
    problem.solve(solver=CONDAL())
    least = np.linalg.lstsq(A, b, rcond=None)[1][0]
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(least, abs=1e-4)


def test_an_exact_fit_is_proved_by_its_tangent():
    """The gradient of the objective is 0 at the solution, which does not make 0 its scale."""
    target, y = np.array([5.0, 5.0]), cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(y - target)), [y >= 0])
    program = cone_program(problem.get_problem_data(CONDAL())[0])
    pair = Pair(np.array([1e-11, 1e-11, 5.0, 5.0]), np.array([5e-11, 5e-11, 5e-11, 5e-11]))
    assert Judge(program).judge(pair, 1e-4).within(1e-4)
    problem.solve(solver=CONDAL())
    assert problem.status == "optimal"
    assert y.value == pytest.approx(target, abs=1e-6)


def test_scaling_the_right_side_leaves_a_feasible_point_near_the_data():
    """Slacks that nothing bounds end about where the solver starts, not a hundred times farther."""
    x = cp.Variable(2)
    for objective in (cp.Minimize(x[0]), cp.Minimize(0)):
        problem = cp.Problem(objective, [x >= 1])
        problem.solve(solver=CONDAL())
        assert problem.status == "optimal"
        assert np.abs(x.value).max() < 10
