"""`condal.cvxpy.certify`: what the answers of other solvers prove."""

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from condal.cvxpy import CONDAL, certify
from condal.errors import ProblemError
from known import random_graph

SOLVERS = [cp.CLARABEL, cp.SCS]


def cut():
    W = random_graph(12, 4.0).toarray()
    L = np.diag(W.sum(axis=0)) - W
    X = cp.Variable(W.shape, PSD=True)
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4 + 7), [cp.diag(X) == 1])


def cones():
    x, X = cp.Variable(3), cp.Variable((3, 3), PSD=True)
    limits = [cp.SOC(x[0] + 3, x[1:]), X + np.eye(3) >> 0, cp.norm(x) <= 2, cp.trace(X) == 1]
    limits += [X[0, 1] >= 0.1, cp.SOC(np.ones(2) + x[:2], cp.vstack([x[1:], x[:2]]), axis=0)]
    return cp.Problem(cp.Maximize(cp.sum(x) + X[0, 2]), limits)


@pytest.mark.parametrize("make", [cut, cones])
@pytest.mark.parametrize("solver", [*SOLVERS, CONDAL(tol=1e-5)], ids=[*SOLVERS, "CONDAL"])
def test_an_optimum_is_proved_by_the_duals_of_any_solver(make, solver):
    problem = make()
    optimum = make().solve(solver=cp.CLARABEL)
    problem.solve(solver=solver)
    answer = certify(problem)
    assert answer.proved
    assert answer.gap < 1e-4
    assert answer.infeasibility < 1e-3
    sense = -1 if isinstance(problem.objective, cp.Maximize) else 1
    assert sense * (optimum - answer.bound) >= -1e-6 * abs(optimum)
    first = str(answer).splitlines()[0]
    assert first.startswith("proved, assuming only that CVXPY's cone program states the problem")
    assert ("at least" if sense > 0 else "at most") in first


def test_a_wrong_status_is_refuted():
    """SCS calls this infeasible problem unbounded."""
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(x[0]), [x[1] >= 1, x[1] <= 0])
    problem.solve(solver=cp.SCS)
    answer = certify(problem)
    if answer.status == "unbounded":
        assert not answer.proved
        assert "no point is feasible" in answer.verdict
        assert "the solver said unbounded, which is wrong" in answer.verdict
    else:
        assert answer.proved


def test_an_unsolved_problem_is_refused():
    x = cp.Variable()
    with pytest.raises(ProblemError, match="certify takes a solved problem"):
        certify(cp.Problem(cp.Minimize(x), [x >= 0]))


def test_what_is_missing_is_named_and_a_trace_may_be_assumed():
    problem = cut()
    problem.solve(solver=cp.SCS)
    for dual in problem.constraints[0].dual_variables:
        dual.save_value(None)
    answer = certify(problem)
    assert not answer.proved
    assert answer.missing == ("the duals of the constraints, which SCS lacks",)
    assert "missing: the duals of the constraints" in str(answer).splitlines()[0]
    # No exact dual exists: the optimum is not attained, and no row bounds the trace.
    X = cp.Variable((2, 2), PSD=True)
    flat = cp.Problem(cp.Minimize(X[0, 0]), [X[0, 1] == 1, X[1, 1] >= 0])
    flat.solve(solver=cp.CLARABEL)
    answer = certify(flat)
    if not answer.proved:
        assert answer.missing == ("a bound on the trace of a solution (trace_bound=)",)
    answer = certify(flat, trace_bound=1e3)
    assert answer.proved
    assert answer.bound <= 1e-3


def test_the_price_of_an_infeasible_point_is_told():
    problem = cut()
    problem.solve(solver=cp.CLARABEL)
    assert certify(problem).price < 1e-6
    X = problem.variables()[0]
    X.save_value(1.1 * X.value)
    answer = certify(problem)
    assert answer.price > 0.05
    assert "its price" in str(answer)
    assert "is not within tol" in answer.excess(1e-3)


def bounded_by(trace):
    """min -x_00 with x psd and x_00 <= 4, solved, and checked with an assumed trace."""
    X = cp.Variable((2, 2), PSD=True)
    problem = cp.Problem(cp.Minimize(-X[0, 0]), [X[0, 0] <= 4])
    problem.solve(solver=cp.CLARABEL)
    return certify(problem, trace_bound=trace)


def test_what_is_attained_is_proved_beside_the_bound():
    problem = cones()
    problem.solve(solver=cp.CLARABEL)
    answer = certify(problem)
    assert answer.attained <= answer.bound
    assert answer.bound == pytest.approx(answer.attained, rel=1e-5)
    assert "at least" in str(answer).splitlines()[0]


def test_bounds_that_contradict_each_other_are_not_a_bracket(monkeypatch):
    from condal.cvxpy import check

    answer = bounded_by(None)
    assert answer.bound <= -4 <= answer.attained
    monkeypatch.setattr(check.Judge, "bound", lambda judge, z: -3.0)
    contradiction = bounded_by(None)
    assert not contradiction.proved
    assert contradiction.bound == -np.inf
    assert np.isnan(contradiction.attained)
    assert "contradict each other" in str(contradiction)


def test_a_feasible_point_refutes_an_assumed_trace(monkeypatch):
    from condal.cvxpy import check

    monkeypatch.setattr(check.Judge, "bound", lambda judge, z: -np.inf)
    monkeypatch.setattr(check.Judge, "bound_within", lambda judge, z, trace: -1.0)
    answer = bounded_by(1.0)
    assert not answer.proved
    assert answer.attained == pytest.approx(-4.0)
    assert "better than every point within the given trace bound 1" in str(answer)
