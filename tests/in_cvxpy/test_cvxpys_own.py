"""CVXPY's own tests, duals too, with CONDAL in the place of the solver that they name.

The standard tests of a solver run at the defaults and at the places that they ask for. Suites of
complex, semidefinite, quadratic and parametrised problems run at the defaults.

Left out: `mi_*`, mixed-integer problems; exponential and power cones; `lp_7`, which asks for SDPA
with many digits; `lp_bound_attr` and `qp_bound_attr` as they stand, which want bounds on variables
handed to the solver as such: the same problems are solved here, with the bounds as constraints.
"""

import importlib
import inspect
import unittest
import warnings

import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from cvxpy.error import SolverError
from cvxpy.tests import solver_test_helpers as helpers

from condal.cvxpy import CONDAL

SOLVERS = {"defaults": CONDAL(), "accurate": CONDAL(tol=1e-8)}
solvers = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
# It has an expression of three dimensions, and CVXPY says which backend it takes for it.
WARNS = {"test_sdp_batched": "The problem has an expression with dimension"}
KINDS = {
    "lp": helpers.StandardTestLPs,
    "qp": helpers.StandardTestQPs,
    "socp": helpers.StandardTestSOCPs,
    "sdp": helpers.StandardTestSDPs,
}
LEFT_OUT = {
    "test_lp_7": "needs SDPA",
    "test_lp_bound_attr": "bounds as attributes",
    "test_qp_bound_attr": "bounds as attributes",
}
TESTS = [
    (name, test)
    for kind in KINDS.values()
    for name, test in inspect.getmembers(kind, inspect.isfunction)
    if not name.startswith("test_mi_") and name not in LEFT_OUT
]


@solvers
@pytest.mark.parametrize(("name", "test"), TESTS, ids=[name for name, _ in TESTS])
def test_of_cvxpy(name, test, solver):
    with warnings.catch_warnings():
        if name in WARNS:
            warnings.filterwarnings("ignore", WARNS[name])
        test(solver)


def test_all_of_them_are_there():
    names = [name for name, _ in TESTS]
    assert {"test_sdp_1min", "test_sdp_1max", "test_sdp_2", "test_sdp_batched"} <= set(names)
    assert len(names) == 7 + 2 + 7 + 4


@pytest.mark.parametrize("make", [helpers.lp_bound_attr, helpers.qp_bound_attr])
def test_bounds_as_attributes(make):
    case = make()
    case.solve(SOLVERS["accurate"])
    case.verify_objective(places=4)
    case.verify_primal_values(places=4)


@solvers
@pytest.mark.parametrize("name", ["lp_ineq_constraints", "lp_eq_constraints", "soc", "psd_cone"])
def test_infeasible_problems_of_cvxpy(name, solver):
    getattr(helpers.StandardTestInfeasibleProblems, f"test_{name}")(solver)


# ---- whole suites --------------------------------------------------------------------------------

SUITES = (
    ("test_complex", "TestComplex"),
    ("test_semidefinite_vars", "TestSemidefiniteVariable"),
    ("test_quad_form", "TestNonOptimal"),
    ("test_suppfunc", "TestSupportFunctions"),
    ("test_linear_cone", "TestLinearCone"),
    ("test_dpp", "TestDcp"),
)
LEFT_OUT_OF_SUITES = {
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
            if f"{name}.{method}" not in LEFT_OUT_OF_SUITES:
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
