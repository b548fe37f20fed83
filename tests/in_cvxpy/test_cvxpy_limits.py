"""max_seconds of the CVXPY solver holds for all its phases together, in processor time."""

import time
import warnings

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from condal.cvxpy import CONDAL

pytestmark = pytest.mark.usefixtures("processor_clock")


def nearest_correlation(n, *, weighted=False):
    """A weighted one is not a projection, so only general methods solve it."""
    rng = np.random.default_rng(0)
    draw = rng.standard_normal((n, n))
    X = cp.Variable((n, n), PSD=True)
    off = X - 0.5 * (draw + draw.T)
    off = cp.multiply(rng.random((n, n)) + 0.5, off) if weighted else off
    return cp.Problem(cp.Minimize(cp.sum_squares(off)), [cp.diag(X) == 1])


def without_a_trace():
    X = cp.Variable((5, 5), PSD=True)
    return cp.Problem(cp.Minimize(X[0, 1]), [X[0, 0] == 1, X[2, 2] == 1])


def seconds_of(problem, limit):
    """Return the processor time of a solve, without CVXPY's own compilation, and the error."""
    solver = CONDAL(max_seconds=limit)
    problem.get_problem_data(solver)
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CVXPY warns of an inaccurate solution
            problem.solve(solver=solver)
    except cp.SolverError as error:
        return time.process_time() - began, str(error)
    return time.process_time() - began, ""


def test_max_seconds_holds_for_a_search_for_a_trace_bound():
    spent, _ = seconds_of(without_a_trace(), 0.5)
    assert spent <= 1.1 * 0.5 + 1.0


def test_an_error_at_the_limit_names_it():
    _, error = seconds_of(nearest_correlation(40, weighted=True), 1e-6)
    assert "the time limit was reached before there was an answer: raise max_seconds" in error


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_a_limit_leaves_the_point_that_the_engine_reached():
    problem = nearest_correlation(12, weighted=True)
    optimum = problem.solve(solver=CONDAL())
    problem.solve(solver=CONDAL(max_iters=5))
    assert problem.status == "user_limit"
    assert problem.solver_stats.num_iters == 5
    assert problem.value == pytest.approx(optimum, rel=0.5)


def test_a_limit_that_is_not_needed_changes_nothing():
    problem = nearest_correlation(6)
    problem.solve(solver=CONDAL())
    free = problem.value
    problem.solve(solver=CONDAL(max_seconds=100.0))
    assert problem.value == free
