"""CGAL against the paper: its algorithm, its theorem, its laws."""

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.methods.lagrangian import lagrangian
from condal.methods.rules import SETTLED, Classical, Const, Decr, Exact, LineSearch, Never, norm_cap
from condal.storage import Dense
from known import PLANTED, Known, torus

ITERATIONS = 300


@pytest.fixture(params=PLANTED.values(), ids=PLANTED.keys(), scope="module")
def known(request):
    return request.param()


def states(method, problem, count, storage=None, start=None):
    return list(islice(method.iterates(problem, storage or Dense(), start), count))


def run(known: Known, method, count=ITERATIONS):
    return states(method, known.problem, count)


@pytest.mark.parametrize(("sigma", "half"), [(Const, 1.0), (Decr, 0.5)])
@pytest.mark.parametrize("lam0", [0.1, 1.0, 10.0])
def test_the_bounds_of_theorem_3_1_hold(known, sigma, half, lam0):
    problem = known.problem
    f, X, A = problem.f, problem.X, problem.A
    D_Y = 2 * np.linalg.norm(known.y) + X.diameter * A.norm * lam0
    D2, A2 = X.diameter**2, A.norm**2
    for state in run(known, condal.CGAL(lam0, sigma=sigma(), tol=Exact(), D_Y=D_Y)):
        k = state.k + 1  # the state after iteration k holds x_{k+1}
        if k < 2:
            continue
        excess = f.value(state.Mx) - known.optimum
        distance = problem.h.distance(state.Ax)
        rounding = 1e-9 * (1 + abs(known.optimum))
        assert excess >= -np.linalg.norm(known.y) * distance - rounding
        objective_bound = 4 * half * D2 * (f.L / k + lam0 * A2 / np.sqrt(k))
        assert excess <= objective_bound + D_Y**2 / (2 * lam0 * np.sqrt(k)) + rounding
        C0 = f.L + A2 * lam0
        feasibility_bound = D_Y / 2 + np.linalg.norm(state.y - known.y)
        feasibility_bound += np.sqrt(2 * half * C0 * lam0 * D2)
        assert distance <= 2 / lam0 / np.sqrt(k) * feasibility_bound + rounding


@pytest.mark.parametrize("sigma", [Const(), Decr(), Never()], ids=["const", "decr", "never"])
def test_the_one_step_recursion_holds(known, sigma):
    """THEORY, law 8: the recursion behind the theorem, with the cross term kept."""
    problem, h = known.problem, known.problem.h
    D2, A2, L_f = problem.X.diameter**2, problem.A.norm**2, problem.f.L
    sequence = run(known, condal.CGAL(0.5, sigma=sigma, tol=Exact()), 120)
    for before, state in pairwise(sequence):
        k, eta = state.k, state.eta
        lam, lam_next = state.lam, 0.5 * np.sqrt(k + 2)
        now = lagrangian(problem, before.Mx, before.Ax, before.y, lam) - known.optimum
        then = lagrangian(problem, state.Mx, state.Ax, state.y, lam_next) - known.optimum
        a = before.Ax - h.prox(before.Ax + before.y / lam, 1 / lam)
        d = state.Ax - h.prox(state.Ax + before.y / lam_next, 1 / lam_next)
        allowed = (1 - eta) * now + 0.5 * eta**2 * (L_f + lam * A2) * D2
        allowed -= 0.5 * eta * lam * (a @ a)
        allowed += (state.sigma + 0.5 * (lam_next - lam) * (lam_next / lam) ** 2) * (d @ d)
        assert then <= allowed + 1e-9 * (1 + abs(allowed))


@pytest.mark.parametrize("method", [condal.CGAL(1.0), condal.CGAL(), condal.CGAL(eta=LineSearch())])
def test_the_penalty_grows_no_faster_than_the_theory_allows(known, method):
    sequence = run(known, method)
    assert sequence[-1].k > SETTLED + 10
    for state, after in pairwise(sequence):
        if method.lam0 is not None or state.k >= SETTLED:  # before, it seeks the balance
            assert (1 - 2 / (state.k + 1)) * after.lam <= state.lam * (1 + 1e-12)


def test_the_dual_step_keeps_its_caps_and_is_maximal(known):
    problem, lam0 = known.problem, 0.5
    D_Y = 0.5 * np.linalg.norm(known.y)
    D2, A2 = problem.X.diameter**2, problem.A.norm**2
    sequence = run(known, condal.CGAL(lam0, tol=Exact(), D_Y=D_Y))
    for before, state in pairwise(sequence):
        lam_next = lam0 * np.sqrt(state.k + 2)
        d = state.Ax - problem.h.prox(state.Ax + before.y / lam_next, 1 / lam_next)
        budget = 0.5 * (2 / (state.k + 1)) ** 2 * (problem.f.L + lam_next * A2) * D2
        slacks = np.array(
            [
                lam0 - state.sigma,
                budget - state.sigma * (d @ d),
                D_Y - np.linalg.norm(before.y + state.sigma * d),
            ]
        )
        assert np.all(slacks >= -1e-9)
        assert slacks.min() <= 1e-6 * max(lam0, budget, D_Y)
        assert np.linalg.norm(state.y) <= D_Y * (1 + 1e-12)


def test_dual_steps_are_safe_where_there_is_nothing_to_do():
    y, zero = np.array([3.0, 4.0]), np.zeros(2)
    assert norm_cap(y, zero, 6.0) == np.inf
    assert norm_cap(y, np.array([1.0, 0.0]), 1.0) == 0.0  # outside already: no step outwards
    assert norm_cap(y, y, 10.0) == pytest.approx(1.0)
    assert Const()(1, 2.0, y, zero, budget=1.0) == 2.0
    assert Decr()(3, 2.0, y, zero, budget=1.0) == 0.5


def test_line_search_minimises_along_the_segment(known):
    sequence = run(known, condal.CGAL(1.0, eta=LineSearch(), tol=Exact()), 60)
    problem = known.problem
    for before, state in pairwise(sequence):
        dM, dA = problem.f.M(state.s) - before.Mx, problem.A(state.s) - before.Ax
        values = [
            lagrangian(problem, before.Mx + t * dM, before.Ax + t * dA, before.y, state.lam)
            for t in np.clip(state.eta + np.array([-0.05, -0.01, 0.0, 0.01, 0.05]), 0, 1)
        ]
        assert values[2] <= min(values) + 1e-9 * (1 + abs(values[2]))


def test_rates_are_those_of_the_paper():
    """On a max-cut problem HCGM's infeasibility falls as 1/sqrt(k), CGAL's as 1/k or faster."""
    model = condal.problems.max_cut(torus(6, 4))
    problem, _ = normalise(model.problem)
    slopes = {}
    for name, method in {"hcgm": condal.hcgm(1.0), "cgal": condal.CGAL(1.0)}.items():
        method = replace(method, tol=Exact())
        infeasibility = [problem.h.distance(s.Ax) for s in states(method, problem, 1200)]
        k = np.arange(1, 1201)
        tail = k > 100
        slopes[name] = np.polyfit(np.log(k[tail]), np.log(infeasibility)[tail], 1)[0]
    assert -0.7 < slopes["hcgm"] < -0.3
    assert slopes["cgal"] < -0.85


def test_methods_are_named():
    assert condal.CGAL().name == "cgal"
    assert condal.CGAL(sigma=Decr()).name == "cgal-decr"
    assert condal.CGAL(eta=LineSearch()).name == "cgal-ls"
    assert condal.hcgm().name == "hcgm"
    assert Classical()(1, lambda t: 0.0) == 1.0
