"""Repairs: where a feasible point is found, objective and bound bracket the optimum."""

import json
from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.driver.repair import FactorRepair
from condal.driver.scaling import normalise
from condal.io.formats import write_metis
from condal.linalg.points import LowRank, dense
from condal.result import Status
from known import random_edges

METHODS = {
    "the choice": lambda: None,
    "cgal": condal.CGAL,
    "splitting": condal.methods.Splitting,
    "newton": condal.methods.LowRankNewton,
}


def random_equations(seed, at_most):
    """Sparse rows with b of a point inside X; the trace is fixed or bounded."""
    rng = np.random.default_rng(seed)
    n, m = 30, 25
    rows = []
    for _ in range(m):
        i, j = rng.choice(n, 2, replace=False)
        row = np.zeros((n, n))
        row[i, i], row[j, j] = rng.standard_normal(2)
        row[i, j] = row[j, i] = rng.standard_normal()
        rows.append(row)
    R = rng.standard_normal((n, n))
    x = 5.0 * R @ R.T / np.trace(R @ R.T)
    C = rng.standard_normal((n, n))
    return condal.Problem.of(
        f=condal.Linear(C + C.T),
        X=condal.Spectrahedron(n, 8.0 if at_most else 5.0, at_most=at_most),
        A=condal.Inner(rows),
        K=condal.Equal([np.vdot(row, x) for row in rows]),
    )


def fixed_diagonal(at_most):
    """diag x = d, with the trace that d has, or room for a larger one."""
    rng = np.random.default_rng(2)
    n, d = 25, rng.random(25) + 0.1
    C = rng.standard_normal((n, n))
    return condal.Problem.of(
        f=condal.Linear(C + C.T),
        X=condal.Spectrahedron(n, float(d.sum()) + at_most, at_most=at_most),
        A=condal.Diagonal(n),
        K=condal.Equal(d),
    )


