"""Trace-norm regression: against another solver, its coefficients and what they predict."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import condal
from condal.linalg.lifting import square_point
from condal.problems import trace_regression


def tasks(p=30, m=8, n=6, rank=2, noise=0.3, seed=0):
    """Observations, coefficients of low rank, and noisy responses."""
    rng = np.random.default_rng(seed)
    a, x = (
        rng.standard_normal((p, m)),
        rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)),
    )
    return a, x, a @ x + noise * rng.standard_normal((p, n))


def nuclear(x):
    return float(np.linalg.svd(x, compute_uv=False).sum())


def test_a_ball_that_is_large_enough_gives_ordinary_least_squares():
    a, _, Y = tasks()
    x = np.linalg.lstsq(a, Y, rcond=None)[0]
    model = trace_regression(a, Y, radius=2 * nuclear(x))
    fit = model.fit(condal.solve(model, tol=1e-7))
    np.testing.assert_allclose(np.asarray(fit.x), x, atol=1e-2)
    np.testing.assert_allclose(fit.predict(a), a @ x, atol=1e-2)
    assert fit.loss == pytest.approx(0.5 * np.linalg.norm(a @ x - Y) ** 2, rel=1e-5)


def test_directions_that_are_shared_are_found_and_predict_better():
    a, x, Y = tasks(p=60, m=20, n=15, rank=2, noise=4.0)
    model = trace_regression(a, Y, radius=0.9 * nuclear(x))
    fit = model.fit(condal.solve(model, tol=1e-5))
    assert 2 <= fit.rank <= 10  # of 15
    new = np.random.default_rng(5).standard_normal((40, 20))
    ordinary = np.linalg.lstsq(a, Y, rcond=None)[0]
    missed = [np.linalg.norm(guess - new @ x) for guess in (fit.predict(new), new @ ordinary)]
    assert missed[0] < missed[1]
    np.testing.assert_allclose(fit.predict(sp.csr_array(new)), fit.predict(new), atol=1e-12)
    np.testing.assert_allclose(fit.predict(new), new @ np.asarray(fit.x), atol=1e-12)
    assert f"rank {fit.rank}" in repr(fit)


def test_classes_are_responses_of_ones_and_zeros():
    rng = np.random.default_rng(1)
    centres, labels = 3 * rng.standard_normal((4, 10)), rng.integers(0, 4, 200)
    a = centres[labels] + rng.standard_normal((200, 10))
    model = trace_regression(a, np.eye(4)[labels], radius=0.5)
    fit = model.fit(condal.solve(model))
    assert np.mean(fit.predict(a).argmax(axis=1) == labels) >= 0.95


def test_more_observations_than_features_cost_no_more_than_features():
    a, x, Y = tasks(p=200)
    model = trace_regression(a, Y, radius=nuclear(x))
    assert model.problem.f.M.size == 9 * 6
    whole = condal.LeastSquares(model.map, Y.ravel())
    for seed in range(3):
        z = square_point(np.random.default_rng(seed).standard_normal((8, 6)), 8, 6)
        f = model.problem.f
        assert f.value(f.M(z)) == pytest.approx(whole.value(whole.M(z)), rel=1e-12)


@pytest.mark.parametrize(
    ("a", "Y", "radius", "text"),
    [
        (np.eye(3), np.ones((2, 4)), 1.0, "a has 3 rows and Y has 2: they must agree"),
        (np.eye(3), np.ones(3), 1.0, r"Y must have 2 dimensions; got shape \(3,\)"),
        (np.eye(3), np.ones((3, 0)), 1.0, r"Y must be at least 1 x 1; got shape \(3, 0\)"),
        (np.ones(3), np.ones((3, 1)), 1.0, "the matrix a of LeftProduct must have 2 dimensions"),
    ],
)
def test_bad_data_are_refused(a, Y, radius, text):
    with pytest.raises(condal.ProblemError, match=text):
        trace_regression(a, Y, radius=radius)


def test_what_does_not_fit_the_model_is_refused():
    a, x, Y = tasks()
    model = trace_regression(a, Y, radius=nuclear(x))
    fit = model.fit(condal.solve(model, tol=1e-2))
    with pytest.raises(
        condal.ProblemError, match=r"a column for each of the 8 features; got shape"
    ):
        fit.predict(np.ones((3, 7)))
    for wrong in ([["a"] * 8], [[1.0] * 8, [1.0]], 1j * np.ones((2, 8)), np.full((1, 8), np.nan)):
        with pytest.raises(condal.ProblemError, match=r"^a (must be an array|is complex|has the)"):
            fit.predict(wrong)
    np.testing.assert_allclose(fit.predict(sp.csr_array(a)), fit.predict(a), atol=1e-12)
    np.testing.assert_allclose(fit.predict(pd.DataFrame(a)), fit.predict(a))
