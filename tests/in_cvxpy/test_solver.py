"""CONDAL as users meet it: answers, duals, statuses, options, errors."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

import condal
from condal.cvxpy import CONDAL
from condal.cvxpy.engines import EmbeddedEngine
from condal.cvxpy.solver import cone_program
from condal.problems import max_cut
from condal_lab.bench.conic import everyday, systems
from known import random_graph


def cut_problem(W):
    L = np.diag(W.sum(axis=0)) - W
    X = cp.Variable(W.shape, PSD=True)
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])


def test_max_cut_is_the_librarys_own():
    """The same method, and the same answer: the structure of the problem was recovered."""
    W = random_graph(300, 6.0)
    problem, ours = cut_problem(W.toarray()), condal.solve(max_cut(W), tol=1e-4)
    problem.solve(solver=CONDAL(tol=1e-4))
    result = problem.solver_stats.extra_stats
    assert problem.status == "optimal"
    assert result.method == ours.method == "lowrank"
    assert problem.value == pytest.approx(ours.objective, rel=2e-4)
    assert -result.objective == pytest.approx(problem.value, rel=1e-9)
    assert problem.value <= -result.bound <= problem.value * (1 + 1e-4)
    assert problem.solver_stats.num_iters == result.iterations > 0
    assert problem.solver_stats.solve_time == result.seconds > 0
    assert problem.solver_stats.solver_name == "CONDAL"


def largest_eigenvalue(n):
    rng = np.random.default_rng(n)
    F = rng.standard_normal((4, n, n))
    F = F + F.transpose(0, 2, 1)
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.lambda_max(F[0] + sum(x[i] * F[i + 1] for i in range(3)))))


def test_the_dual_is_solved_where_it_is_smaller():
    """171 entries of an 18 x 18 matrix, and 4 variables."""
    problem = largest_eigenvalue(18)
    engine = EmbeddedEngine(cone_program(problem.get_problem_data(CONDAL())[0]))
    assert engine.form.in_z
    problem.solve(solver=CONDAL(method="interior-point"))
    result = problem.solver_stats.extra_stats
    assert result.problem_name == "CVXPY problem, dual"
    assert result.objective == pytest.approx(problem.value, abs=1e-3)
    assert result.bound <= problem.value + 1e-6


def test_the_gap_is_one_of_the_users_objective():
    """The program leaves 10^6 out of its objective, or most of it."""
    x = cp.Variable(3)
    objective = cp.sum(x) + cp.norm(x - np.array([1.0, 2.0, 3.0]))
    problem = cp.Problem(cp.Minimize(objective), [x >= -1e6, x <= 1e6, cp.sum(x) >= 1e-3])
    problem.solve(solver=CONDAL(tol=1e-6))
    assert problem.value == pytest.approx(problem.solve(solver=cp.CLARABEL), abs=1e-5)


def test_parameters_are_changed_without_a_new_compilation():
    p = cp.Parameter(value=1.0)
    X = cp.Variable((3, 3), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == p])
    problem.solve(solver=CONDAL())
    chain = problem._cache.solving_chain
    p.value = 2.0
    problem.solve(solver=CONDAL())
    assert problem.value == pytest.approx(6.0, rel=1e-3)
    assert problem._cache.solving_chain is chain
    problem.solve(solver=CONDAL(tol=1e-6))
    assert problem._cache.solving_chain is not chain


def test_options_beside_the_solver_take_the_place_of_its_own():
    W = random_graph(30, 4.0).toarray()
    problem = cut_problem(W)
    problem.solve(solver=CONDAL(tol=1e-1), tol=1e-5)
    assert problem.solver_stats.extra_stats.gap <= 1e-5
    method = condal.CGAL()  # `method=` beside the solver is CVXPY's own
    problem.solve(solver=CONDAL(method=method), tol=0.1)
    assert problem.solver_stats.extra_stats.method == method.name


def test_a_limit_gives_the_best_point_so_far():
    problem = cut_problem(random_graph(30, 4.0).toarray())
    with pytest.warns(UserWarning, match="may be inaccurate"):
        problem.solve(solver=CONDAL(method=condal.CGAL()), tol=1e-9, max_iters=3)
    assert problem.status == "user_limit"
    assert problem.value is not None
    assert problem.solver_stats.num_iters == 3


def test_verbose_shows_the_progress(capsys):
    cut_problem(random_graph(30, 4.0).toarray()).solve(solver=CONDAL(), verbose=True)
    printed = capsys.readouterr()
    assert "objective" in printed.out + printed.err
    assert "infeas" in printed.out + printed.err


x, X = cp.Variable(3, name="x"), cp.Variable((3, 3), PSD=True)


def test_a_problem_of_equations_alone():
    problem = cp.Problem(cp.Minimize(x[0] + 1), [x[0] + x[1] == 1, x[0] - x[1] == 3, x[2] == 0])
    problem.solve(solver=CONDAL())
    assert np.allclose(x.value, [2, -1, 0])
    assert problem.value == pytest.approx(3.0)
    assert [float(c.dual_value) for c in problem.constraints] == pytest.approx([-0.5, -0.5, 0.0])


Y = cp.Variable((3, 3), symmetric=True, name="Y")
ENDLESS = [X[0, 1] == 1, Y >> 0, Y[0, 0] == 0, Y[1, 2] >= 1]  # X[0, 0] falls as X[1, 1] grows


def test_a_minimum_that_is_not_attained_needs_no_bound():
    problem = cp.Problem(cp.Minimize(X[0, 0]), ENDLESS)
    problem.solve(solver=CONDAL())
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(0.0, abs=1e-4)


def test_what_nothing_bounds_is_named():
    """X01 >= -sqrt(X11): unbounded, but along no ray, so no verdict can be proved."""
    problem = cp.Problem(cp.Minimize(X[0, 1]), [X[0, 0] == 1])
    with pytest.raises(cp.SolverError, match="the size of a variable with 6 entries") as got:
        problem.solve(solver=CONDAL())
    assert "pass trace_bound=" in str(got.value)


def test_a_method_that_needs_a_bound_works_near_a_proposed_point():
    problem = cp.Problem(cp.Minimize(X[0, 0]), ENDLESS)
    problem.solve(solver=CONDAL(method=condal.CGAL()))
    assert problem.status == "optimal"
    assert problem.solver_stats.extra_stats.method == "cgal"


def test_a_bound_that_is_given_is_taken():
    problem = cp.Problem(cp.Minimize(X[0, 0]), ENDLESS)
    problem.solve(solver=CONDAL(trace_bound=100.0))
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(0.01, rel=0.02)  # X[0, 0] X[1, 1] >= 1
    assert "within the given trace bound" in problem.solver_stats.extra_stats.certificate.how


@pytest.mark.parametrize(
    ("objective", "constraints", "cones"),
    [
        (cp.sum(cp.exp(x)), [x >= 0], "exponential cones"),
        (x[0], [cp.PowCone3D(x[0], x[1], x[2], 0.3)], "power cones"),
        (x[0], [cp.PowConeND(x[:2], x[2], np.array([0.4, 0.6]))], "power cones"),
    ],
)
def test_cones_that_are_not_taken_are_named(objective, constraints, cones):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    with pytest.raises(cp.SolverError, match=f"this problem has {cones}.*solver=cvxpy.CLARABEL"):
        problem.solve(solver=CONDAL())


def test_options_that_are_none_are_refused():
    problem = cp.Problem(cp.Minimize(X[0, 1]), [cp.diag(X) == 1])
    with pytest.raises(cp.SolverError, match=r"no option 'eps'; it has tol, trace_bound"):
        problem.solve(solver=CONDAL(), eps=1e-3)
    with pytest.raises(cp.SolverError, match=r"no option 'eps'; it has tol, trace_bound"):
        CONDAL(eps=1e-3)
    with pytest.raises(cp.SolverError, match="tol must be a positive number"):
        problem.solve(solver=CONDAL(), tol=-1.0)
    with pytest.raises(condal.ProblemError, match="trace_bound must be a positive number; got 0"):
        CONDAL(trace_bound=0)
    with pytest.raises(condal.ProblemError, match="seed must be a whole number"):
        CONDAL(seed=0.5)


def imported_beside(monkeypatch, module):
    """What importing `condal.cvxpy` raises beside such a CVXPY."""
    for name in [name for name in sys.modules if name.startswith("condal.cvxpy")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cvxpy", module)
    with pytest.raises(ImportError) as raised:
        __import__("condal.cvxpy")
    return str(raised.value)


def test_an_old_cvxpy_is_refused(monkeypatch):
    old = types.ModuleType("cvxpy")
    old.__version__ = "1.6.0"
    assert "needs CVXPY 1.9 or later, and 1.6.0 is installed" in imported_beside(monkeypatch, old)


def test_a_missing_cvxpy_is_asked_for():
    code = (
        "import sys; sys.modules['cvxpy'] = None\n"
        "try:\n    import condal.cvxpy\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'condal[cvxpy]'" in done.stdout


def test_the_paper_is_cited():
    assert "Yurtsever" in CONDAL().cite({})


@pytest.mark.parametrize("build", [systems.h_infinity, everyday.total_variation])
def test_the_duals_of_the_first_engine_are_proved_next_to_themselves(build, monkeypatch):
    """They are deep inside their cones over their distance from the rows: no system is solved."""

    def refused(*_):
        raise AssertionError

    monkeypatch.setattr("condal.cvxpy.judge.inner_value", refused)
    problem, optimum = build(cp)
    problem.solve(solver=CONDAL())
    result = problem.solver_stats.extra_stats
    assert (problem.status, result.method) == ("optimal", "Clarabel")
    assert problem.value == pytest.approx(optimum, rel=1e-5)
    assert result.certificate.gap < 1e-5


def test_the_row_of_an_engine_says_what_is_proved():
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])
    problem.solve(solver=CONDAL())
    result = problem.solver_stats.extra_stats
    row = result.history.last
    assert row.proved == result.certificate.error <= 1e-4
    assert row.price == result.certificate.price
