"""CVXPY's own tests of a solver, run against CONDAL at the places that they ask for, duals too.

Left out: `mi_*`, mixed-integer problems; exponential and power cones; `lp_7`, which asks for SDPA
with many digits; `lp_bound_attr` and `qp_bound_attr` as they stand, which want bounds on variables
handed to the solver as such: the same problems are solved here, with the bounds as constraints.
"""

from __future__ import annotations

import inspect
import warnings

import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from cvxpy.tests import solver_test_helpers as helpers

from condal.cvxpy import CONDAL

SOLVER = CONDAL(tol=1e-8)
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


@pytest.mark.parametrize(("name", "test"), TESTS, ids=[name for name, _ in TESTS])
def test_of_cvxpy(name, test):
    with warnings.catch_warnings():
        if name in WARNS:
            warnings.filterwarnings("ignore", WARNS[name])
        test(SOLVER)


def test_all_of_them_are_there():
    names = [name for name, _ in TESTS]
    assert {"test_sdp_1min", "test_sdp_1max", "test_sdp_2", "test_sdp_batched"} <= set(names)
    assert len(names) == 7 + 2 + 7 + 4


@pytest.mark.parametrize("make", [helpers.lp_bound_attr, helpers.qp_bound_attr])
def test_bounds_as_attributes(make):
    case = make()
    case.solve(SOLVER)
    case.verify_objective(places=4)
    case.verify_primal_values(places=4)


INFEASIBLE = ["lp_ineq_constraints", "lp_eq_constraints", "soc", "psd_cone"]


@pytest.mark.parametrize("name", INFEASIBLE)
def test_infeasible_problems_of_cvxpy(name):
    getattr(helpers.StandardTestInfeasibleProblems, f"test_{name}")(SOLVER)
