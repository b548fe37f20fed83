"""Regression in an l1 ball: against CVXPY, the laws of its repair, and its errors."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.errors import ProblemError
from condal.problems import l1_regression


def data(m, n, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.zeros(n)
    truth[:4] = [1.0, -1.0, 2.0, -2.0]
    M = rng.standard_normal((m, n))
    return M, M @ truth + 0.2 * rng.standard_normal(m), truth


def reference(M, b, radius, loss, zero_sum):
    x = cp.Variable(M.shape[1])
    missed = M @ x - b
    cost = 0.5 * cp.sum_squares(missed) if loss == "squares" else cp.norm1(missed)
    rows = [cp.norm1(x) <= radius] + [cp.sum(x) == 0] * zero_sum
    return float(cp.Problem(cp.Minimize(cost), rows).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("zero_sum", [True, False])
@pytest.mark.parametrize("loss", ["squares", "absolute"])
@pytest.mark.parametrize("radius", [2.0, 6.5])
def test_it_finds_what_an_interior_point_method_finds(radius, loss, zero_sum):
    M, b, _ = data(30, 20)
    model = l1_regression(M, b, radius=radius, loss=loss, zero_sum=zero_sum)
    result = condal.solve(model, tol=5e-4, max_iters=5000)
    optimum = reference(M, b, radius, loss, zero_sum)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-3)
    assert result.bound <= optimum + 1e-6 * (1 + optimum)
    fit = model.fit(result)
    assert fit.loss == pytest.approx(result.objective, rel=1e-12)
    assert np.abs(fit.coefficients).sum() <= radius * (1 + 1e-12)
    np.testing.assert_allclose(fit.predictions, M @ fit.coefficients, atol=1e-12)
    if zero_sum:
        assert fit.coefficients.sum() == pytest.approx(0.0, abs=1e-12)


def test_the_coefficients_that_matter_are_found():
    M, b, truth = data(60, 100, seed=3)
    model = l1_regression(M, b, radius=6.0)
    fit = model.fit(condal.solve(model, tol=1e-3, max_iters=3000))
    assert set(range(4)) <= set(fit.support)
    np.testing.assert_allclose(fit.coefficients, truth, atol=0.15)
    assert str(fit).startswith(f"Fit(loss={fit.loss:.10g}, {fit.support.size} of 100 ")


def test_outliers_do_not_move_the_absolute_loss():
    M, b, truth = data(60, 20, seed=4)
    b[:5] += 50.0
    fits = {}
    for loss in ("squares", "absolute"):
        model = l1_regression(M, b, radius=6.0, loss=loss)
        fits[loss] = model.fit(condal.solve(model, tol=1e-3, max_iters=3000))
    wrong = {loss: np.linalg.norm(fit.coefficients - truth) for loss, fit in fits.items()}
    assert wrong["absolute"] < 0.5 < wrong["squares"]


def test_the_unit_of_proportions_does_not_matter():
    M, b, _ = data(30, 8)
    model, other = (l1_regression(m, b, radius=4.0) for m in (M, M + 3.0))
    first, second = (condal.solve(m, tol=1e-4, max_iters=3000) for m in (model, other))
    assert first.objective == pytest.approx(second.objective, rel=3e-4)


def test_repaired_points_are_feasible_and_as_sparse():
    model = l1_regression(*data(10, 6)[:2], radius=2.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.standard_normal(6) * (rng.random(6) < 0.7)
        x *= 2.0 / max(np.abs(x).sum(), 1e-9)
        y = model.repair(x)
        assert abs(y.sum()) <= 1e-15
        assert np.abs(y).sum() <= 2.0 * (1 + 1e-14)
        assert np.all((y == 0) | (np.sign(y) == np.sign(x)))
    fair = np.array([1.0, -0.5, -0.5, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(model.repair(fair), fair, atol=1e-15)
    np.testing.assert_array_equal(model.repair(np.ones(6)), np.zeros(6))


def test_any_kind_of_matrix_will_do():
    M, b, _ = data(12, 5)
    values = []
    for kind in (M, sp.csr_array(M), aslinearoperator(M), condal.Matrix(M)):
        model = l1_regression(kind, b, radius=3.0)
        assert model.n == 5
        values.append(condal.solve(model, max_iters=3000).objective)
    np.testing.assert_allclose(values, values[0], rtol=1e-3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"b": np.zeros(3)}, "M has 10 rows and b has 3 entries: they must agree"),
        ({"b": np.full(10, np.nan)}, "b has the value nan at index 0"),
        ({"M": np.zeros((0, 6)), "b": []}, "M has no rows: there is nothing to fit"),
        ({"M": np.zeros((10, 0))}, "M has no columns: there are no coefficients to find"),
        ({"M": 1j * np.ones((10, 6))}, r"M is complex .* pass numpy\.real\(M\)"),
        ({"zero_sum": "no"}, "zero_sum must be True or False; got 'no'"),
        ({"loss": np.ones(3)}, r"loss must be 'squares' or 'absolute'; got an ndarray of shape"),
        ({"radius": 0.0}, "radius must be a positive number; got 0"),
        ({"loss": "huber"}, "loss must be 'squares' or 'absolute'; got 'huber'"),
        ({"M": condal.Diagonal(10)}, "M must be a map of vectors, the coefficients; got one of"),
    ],
)
def test_what_makes_no_model_is_refused(change, text):
    M, b, _ = data(10, 6)
    given = {"M": M, "b": b, "radius": 1.0, **change}
    with pytest.raises(ProblemError, match=text):
        l1_regression(given.pop("M"), given.pop("b"), **given)


def test_results_of_other_models_are_refused():
    model = l1_regression(*data(10, 6)[:2], radius=2.0)
    other = condal.solve(l1_regression(*data(10, 4)[:2], radius=2.0))
    with pytest.raises(ProblemError, match=r"to another model: .* needs length 6"):
        model.fit(other)
    with pytest.raises(ProblemError, match=r"wanted a result, as condal\.solve returns it"):
        model.fit(np.zeros(6))
