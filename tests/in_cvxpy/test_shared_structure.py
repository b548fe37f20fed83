"""Solves of a parametrised problem share what depends on its coefficients alone."""

from __future__ import annotations

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from condal.cvxpy import CONDAL
from condal.cvxpy.engines import seem_consistent
from condal.cvxpy.forms import Pair
from condal.cvxpy.interior import ClarabelEngine, Substitution
from condal.cvxpy.judge import Judge
from condal.cvxpy.nearest import NearestMatrix
from condal.cvxpy.options import Options
from condal.cvxpy.solver import KEY, cone_program
from condal.methods.nearest import nearest_psd


def _correlation(G, n: int) -> cp.Problem:
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(X - G)), [cp.diag(X) == 1])


def _symmetric(n: int, seed: int) -> np.ndarray:
    G = np.random.default_rng(seed).standard_normal((n, n))
    return 0.5 * (G + G.T)


def _problem(problem: cp.Problem):
    return cone_program(problem.get_problem_data(CONDAL())[0])


def test_a_parametrised_problem_keeps_its_structure():
    b, x = cp.Parameter(3), cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= b, cp.norm(x) <= 10])
    structures = []
    for k in range(3):
        b.value = np.arange(3.0) + k
        problem.solve(solver=CONDAL())
        structures.append(problem._solver_cache[KEY])
        assert problem.value == pytest.approx(3.0 + 3 * k, abs=1e-3)
    assert structures[0] is structures[1] is structures[2]


def test_other_coefficients_have_another_structure():
    a, x = cp.Parameter(nonneg=True), cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [a * x >= 1])
    structures = []
    for value in (1.0, 2.0):
        a.value = value
        problem.solve(solver=CONDAL())
        structures.append(problem._solver_cache[KEY])
        assert problem.value == pytest.approx(1 / value, abs=1e-3)
    assert structures[0] is not structures[1]


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_a_nearest_correlation_matrix_is_recognised(weight):
    n = 20
    G = _symmetric(n, 1)
    X = cp.Variable((n, n), PSD=True)
    problem = cp.Problem(cp.Minimize(weight * cp.sum_squares(X - G)), [cp.diag(X) == 1])
    structure = NearestMatrix.of(_problem(problem))
    assert structure is not None
    problem.solve(solver=CONDAL(tol=1e-6))
    assert problem.status == "optimal"
    assert problem.solver_stats.extra_stats.method == "nearest matrix"
    value = problem.value
    problem.solve(solver=cp.CLARABEL)
    assert value == pytest.approx(problem.value, rel=1e-5)


def test_duals_of_a_nearest_matrix_are_those_of_other_solvers():
    n = 20
    problem = _correlation(_symmetric(n, 2), n)
    problem.solve(solver=CONDAL(tol=1e-6))
    dual = problem.constraints[0].dual_value
    problem.solve(solver=cp.CLARABEL)
    assert dual == pytest.approx(problem.constraints[0].dual_value, abs=1e-3)


def test_weights_that_differ_and_other_cones_are_not_a_nearest_matrix():
    n = 20
    G, W = _symmetric(n, 3), np.ones((n, n))
    W[0, 1] = W[1, 0] = 2.0
    X = cp.Variable((n, n), PSD=True)
    weighted = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(W, X - G))), [cp.diag(X) == 1])
    assert NearestMatrix.of(_problem(weighted)) is None
    signed = cp.Problem(cp.Minimize(cp.sum_squares(X - G)), [cp.diag(X) == 1, X >= 0])
    assert NearestMatrix.of(_problem(signed)) is None
    shifted = cp.Problem(cp.Minimize(cp.sum_squares(X - G)), [X >> np.eye(n)])
    assert NearestMatrix.of(_problem(shifted)) is None


def test_a_warm_start_takes_fewer_steps_to_the_same_answer():
    n = 24
    G = cp.Parameter((n, n))
    problem = _correlation(G, n)
    G.value = _symmetric(n, 4)
    problem.solve(solver=CONDAL())
    G.value = G.value + 1e-3 * _symmetric(n, 5)
    problem.solve(solver=CONDAL(), warm_start=False)
    cold, value = problem.solver_stats.num_iters, problem.value
    problem.solve(solver=CONDAL())
    assert problem.solver_stats.num_iters < cold
    assert problem.value == pytest.approx(value, rel=1e-4)


