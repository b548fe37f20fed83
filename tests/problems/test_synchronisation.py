"""Sign synchronisation: recovery, its certificate, its rounding."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import condal
from condal.problems import Signs, sign_synchronisation


def measured(n, degree, wrong, seed=0):
    """Signs, and products of pairs of them, of which a share is wrong."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], n)
    C = np.triu(rng.random((n, n)) < degree / n, 1) * np.outer(signs, signs)
    C = C * np.where(rng.random((n, n)) < wrong, -1.0, 1.0)
    return sp.csr_array(C + C.T), signs


def test_few_wrong_measurements_are_all_found_and_it_is_proved():
    C, signs = measured(200, 40.0, 0.1)
    model = sign_synchronisation(C)
    result = condal.solve(model, tol=1e-6)
    found = model.round(result)
    assert found.agreement(signs) == 1.0
    assert model.value(-found.signs) == found.value
    assert result.bound - found.value <= 1e-6 * found.value
    certificate = model.certificate(found.signs)
    assert (
        certificate.bound - found.value < 4.0
    )  # less than what a flip could change: none is better
    assert certificate.infeasibility == 0.0


def test_signs_that_are_not_the_best_do_not_certify_themselves():
    C, signs = measured(60, 20.0, 0.05)
    model = sign_synchronisation(C)
    signs[0] = -signs[0]
    certificate = model.certificate(signs)
    assert certificate.gap > 1e-3
    assert certificate.bound >= condal.solve(model).objective


@pytest.mark.parametrize("seed", range(3))
def test_no_flip_of_a_sign_helps(seed):
    model = sign_synchronisation(measured(80, 8.0, 0.35, seed)[0])
    found = model.round(condal.solve(model, tol=1e-2), trials=5)
    assert np.min(found.signs * (model.C @ found.signs)) >= 0.0
    assert "positive=" in repr(found)


def test_agreement_is_up_to_one_sign():
    signs = Signs(1.0, 2.0, np.array([1.0, 1.0, -1.0, -1.0]))
    assert signs.agreement([-1, -1, 1, 1]) == 1.0
    assert signs.agreement([1, 1, 1, -1]) == 0.75
    for wrong in ([1, 1, 1], ["a"] * 4, [[1], [1, 1]]):
        with pytest.raises(condal.ProblemError, match="signs must be 4 numbers, each"):
            signs.agreement(wrong)


def test_tables_and_graphs_are_taken():
    C, _ = measured(12, 6.0, 0.1)
    graph = nx.from_scipy_sparse_array(C)
    for given in (pd.DataFrame(C.toarray()), graph):
        assert (sign_synchronisation(given).C != C).nnz == 0


def test_the_diagonal_says_nothing():
    C, _ = measured(12, 6.0, 0.1)
    a, b = (condal.solve(sign_synchronisation(M)) for M in (C, C + 3 * sp.eye(12)))
    assert a.bound == b.bound


def test_a_diagonal_is_no_measurement():
    with pytest.raises(condal.ProblemError, match="C has no measurements"):
        sign_synchronisation(np.eye(3))


@pytest.mark.parametrize("signs", [np.zeros(5), np.ones(4), np.full(5, 0.5), ["a"] * 5])
def test_only_signs_have_a_value(signs):
    model = sign_synchronisation(np.ones((5, 5)))
    for ask in (model.value, model.dual, model.certificate):
        with pytest.raises(condal.ProblemError, match="signs must be 5 numbers, each"):
            ask(signs)
