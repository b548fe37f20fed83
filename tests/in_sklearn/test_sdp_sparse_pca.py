"""SDPSparsePCA: planted components, known optima, and what is proved of them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import condal
from condal.sklearn import SDPSparsePCA
from condal.sklearn.sparse_pca import MAX_FEATURES

SUPPORTS = ([1, 4, 7], [2, 5, 9, 11])


@pytest.fixture(scope="module")
def planted():
    """Two hidden factors, each seen in a few of 15 features."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((200, 2)) * [3.0, 2.0]
    X = 0.3 * rng.standard_normal((200, 15)) + 1.0
    for factor, support in zip(factors.T, SUPPORTS, strict=True):
        X[:, support] += factor[:, None]
    return X, factors


@pytest.fixture(scope="module")
def fitted(planted):
    return SDPSparsePCA(2).fit(planted[0])


def test_planted_components_are_found(planted, fitted):
    X, factors = planted
    supports = [np.flatnonzero(component).tolist() for component in fitted.components_]
    assert supports == list(SUPPORTS)
    np.testing.assert_allclose(np.linalg.norm(fitted.components_, axis=1), 1.0)
    scores = fitted.transform(X)
    for score, factor in zip(scores.T, factors.T, strict=True):
        assert abs(np.corrcoef(score, factor)[0, 1]) > 0.99
    assert (fitted.certified_gap_ <= 2e-3).all()
    assert [result.status for result in fitted.results_] == 2 * [condal.Status.SOLVED]
    assert fitted.n_iter_ == max(result.iterations for result in fitted.results_)


def test_the_figures_are_what_they_are_called(planted, fitted):
    S = np.cov(planted[0], rowvar=False)
    v = fitted.components_[0]
    assert fitted.explained_variance_[0] == pytest.approx(v @ S @ v)
    np.testing.assert_allclose(
        fitted.explained_variance_ratio_, fitted.explained_variance_ / np.trace(S)
    )
    assert fitted.rho_[0] == pytest.approx(0.2 * np.abs(S - np.diag(np.diag(S))).max())
    assert fitted.value_[0] == pytest.approx(v @ S @ v - fitted.rho_[0] * np.abs(v).sum() ** 2)
    np.testing.assert_allclose(fitted.certified_gap_, 1 - fitted.value_ / fitted.upper_bound_)


@pytest.mark.parametrize("seed", range(3))
def test_no_sparse_vector_is_above_the_bounds(seed):
    X = np.random.default_rng(seed).standard_normal((20, 7))
    fitted = SDPSparsePCA(alpha=0.4, cardinality=3).fit(X)
    S, rho = np.cov(X, rowvar=False), fitted.rho_[0]
    supports = [list(support) for support in combinations(range(7), 3)]
    spectra = [np.linalg.eigh(S[np.ix_(support, support)]) for support in supports]
    assert np.count_nonzero(fitted.components_[0]) == 3
    best = max(values[-1] for values, _ in spectra)
    assert fitted.explained_variance_[0] <= best * (1 + 1e-12)
    assert best <= fitted.variance_bound_[0]
    for values, vectors in spectra:
        penalised = values[-1] - rho * np.abs(vectors[:, -1]).sum() ** 2
        assert penalised <= fitted.upper_bound_[0]


def test_components_that_overlap_are_fitted_by_least_squares():
    X = np.random.default_rng(1).standard_normal((30, 5))
    fitted = SDPSparsePCA(3, alpha=0.05).fit(X)
    scores = fitted.transform(X)
    expected, *_ = np.linalg.lstsq(fitted.components_.T, (X - fitted.mean_).T, rcond=None)
    np.testing.assert_allclose(scores, expected.T, atol=1e-10)
    np.testing.assert_allclose(fitted.transform(fitted.inverse_transform(scores)), scores)


def test_the_scale_of_the_samples_does_not_matter(planted, fitted):
    scaled = SDPSparsePCA(2).fit(1e3 * planted[0])
    np.testing.assert_allclose(scaled.components_, fitted.components_, atol=1e-6)
    np.testing.assert_allclose(scaled.certified_gap_, fitted.certified_gap_, atol=1e-3)


def test_from_alpha_1_on_a_component_is_a_single_feature(planted):
    fitted = SDPSparsePCA(alpha=1.0).fit(planted[0])
    assert np.count_nonzero(fitted.components_) == 1


def test_it_works_in_a_pipeline_a_grid_search_and_with_pandas(planted):
    X, factors = planted
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(15)])
    pipeline = make_pipeline(StandardScaler(), SDPSparsePCA(2)).set_output(transform="pandas")
    assert list(pipeline.fit_transform(table).columns) == ["sdpsparsepca0", "sdpsparsepca1"]
    regression = make_pipeline(SDPSparsePCA(), LinearRegression())
    search = GridSearchCV(regression, {"sdpsparsepca__n_components": [1, 2]}, cv=2)
    search.fit(table, factors[:, 1])
    assert search.best_params_ == {"sdpsparsepca__n_components": 2}
    assert search.best_score_ > 0.95


def test_constant_features_have_no_variance():
    fitted = SDPSparsePCA(2).fit(np.ones((4, 3)))
    np.testing.assert_array_equal(fitted.explained_variance_, 0.0)
    assert (fitted.upper_bound_ <= 0.0).all()


@pytest.mark.parametrize(
    ("shape", "parameters", "message"),
    [
        ((3, MAX_FEATURES + 1), {}, r"n_features=1001 is more than the 1000 .* Drop features"),
        ((4, 3), {"n_components": 4}, "n_components=4 must be <= n_features=3"),
        ((4, 3), {"n_components": 0}, "n_components must be"),
        ((4, 3), {"n_components": 1.5}, "n_components must be"),
        ((4, 3), {"alpha": 0.0}, "alpha must be"),
        ((4, 3), {"cardinality": 4}, "cardinality is 4"),
        ((4, 3), {"tol": -1.0}, "tol must be"),
    ],
)
def test_parameters_that_are_not_allowed_are_refused(shape, parameters, message):
    with pytest.raises(ValueError, match=message):
        SDPSparsePCA(**parameters).fit(np.random.default_rng(0).standard_normal(shape))
