"""MatrixCompletionImputer: planted matrices of low rank, new rows, and a proved fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import condal
from condal.sklearn import MatrixCompletionImputer


def _planted(m, n, rank, *, missing=0.3, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    full = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    full = 5.0 + full * np.logspace(-1, 1, n)  # columns of different units
    hidden = rng.random((m, n)) < missing
    given = full + noise * full.std(axis=0) * rng.standard_normal((m, n))
    return full, np.where(hidden, np.nan, given), hidden


def _error(imputed, full, hidden):
    scaled = (imputed - full) / full.std(axis=0)
    return float(np.sqrt(np.mean(scaled[hidden] ** 2)))


@pytest.fixture(scope="module")
def planted():
    return _planted(120, 30, 2)


@pytest.fixture(scope="module")
def fitted(planted):
    return MatrixCompletionImputer(random_state=0).fit(planted[1])


def test_a_planted_matrix_is_recovered(planted, fitted):
    full, given, hidden = planted
    imputed = fitted.transform(given)
    assert _error(imputed, full, hidden) < 0.05
    assert _error(SimpleImputer().fit_transform(given), full, hidden) > 0.9
    np.testing.assert_array_equal(imputed[~hidden], given[~hidden])
    assert fitted.result_.status is condal.Status.SOLVED


def test_new_rows_of_the_same_row_space_are_recovered(planted, fitted):
    full = planted[0]
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(4), size=50)
    rows = np.einsum("ik,ikj->ij", shares, full[rng.integers(len(full), size=(50, 4))])
    hidden = rng.random(rows.shape) < 0.3
    imputed = fitted.transform(np.where(hidden, np.nan, rows))
    assert np.sqrt(np.mean(((imputed - rows) / full.std(axis=0))[hidden] ** 2)) < 0.05


def test_the_rows_of_the_fit_get_the_entries_of_the_proved_solution():
    _, given, hidden = _planted(60, 20, 2, noise=0.1)
    fitted = MatrixCompletionImputer(radius=40.0, tol=1e-6).fit(given)
    solution = np.asarray(fitted.result_.x) * fitted.scale_ + fitted.mean_
    difference = ((fitted.transform(given) - solution) / fitted.scale_)[hidden]
    assert np.abs(difference).max() < 1e-3
    assert fitted.radius_ == 40.0
    assert fitted.singular_values_.sum() == pytest.approx(40.0, rel=1e-6)


def test_the_bound_and_the_penalty_of_a_matrix_without_missing_entries_are_exact():
    Z = np.random.default_rng(5).standard_normal((30, 8))
    fitted = MatrixCompletionImputer(radius=20.0, scale=False, tol=1e-6).fit(Z)
    _, s, Vt = np.linalg.svd(Z - Z.mean(axis=0))
    # The projection onto the nuclear ball lowers all singular values by one threshold.
    kept = max(r for r in range(1, 9) if s[r - 1] > (s[:r].sum() - 20.0) / r)
    threshold = (s[:kept].sum() - 20.0) / kept
    optimum = 0.5 * np.sum(np.minimum(s, threshold) ** 2) / Z.size
    assert fitted.lower_bound_ <= optimum * (1 + 1e-12)
    assert fitted.loss_ == pytest.approx(optimum, rel=1e-4)
    assert fitted.lower_bound_ == pytest.approx(optimum, rel=1e-4)
    assert fitted.penalty_ == pytest.approx(threshold, rel=1e-3)
    np.testing.assert_allclose(fitted.singular_values_, s[:kept] - threshold, atol=1e-2)
    np.testing.assert_allclose(np.abs(fitted.components_[0] @ Vt[0]), 1.0, atol=1e-4)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(kept), atol=1e-10)


def test_another_number_may_mark_missing_values(planted, fitted):
    _, given, hidden = planted
    marked = np.where(hidden, -999.0, given)
    imputer = MatrixCompletionImputer(missing_values=-999, random_state=0)
    np.testing.assert_array_equal(imputer.fit_transform(marked), fitted.transform(given))
    with pytest.raises(ValueError, match="NaN"):
        imputer.transform(given)


@pytest.mark.parametrize("keep", [False, True])
def test_empty_features_are_dropped_or_filled_with_zero(keep):
    table = pd.DataFrame(_planted(30, 4, 1)[1], columns=list("abcd"))
    table["b"] = np.nan
    imputer = MatrixCompletionImputer(keep_empty_features=keep, random_state=0)
    imputed = imputer.set_output(transform="pandas").fit_transform(table)
    assert list(imputed.columns) == (list("abcd") if keep else list("acd"))
    assert not imputed.isna().any(axis=None)
    assert not keep or not imputed["b"].any()
    new = table.assign(b=1.0)
    assert not keep or (imputer.transform(new)["b"] == 1.0).all()


def test_a_row_without_known_values_gets_the_means(fitted):
    imputed = fitted.transform(np.full((1, 30), np.nan))
    np.testing.assert_allclose(imputed[0], fitted.mean_)


def test_a_constant_table_is_filled_with_its_constant():
    given = np.full((6, 3), 4.0)
    given[2, 1] = np.nan
    assert (MatrixCompletionImputer(random_state=0).fit_transform(given) == 4.0).all()


def test_it_works_in_a_pipeline_and_a_grid_search(planted):
    full, given, _ = planted
    target = (full - full.mean(axis=0)) @ np.ones(30)
    pipeline = make_pipeline(MatrixCompletionImputer(random_state=0), Ridge())
    radii = {"matrixcompletionimputer__radius": [1.0, 100.0]}
    search = GridSearchCV(pipeline, radii, cv=2).fit(given, target)
    assert search.best_params_["matrixcompletionimputer__radius"] == 100.0
    assert search.best_score_ > 0.95


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        (np.full((2, 2), np.nan), {}, "no entry of X is known"),
        (np.eye(3), {"radius": 0.0}, "radius must be"),
        (np.eye(3), {"tol": -1.0}, "tol must be"),
        (np.array([[np.inf, 1.0]]), {}, "infinity"),
    ],
)
def test_what_cannot_be_fitted_is_refused(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        MatrixCompletionImputer(**parameters).fit(X)
