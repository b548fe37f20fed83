"""`condal.cvxpy.register()`: CVXPY finds the solver by its name."""

import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from cvxpy.reductions.solvers import defines

from condal import ProblemError
from condal.cvxpy import register
from condal.errors import MissingExtra


@pytest.fixture(autouse=True)
def own_table(monkeypatch):
    """Give each test a table of solvers without condal."""
    table = {name: known for name, known in defines.SOLVER_MAP_CONIC.items() if name != "CONDAL"}
    monkeypatch.setattr(defines, "SOLVER_MAP_CONIC", table)


def edge():
    X = cp.Variable((2, 2), PSD=True)
    return cp.Problem(cp.Maximize(2 * X[0, 1]), [cp.diag(X) == 1])


@pytest.mark.parametrize("name", ["CONDAL", "condal"])
def test_the_name_is_known_after_one_call(name):
    with pytest.raises(cp.SolverError, match="The solver CONDAL is not installed"):
        edge().solve(solver=name)
    register()
    problem = edge()
    assert problem.solve(solver=name) == pytest.approx(2.0, rel=1e-3)
    assert (problem.status, problem.solver_stats.solver_name) == ("optimal", "CONDAL")
    assert "CONDAL" in cp.installed_solvers()


def test_it_stands_in_a_path_of_solvers_with_options():
    register()
    problem = edge()
    problem.solve(solver_path=[("CONDAL", {"tol": 1e-6}), "SCS"])
    assert problem.solver_stats.solver_name == "CONDAL"
    assert problem.solver_stats.extra_stats.certificate.gap <= 1e-6


def test_options_are_those_of_the_last_call():
    register(max_iters=1)
    register(tol=1e-7)
    problem = edge()
    problem.solve(solver="CONDAL")
    assert problem.status == "optimal"
    assert problem.solver_stats.extra_stats.certificate.gap <= 1e-7
    with pytest.raises(ProblemError, match="tol must be a positive number"):
        register(tol=-1.0)


def test_cvxpy_does_not_choose_it_by_itself():
    register()
    problem = edge()
    problem.solve()
    assert problem.solver_stats.solver_name != "CONDAL"


def test_what_an_object_refuses_a_name_refuses():
    register()
    count, x = cp.Variable(integer=True), cp.Variable()
    with pytest.raises(cp.SolverError, match=r"CONDAL takes no integer variables.*cvxpy\.HIGHS"):
        cp.Problem(cp.Minimize(count), [count >= 0.5]).solve(solver="CONDAL")
    with pytest.raises(cp.SolverError, match="this problem has exponential cones"):
        cp.Problem(cp.Minimize(cp.exp(x)), [x >= 0]).solve(solver="CONDAL")


def test_a_cvxpy_without_the_table_says_what_to_write(monkeypatch):
    monkeypatch.delattr(defines, "SOLVER_MAP_CONIC")
    with pytest.raises(MissingExtra, match=r"problem\.solve\(solver=condal\.cvxpy\.CONDAL\(\)\)"):
        register()
