"""Sparse PCA: an independent solver, the component, the dual."""

import numpy as np
import pytest

import condal
from condal.problems import sparse_pca


def spiked(n, supports, seed=0, noise=0.3):
    """A sample covariance with a direction of equal entries on each support, of falling size."""
    rng = np.random.default_rng(seed)
    S = noise * np.eye(n)
    for size, support in zip((4.0, 2.0, 1.0), supports, strict=False):
        u = np.zeros(n)
        u[list(support)] = len(support) ** -0.5
        S += size * np.outer(u, u)
    rows = rng.multivariate_normal(np.zeros(n), S, size=40 * n)
    return np.cov(rows.T)


def test_the_planted_components_are_found_in_turn():
    supports = ([1, 4, 7], [2, 3, 8, 9], [5, 6])
    model = sparse_pca(spiked(14, supports), 0.35)
    total = np.trace(model.S)
    for support in supports[:2]:
        result = condal.solve(model)
        found = model.component(result)
        assert found.support.tolist() == support
        assert found.objective <= result.bound
        assert np.linalg.norm(found.vector) == pytest.approx(1.0)
        assert found.variance == pytest.approx(found.vector @ model.S @ found.vector)
        assert found.explained == pytest.approx(found.variance / total)
        model = model.deflated(found)
        assert model.S @ found.vector == pytest.approx(np.zeros(14), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_no_direction_is_above_the_bound(seed):
    rng = np.random.default_rng(seed)
    model = sparse_pca(spiked(10, ([0, 1, 2],), seed), 0.2)
    result = condal.solve(model)
    found = model.component(result)
    tried = [model.value(v) for v in rng.standard_normal((200, 10))]
    assert max(*tried, found.objective) <= result.bound
    assert found.objective == pytest.approx(model.value(found.vector))
    assert found.objective >= 0.9 * result.objective


def test_the_bound_is_an_eigenvalue_of_a_covariance_within_rho():
    model = sparse_pca(spiked(9, ([0, 1, 2], [4, 5])), 0.15)
    result = condal.solve(model, tol=1e-5)
    U = model.problem.A.adjoint(result.y).to_dense()
    assert np.abs(U).max() <= 0.15 * (1 + 1e-9)
    largest = np.linalg.eigvalsh(model.S - U)[-1]
    assert largest <= result.bound <= largest * (1 + 2e-5)


def test_a_high_price_leaves_one_variable():
    S = spiked(8, ([0, 1, 2],))
    rho = np.abs(S - np.diag(np.diagonal(S))).max()
    model = sparse_pca(S, rho * 1.01)
    found = model.component(condal.solve(model, tol=1e-5))
    assert found.support.tolist() == [int(np.argmax(np.diagonal(S)))]
    assert found.variance == pytest.approx(np.diagonal(S).max())
    assert found.explained == pytest.approx(np.diagonal(S).max() / np.trace(S))
    assert "Component(1 of 8 entries" in repr(found)


def test_a_cardinality_can_be_asked_for():
    model = sparse_pca(spiked(10, ([0, 1, 2, 3],)), 0.1)
    result = condal.solve(model)
    found = [model.component(result, cardinality=c) for c in (1, 3, 10)]
    assert [one.support.size for one in found] == [1, 3, 10]
    assert found[0].variance <= found[1].variance <= found[2].variance
    assert found[2].variance == pytest.approx(np.linalg.eigvalsh(model.S)[-1])


def test_data_and_their_covariance_are_one_model():
    rows = np.random.default_rng(0).standard_normal((50, 6)) + 5.0
    a, b = sparse_pca(data=rows, rho=0.1), sparse_pca(np.cov(rows.T), 0.1)
    assert pytest.approx(b.S) == a.S


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"covariance": np.eye(3)}, "rho must be a positive number; got None"),
        ({"rho": 1.0}, "sparse_pca takes either a covariance or data; got neither"),
        ({"covariance": np.eye(3), "data": np.eye(3), "rho": 1.0}, "got both"),
        ({"data": np.ones((1, 3)), "rho": 1.0}, r"at least two observations.*got shape \(1, 3\)"),
    ],
)
def test_bad_models_are_refused(given, text):
    with pytest.raises(condal.ProblemError, match=text):
        sparse_pca(**given)


def test_bad_questions_are_refused():
    model = sparse_pca(np.diag([1.0, 2.0, 3.0]), 0.1)
    result = condal.solve(model)
    with pytest.raises(condal.ProblemError, match="cardinality is 4, of only 3 variables"):
        model.component(result, cardinality=4)
    with pytest.raises(condal.ProblemError, match="v must have 3 entries, not all of them 0"):
        model.value(np.zeros(3))
    with pytest.raises(condal.ProblemError, match="wanted a component, as"):
        model.deflated(np.ones(3))
    other = sparse_pca(np.eye(2), 0.1)
    component = other.component(condal.solve(other))
    with pytest.raises(condal.ProblemError, match="the component has 2 entries, and this model 3"):
        model.deflated(component)