PROBLEMS = {
    "theta": lambda: condal.problems.theta(random_edges(60, 200, 0)).problem,
    "equations": lambda: random_equations(0, False),
    "equations, bounded trace": lambda: random_equations(1, True),
    "diagonal": lambda: fixed_diagonal(False),
    "diagonal, bounded trace": lambda: fixed_diagonal(True),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_objective_and_bound_bracket_the_optimum(name, method):
    problem = PROBLEMS[name]()
    exact = condal.solve(problem, tol=1e-7)
    assert exact.status is Status.SOLVED
    tol = 1e-2 if method == "cgal" else 1e-3
    result = condal.solve(problem, METHODS[method](), tol=tol, max_iters=20000)
    assert result.status is Status.SOLVED
    assert result.bracket
    assert result.infeasibility <= 1e-12
    assert condal.saved.verify(problem, result).proved
    low, high = sorted((result.objective, result.bound))
    room = 1e-7 * max(1.0, abs(exact.objective))
    assert low - room <= exact.objective <= high + room
    assert abs(result.objective - exact.objective) <= tol * max(1.0, abs(exact.objective))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("whole", [True, False])
def test_a_nearly_feasible_point_becomes_feasible_near_by(name, whole):
    problem = PROBLEMS[name]()
    result = condal.solve(problem, condal.methods.Splitting(), tol=1e-5)
    x = result.x
    factor = x.factor() if isinstance(x, LowRank) else np.linalg.cholesky(dense(x) + 1e-12)
    rng = np.random.default_rng(0)
    moved = factor + 1e-4 * np.abs(factor).max() * rng.standard_normal(factor.shape)
    moved *= np.linalg.norm(factor) / np.linalg.norm(moved)
    near = LowRank(moved, np.ones(moved.shape[1]))
    off = problem.infeasibility(near)
    assert off > 1e-6
    normalised, scaling = normalise(problem)
    repair = FactorRepair.of(normalised, 1e-5)
    repaired = repair(dense(near) if whole else near, scaling.normalised_dual(result.y))
    assert problem.infeasibility(repaired) <= 1e-12
    assert problem.X.distance(repaired) <= 1e-12 * problem.X.max_norm
    size = np.linalg.norm(dense(near))
    assert np.linalg.norm(dense(repaired) - dense(near)) <= 30 * off * max(1.0, size)


@pytest.fixture(scope="module")
def sparse_theta():
    """A model, and its solution."""
    model = condal.problems.theta(random_edges(200, 400, 0))
    return model, condal.solve(model, tol=1e-7)


@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_rows_made_orthogonal_bracket_theta(tol, sparse_theta, monkeypatch):
    """For many rows and a loose tolerance no J J' is formed."""
    model, exact = sparse_theta
    monkeypatch.setattr("condal.driver.repair.MIN_SEQUENTIAL_ROWS", 200)
    monkeypatch.setattr(FactorRepair, "_on_surface", lambda *_: pytest.fail("J J' was formed"))
    result = condal.solve(model, condal.methods.SphereSweeps(), tol=tol)
    assert result.status is Status.SOLVED
    assert result.bracket
    assert condal.saved.verify(model.problem, result).proved
    assert result.objective <= exact.bound
    assert result.bound >= exact.objective
    assert result.bound - result.objective <= tol * result.objective


def test_rows_with_many_neighbours_move_along_the_surface(monkeypatch):
    """A hub has more neighbours than the rank has room for."""
    monkeypatch.setattr("condal.driver.repair.MIN_SEQUENTIAL_ROWS", 1)
    monkeypatch.setattr(FactorRepair, "_with_zeros", lambda *_: pytest.fail("not for hubs"))
    W = random_edges(60, 90, 0).tolil()
    W[0, 1:40] = W[1:40, 0] = 1.0
    result = condal.solve(condal.problems.theta(W.tocsr()), condal.methods.Splitting(), tol=1e-3)
    assert result.status is Status.SOLVED
    assert result.bracket


def test_a_problem_with_inequalities_or_blocks_has_no_factor_repair():
    theta_plus = condal.problems.theta(random_edges(12, 20, 0), theta_plus=True).problem
    assert FactorRepair.of(normalise(theta_plus)[0], 1e-3) is None
    simplex = condal.Problem.of(
        f=condal.Linear(np.array([1.0, 2.0])),
        X=condal.Simplex(2),
        A=condal.Matrix([[1.0, -1.0]]),
        K=condal.Equal([0.0]),
    )
    assert FactorRepair.of(normalise(simplex)[0], 1e-3) is None


def test_a_point_that_cannot_be_repaired_is_judged_by_its_price():
    """Theta of a dense graph: more equations than a factor has numbers to move."""
    model = condal.problems.theta(random_edges(14, 80, 0))
    result = condal.solve(model, condal.methods.Splitting(), tol=1e-3)
    assert result.status is Status.SOLVED
    assert max(result.gap, result.infeasibility, result.price) <= 1e-3


def test_max_cut_and_its_kin_bracket_their_optimum():
    W = random_edges(20, 50, 0)
    for model in (condal.problems.max_cut(W), condal.problems.max_k_cut(W, 3)):
        result = condal.solve(model)
        assert result.bracket
        assert "between objective and bound" in repr(result)


def test_a_point_outside_X_is_not_a_bracket():
    W = random_edges(10, 20, 0)
    model = condal.problems.max_cut(W)
    result = condal.solve(model)
    x = dense(result.x)
    x[0, 1] = x[1, 0] = 1.5  # not psd, but diag x = 1
    certificate = condal.certify(model, x, result.y)
    assert certificate.infeasibility <= 1e-12
    assert not certificate.bracket


def rows_of_a_simplex(rows, b, costs, *, size=1.0):
    return condal.Problem.of(
        f=condal.Linear(np.array(costs)),
        X=condal.Simplex(3, size),
        A=condal.Matrix(np.array(rows)),
        K=condal.Equal(np.array(b)),
    )


@pytest.mark.parametrize("unit", [1e-13, 1e-12])
def test_a_row_in_tiny_units_is_violated_by_more_than_its_rounding(unit):
    rows = [[unit, 0.0, 0.0], [1.0, 1.0, 1.0]]
    problem = rows_of_a_simplex(rows, [0.0, 1.0], [-1.0, 0.0, 0.0])  # the optimum is 0
    certificate = condal.certify(problem, np.array([1.0, 0.0, 0.0]), np.zeros(2))
    assert certificate.infeasibility <= 1e-12
    assert not certificate.bracket
    result = condal.solve(problem, tol=1e-6)
    assert not result.bracket or result.objective >= result.bound - 1e-12
    forged = replace(
        result, x=np.array([1.0, 0, 0]), certificate=replace(certificate, bracket=True)
    )
    refuted = {claim.name for claim in condal.saved.verify(problem, forged).unproved}
    assert "bracket" in refuted


def test_a_violation_with_a_price_is_not_a_bracket():
    rows = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    problem = rows_of_a_simplex(rows, [0.0, 9e5], [0.0, -1e6, 0.0], size=1e6)  # the optimum is 0
    x, y = np.array([9e5, 9e-7, 1e5 - 9e-7]), np.array([1e6 - 9.5e-7, 0.0])
    certificate = condal.certify(problem, x, y)
    assert certificate.infeasibility <= 1.1e-12
    assert certificate.price > 0.8
    assert not certificate.bracket


def test_the_command_for_theta_says_that_the_optimum_is_between(tmp_path):
    from commands import run

    file = tmp_path / "some.graph"
    write_metis(file, random_edges(60, 200, 0))
    ended = run("solve", str(file), "--as", "theta", "--tol", "1e-3", "--quiet", "--json", "-")
    assert ended.exit_code == 0, ended.stderr
    record = json.loads(ended.stdout)
    exact = condal.solve(condal.problems.theta(random_edges(60, 200, 0)), tol=1e-6)
    assert record["bracket"] is True
    assert record["objective"] <= exact.bound
    assert exact.objective <= record["bound"]
    assert abs(record["objective"] - exact.objective) <= 1e-3 * exact.objective