@pytest.mark.usefixtures("processor_clock")
def test_equations_that_nothing_satisfies_do_not_end_as_a_nearest_matrix():
    n = 20
    X = cp.Variable((n, n), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X)), [X[0, 0] == 1, X[1, 1] == 1, X[0, 1] == 2])
    problem.solve(solver=CONDAL(), max_seconds=20)
    assert problem.status in ("infeasible", "infeasible_inaccurate")


def test_newton_on_the_dual_finds_the_nearest_matrix():
    """With the diagonal fixed to 1, the nearest matrix to 2 I + offsets of 0 is I."""
    import scipy.sparse as sp

    n = 6
    rows = sp.csr_array((np.ones(n), (np.arange(n), np.arange(n) * (n + 1))), (n, n * n))
    point, iterations = nearest_psd(2 * np.eye(n), rows, np.ones(n), 1e-12)
    assert iterations <= 3
    assert pytest.approx(np.eye(n)) == point.X
    assert point.complement == pytest.approx(np.zeros((n, n)))


@pytest.mark.parametrize(
    ("b", "consistent"), [([1.0, 2.0, 3.0], True), ([1.0, 2.0, 3.0 + 1e-10], False)]
)
def test_dependent_equations_are_compared_with_their_right_sides(b, consistent):
    """The third equation is the sum of the others, and x[2] appears in none of them alone."""
    x, right = cp.Variable(3, nonneg=True), cp.Parameter(3, value=np.array(b))
    M = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0], [2.0, 3.0, 5.0]])
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [M @ x == right])
    program = _problem(problem)
    assert seem_consistent(program) is consistent
    problem.solve(solver=CONDAL())
    assert problem.status == ("optimal" if consistent else "infeasible")


def test_the_rows_of_a_quadratic_dual_are_those_of_its_blocks():
    rng = np.random.default_rng(5)
    x = cp.Variable(4)
    root = np.diag([1.0, 0.0, 2.0, 1.0]) + np.outer([1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0])
    objective = cp.quad_form(x, root.T @ root) + cp.sum(x)
    problem = _problem(cp.Problem(cp.Minimize(objective), [rng.random((3, 4)) @ x <= 1]))
    structure = problem.structure
    P, A = structure.P.toarray(), structure.A.toarray()
    assert np.array_equal(structure.dual_rows.A.toarray(), np.hstack([P, A.T]))
    curvature = np.zeros((7, 7))
    curvature[:4, :4] = P
    assert np.array_equal(Judge(problem).dual.P.toarray(), curvature)


def test_matrices_that_change_in_place_are_not_taken_for_the_old_ones():
    x = cp.Variable(2, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x[0] + 2 * x[1] == 1])
    data = problem.get_problem_data(CONDAL())[0]
    structure = cone_program(data).structure
    assert cone_program(data, structure).structure is structure
    data["A"].data[0] *= 3
    changed = cone_program(data, structure)
    assert changed.structure is not structure
    assert np.array_equal(changed.A.toarray(), data["A"].toarray())


def _least_squares(rows: int, columns: int) -> cp.Problem:
    rng = np.random.default_rng(rows)
    x = cp.Variable(columns, nonneg=True)
    R, target = rng.standard_normal((rows, columns)), rng.standard_normal(rows)
    return cp.Problem(cp.Minimize(cp.sum_squares(R @ x - target) + x[0]), [cp.sum(x) <= 1])


def test_residuals_of_tall_least_squares_are_substituted():
    """A solution of the reduced problem is one of the whole: rows, slopes and duals."""
    program = _problem(_least_squares(30, 4))
    substitution = Substitution.of(program.structure)
    reduced = substitution.reduced(program)
    assert reduced.c.size == 4
    pair = substitution.pair(program, ClarabelEngine(reduced).propose(Options(), 1e-9).pair)
    assert program.error(pair) < 1e-6
    x = np.random.default_rng(0).random(4)
    whole = substitution.pair(program, Pair(x, np.zeros(reduced.b.size))).x
    origin = substitution.pair(program, Pair(np.zeros(4), np.zeros(reduced.b.size))).x
    assert program.A[substitution.rows] @ whole == pytest.approx(program.b[substitution.rows])
    change = program.value(whole) - program.value(origin)
    assert reduced.value(x) == pytest.approx(change)


def test_residuals_that_would_fill_the_objective_stay():
    assert Substitution.of(_problem(_least_squares(4, 30)).structure) is None
