"""Problems that thresholds judge wrongly: each verdict must be proved, or called inaccurate."""

import time
import warnings
from fractions import Fraction

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from condal.cvxpy import CONDAL

D = 2.0**-44


def said_of(objective, constraints, **options):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.solve(solver=CONDAL(**options))
    return problem


x, z, X = cp.Variable(2), cp.Variable(), cp.Variable((2, 2), PSD=True)
CONTRADICTION = [x[0] + x[1] == 1, x[0] + x[1] == 1 + 1e-10]
EDGE = [X[0, 0] == 1, X[1, 1] == 1, X[0, 1] == 1]  # X = ee' is the only point
VERDICTS = [
    # Costs of mixed scale do not hide that a problem without rows is unbounded.
    (1e4 * x[0] - x[1], [x >= 0], "unbounded"),
    (1e4 * X[0, 0] - X[1, 1], [], "unbounded"),
    (1e4 * X[0, 0] + X[1, 1], [], "optimal"),
    # A free variable without rows, beside a large cost or an infeasible matrix.
    (1e10 * x[0] + z, [x[0] >= 0, x[0] <= 5], "unbounded"),
    (z, [X[0, 1] == 1, cp.trace(X) <= 2 - 1e-5], "infeasible"),
    # Contradictory rows are infeasible however near.
    (z, CONTRADICTION, "infeasible"),
    (z, [*CONTRADICTION, x >= 0], "infeasible"),
    (x[0], [*CONTRADICTION, x >= 0], "infeasible"),
    # A matrix on the boundary of the psd cone: a rounded sqrt(2) in the rows would exclude it.
    (X[0, 1], EDGE, "optimal"),
    (z, EDGE, "unbounded"),
]


@pytest.mark.parametrize(("objective", "rows", "status"), VERDICTS)
def test_a_verdict_is_right_where_scales_mislead(objective, rows, status):
    assert said_of(objective, rows).status == status


def test_rows_whose_squares_underflow_are_not_taken_for_satisfied():
    y, z = cp.Variable(2), cp.Variable(2)
    row = [1e-163 * cp.sum(y) <= 0, y <= 1, y >= -1]
    assert said_of(-cp.sum(y), row).status != "optimal"  # the optimum is 0, and -2 was said
    cone = [cp.SOC(1e-170, 1e-170 * z), z <= 1]
    assert said_of(-cp.sum(z), cone, max_seconds=5).status != "optimal"


def test_nearly_parallel_rows_that_meet_are_not_infeasible():
    x, s = cp.Variable(), cp.Variable()
    problem = said_of(0 * x, [x - s == 0, x - (1 - D) * s == 8 * D, s <= 100])
    assert problem.status in ("optimal", "optimal_inaccurate", "infeasible_inaccurate")


def test_a_bound_is_on_the_right_side_where_large_costs_cancel():
    x, s = cp.Variable(), cp.Variable()
    problem = said_of(1e10 * ((1 - D) * s - x), [x - s == 0, s <= 1e4])
    costs = Fraction(float(1e10 * (1 - D))) - Fraction(1e10)  # as CVXPY hands them over
    optimum = float(10_000 * costs)  # x = s = 1e4
    certificate = problem.solver_stats.extra_stats.certificate
    assert certificate.bound <= optimum + 1e-12
    if problem.status == "optimal":
        assert certificate.objective == pytest.approx(optimum, rel=1e-3)


@pytest.mark.parametrize("n", [3, 4, 6])
def test_a_ray_on_the_boundary_of_the_psd_cone_is_proved(n):
    X = cp.Variable((n, n), PSD=True)
    assert said_of(-cp.trace(X), [X[0, 0] == 1, cp.sum(X) <= 3]).status == "unbounded"


def test_infinite_right_hand_sides_state_nothing_or_the_impossible():
    x = cp.Variable(2)
    mixed = [x >= np.array([1.0, -np.inf]), x <= np.array([np.inf, 5.0]), x[1] >= 3]
    for rows in (
        [x >= 1, x <= np.inf],
        [x >= -np.inf, x >= 1],
        mixed,
        [cp.norm(x) <= np.inf, *mixed],
    ):
        problem = said_of(cp.sum(x), rows)
        assert problem.status == "optimal"
        assert problem.value == pytest.approx(2.0 if rows[-1].shape else 4.0, abs=1e-3)
        assert all(np.isfinite(row.dual_value).all() for row in rows if not isinstance(row, cp.SOC))
    for impossible in (x >= np.inf, x <= -np.inf, x == np.inf, cp.norm(x) <= -np.inf):
        assert said_of(cp.sum(x), [impossible, x >= 0]).status == "infeasible"
    assert said_of(cp.sum(x), [x <= np.inf]).status == "unbounded"
    X = cp.Variable((2, 2), PSD=True)
    with pytest.raises(cp.SolverError, match="semidefinite constraint is infinite"):
        said_of(cp.trace(X), [X << np.array([[np.inf, 0], [0, 1.0]])])


@pytest.mark.parametrize("unit", [1e-8, 1e-4, 1.0, 1e4, 1e8])
def test_a_small_objective_is_solved_relative_to_its_own_size(unit):
    """max-cut of a triangle, 2.25, in other units."""
    X = cp.Variable((3, 3), PSD=True)
    weights = np.ones((3, 3)) - np.eye(3)
    problem = said_of(unit * cp.sum(cp.multiply(weights, X)) / 4, [cp.diag(X) == 1])
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(-0.75 * unit, rel=1e-3)


@pytest.mark.usefixtures("processor_clock")
def test_the_time_of_a_solve_is_that_of_all_its_phases():
    X = cp.Variable((25, 25), PSD=True)
    start = time.perf_counter()
    problem = said_of(X[0, 1] + cp.norm(X), [cp.trace(X) <= 3, X[0, 0] == 1])
    wall = time.perf_counter() - start
    seconds = problem.solver_stats.solve_time
    compiled = problem.compilation_time or 0.0
    assert 0.5 * (wall - compiled) <= seconds <= wall
    assert problem.solver_stats.extra_stats.seconds == seconds
