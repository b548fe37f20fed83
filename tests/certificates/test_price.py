"""The price of infeasibility: SOLVED means that the objective is near the optimum."""

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.problem import problem_of
from condal.result import Status
from known import random_edges

TOL = 1e-3


def random_equations(seed, *, inequalities=False):
    """A psd program with a feasible point inside X, and rows in units up to 1000 apart."""
    rng = np.random.default_rng(seed)
    n, m = 8, 6
    units = 10.0 ** rng.uniform(-1.5, 1.5, m)
    rows = [u * (M + M.T) for u, M in zip(units, rng.standard_normal((m, n, n)), strict=True)]
    C = rng.standard_normal((n, n))
    R = rng.standard_normal((n, n))
    x = R @ R.T / np.trace(R @ R.T)
    b = np.array([np.vdot(row, x) for row in rows])
    K = condal.Equal(b)
    if inequalities:
        K = condal.Box(b - 0.1 * units, np.where(rng.random(m) < 0.5, b + 0.1 * units, np.inf))
    return condal.Problem.of(
        f=condal.Linear(C + C.T),
        X=condal.Spectrahedron(n, 1.0),
        A=condal.Inner(rows),
        K=K,
    )


PROBLEMS = {
    **{f"theta, {seed}": lambda s=seed: condal.problems.theta(random_edges(30, 90, s)).problem
       for seed in range(2)},
    **{f"equations, {seed}": lambda s=seed: random_equations(s) for seed in range(3)},
    **{f"inequalities, {seed}": lambda s=seed: random_equations(s, inequalities=True)
       for seed in range(3)},
}  # fmt: skip
METHODS = {
    "the choice": lambda: None,
    "cgal": condal.CGAL,
    "splitting": condal.methods.Splitting,
    "primal-dual": condal.methods.PrimalDual,
    "interior-point": condal.methods.InteriorPoint,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_objective_of_a_solved_result_is_within_gap_and_price_of_the_optimum(name, method):
    problem = PROBLEMS[name]()
    exact = condal.solve(problem, tol=1e-8)
    assert exact.status is Status.SOLVED
    result = condal.solve(problem, METHODS[method](), tol=1e-2, max_iters=5000)
    assert result.status is Status.SOLVED
    unit = problem.gap_unit(result.objective)
    assert max(result.gap, result.price) * max(1.0, abs(result.objective)) <= 1.001e-2 * unit
    off = abs(result.objective - exact.objective) / max(1.0, abs(result.objective))
    # The price is that of an optimal dual up to the quality of w, which the gap measures.
    assert off <= 1.5 * (result.gap + result.price) + 1e-7


def test_theta_is_not_solved_by_an_infeasible_point_with_a_small_gap():
    """On random graphs of degree 4, an x infeasible by tol may be 0.5% beyond the optimum."""
    model = condal.problems.theta(random_edges(150, 600, 0))
    problem = model.problem
    optimum = condal.solve(model, tol=1e-6).objective
    beyond = []  # rows that are within tol but for the price

    def watch(row):
        if row.gap <= TOL and row.infeasibility <= TOL and row.price > TOL:
            beyond.append(row)

    result = condal.solve(model, condal.methods.Splitting(), tol=TOL, callback=watch)
    assert beyond, "the old rule would have stopped no earlier"
    assert max(abs(row.objective - optimum) / optimum for row in beyond) > 1.1 * TOL
    assert result.status is Status.SOLVED
    assert result.price <= TOL
    assert abs(result.objective - optimum) <= (result.gap + result.price) * result.objective
    assert result.price == pytest.approx(
        abs(result.y @ problem.A(result.x)) / result.objective, rel=1e-6
    )


def test_the_rule_names_what_is_not_within_tol():
    model = condal.problems.theta(random_edges(20, 40, 0))
    result = condal.solve(model, tol=TOL)
    certificate = result.certificate
    assert certificate.within(TOL)
    assert certificate.unit == problem_of(model).gap_unit(result.objective)

    def wrong(**changes):
        return replace(certificate, **changes).excess(TOL)

    assert "a gap of" in wrong(bound=1.1 * certificate.objective)
    assert wrong(bound=np.inf) == "no bound is proved"
    assert wrong(objective=np.nan) == "there is no point to measure a gap of"
    assert "an infeasibility of 0.1" in wrong(infeasibility=0.1)
    assert "a price of infeasibility of 0.1 is" in wrong(price=0.1)
    assert "price of infeasibility of nan" in wrong(price=np.nan)
    assert wrong(distance_to_X=1.0) == "the point is not in X"


def test_a_feasible_point_has_no_price():
    result = condal.solve(condal.problems.max_cut(random_edges(20, 40, 0)))
    assert result.price <= 1e-14
    assert len(result.history["price"]) == len(result.history)


def test_the_error_of_a_certificate_is_its_worst_measure():
    certificate = condal.Certificate(2.0, 2.2, 0.3, "", price=0.5)
    assert certificate.error == 0.5
    assert replace(certificate, price=0.2).error == 0.3
    assert replace(certificate, price=0.0, infeasibility=0.0).error == pytest.approx(0.1)
    assert replace(certificate, price=np.nan).error == np.inf


def test_verification_refutes_a_solved_result_whose_infeasibility_has_a_price():
    model = condal.problems.theta(random_edges(150, 600, 0))

    def stop(row):
        return row.gap <= 0.95 * TOL and row.infeasibility <= TOL and row.price > 1.05 * TOL

    result = condal.solve(model, condal.methods.Splitting(), tol=TOL, callback=stop)
    assert result.status is Status.INTERRUPTED
    assert max(result.gap, result.infeasibility) <= TOL < result.price
    assert condal.saved.verify(model, result).proved
    forged = replace(result, status=Status.SOLVED)
    verdict = condal.saved.verify(model, forged)
    assert [claim.name for claim in verdict.unproved] == ["solved"]
    assert "price of infeasibility" in verdict.unproved[0].text
