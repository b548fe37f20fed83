"""CVXPY's own tests with CONDAL at its default settings, in the place of the solver they name.

These are the standard tests of a solver (linear, quadratic, second-order, semidefinite, infeasible)
and CVXPY's suites of complex, semidefinite, quadratic and parametrised problems.
"""

from __future__ import annotations

import importlib
import inspect
import unittest
import warnings

import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from cvxpy.error import SolverError
from cvxpy.tests import solver_test_helpers as helpers

from condal.cvxpy import CONDAL

# ---- the standard tests --------------------------------------------------------------------------

KINDS = {
    "LP": helpers.StandardTestLPs,
    "QP": helpers.StandardTestQPs,
    "SOCP": helpers.StandardTestSOCPs,
    "SDP": helpers.StandardTestSDPs,
}
NOT_FOR_US = {  # see test_cvxpys_own
    "test_lp_7": "needs SDPA",
    "test_lp_bound_attr": "bounds as attributes",
    "test_qp_bound_attr": "bounds as attributes",
}
STANDARD = {
    f"{kind} {name.removeprefix('test_')}": test
    for kind, tests in KINDS.items()
    for name, test in inspect.getmembers(tests, inspect.isfunction)
    if not name.startswith("test_mi_") and name not in NOT_FOR_US
}


@pytest.mark.filterwarnings("ignore:The problem has an expression with dimension")
@pytest.mark.parametrize("test", STANDARD.values(), ids=STANDARD)
def test_standard(test):
    test(CONDAL())


@pytest.mark.parametrize("name", ["lp_ineq_constraints", "lp_eq_constraints", "soc", "psd_cone"])
def test_standard_infeasible(name):
    getattr(helpers.StandardTestInfeasibleProblems, f"test_{name}")(CONDAL())


def test_every_kind_is_there():
    assert {name.split()[0] for name in STANDARD} == set(KINDS)
    assert len(STANDARD) == 20
    assert "SDP sdp_batched" in STANDARD


# ---- whole suites --------------------------------------------------------------------------------

SUITES = (
    ("test_complex", "TestComplex"),
    ("test_semidefinite_vars", "TestSemidefiniteVariable"),
    ("test_quad_form", "TestNonOptimal"),
    ("test_suppfunc", "TestSupportFunctions"),
    ("test_linear_cone", "TestLinearCone"),
    ("test_dpp", "TestDcp"),
)
LEFT_OUT = {
    "TestSupportFunctions.test_invalid_solver": "wants a named solver to be refused",
    "TestNonOptimal.test_assume_psd": "wants the breakdown of a solver on a nonconvex problem",
    "TestDcp.test_quad_over_lin": "wants an error of OSQP, a solver of quadratic programs only",
}
SOLVER_OPTIONS = ("enforce_dpp", "ignore_dpp", "canon_backend", "warm_start", "use_quad_obj")
OTHER_REDUCTIONS = ("gp", "qcp", "requires_grad")  # these go to the solver that the test names


def _methods():
    for module, name in SUITES:
        suite = getattr(importlib.import_module(f"cvxpy.tests.{module}"), name)
        assert issubclass(suite, unittest.TestCase)
        for method in unittest.TestLoader().getTestCaseNames(suite):
            if f"{name}.{method}" not in LEFT_OUT:
                yield f"{name}.{method}", suite, method


METHODS = {name: (suite, method) for name, suite, method in _methods()}


@pytest.fixture
def only_condal(monkeypatch):
    """Solve every continuous problem by CONDAL(), whatever solver and options a test names."""
    solve = cp.Problem.solve

    def solved(problem, *arguments, **options):
        if problem.is_mixed_integer() or any(options.get(name) for name in OTHER_REDUCTIONS):
            return solve(problem, *arguments, **options)
        kept = {name: value for name, value in options.items() if name in SOLVER_OPTIONS}
        return solve(problem, solver=CONDAL(), **kept)

    monkeypatch.setattr(cp.Problem, "solve", solved)


@pytest.mark.parametrize(("suite", "method"), METHODS.values(), ids=METHODS)
def test_of_a_suite(suite, method, only_condal):
    case = suite(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the suites test what CVXPY warns of, too
        case.setUp()
        try:
            getattr(case, method)()
        except SolverError as error:
            if "CONDAL supports linear, second-order and semidefinite cones" not in str(error):
                raise
            pytest.skip(str(error))
        finally:
            case.doCleanups()


def test_the_suites_are_there():
    assert {name.partition(".")[0] for name in METHODS} == {name for _, name in SUITES}
    assert len(METHODS) > 100
