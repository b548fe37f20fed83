"""What all estimators share: scikit-learn's own checks, clones, limits of time, the extra."""

import importlib
import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import condal
from condal.errors import MissingExtra
from condal.sklearn import (
    CertifiedEstimator,
    MatrixCompletionImputer,
    SDPGraphClustering,
    SDPKMeans,
    SDPSparsePCA,
)

ESTIMATORS = [
    SDPKMeans(n_clusters=3),
    SDPGraphClustering(n_clusters=3, tol=1e-2),
    SDPGraphClustering(
        n_clusters=3, affinity="nearest_neighbors", n_neighbors=4, pairs="none", tol=1e-2
    ),
    MatrixCompletionImputer(),
    SDPSparsePCA(n_components=2),
]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    listed = {getattr(condal.sklearn, name) for name in condal.sklearn.__all__}
    assert listed - {CertifiedEstimator} == {type(estimator) for estimator in ESTIMATORS}


@pytest.fixture(scope="module")
def samples():
    return np.random.default_rng(0).standard_normal((60, 12))


@EACH
def test_a_clone_and_a_pickle_give_the_same_answer(estimator, samples):
    fitted, again = (_fitted(estimator, samples) for _ in range(2))
    for other in (again, pickle.loads(pickle.dumps(fitted))):
        for name, value in vars(fitted).items():
            if name.endswith("_") and isinstance(value, np.ndarray | float):
                np.testing.assert_array_equal(getattr(other, name), value, err_msg=name)


@EACH
def test_single_precision_gives_nearly_the_same_answer(estimator, samples):
    single = samples.astype(np.float32)
    values = [_value(_fitted(estimator, X)) for X in (single, single.astype(np.float64))]
    np.testing.assert_allclose(*values, rtol=1e-6)


@EACH
def test_a_solve_that_is_cut_short_warns_and_its_bound_is_still_valid(estimator, samples):
    with pytest.warns(ConvergenceWarning, match="was not solved to tol=1e-12") as caught:
        short = _fitted(estimator, samples, tol=1e-12, max_seconds=1e-3)
    assert caught[0].filename == __file__
    if hasattr(short, "lower_bound_"):
        assert short.lower_bound_ <= _value(short)
    else:
        assert np.all(short.upper_bound_ >= _value(short))


@EACH
def test_a_time_limit_that_is_not_positive_is_refused(estimator, samples):
    with pytest.raises(ValueError, match="max_seconds must be positive"):
        clone(estimator).set_params(max_seconds=0).fit(samples)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if hasattr(e, "transform")], ids=str)
def test_nothing_is_transformed_before_it_is_fitted(estimator, samples):
    with pytest.raises(NotFittedError):
        clone(estimator).transform(samples)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("condal.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("condal.runtime.extras.find_spec", lambda library: None)
    with pytest.raises(MissingExtra, match=r"needs scikit-learn; .*'condal\[sklearn\]'"):
        importlib.import_module("condal.sklearn")


def _fitted(estimator, X, **parameters):
    if "random_state" in estimator.get_params():
        parameters["random_state"] = 0
    return clone(estimator).set_params(**parameters).fit(X)


def _value(fitted):
    names = {SDPKMeans: "inertia_", MatrixCompletionImputer: "loss_"}
    return getattr(fitted, names.get(type(fitted), "value_"))
