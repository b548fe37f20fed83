"""Generalised eigenvectors: the model, its vector, its bound, its infeasibility."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.problems import generalised_eigenvector


def pair(n, seed=0):
    a, b = np.random.default_rng(seed).standard_normal((2, n, n))
    return a + a.T, b + b.T


def scaled_model(n, room, seed=0):
    """alpha lambda_max(Psi) = room."""
    Phi, Psi = pair(n, seed)
    return generalised_eigenvector(Phi, Psi, room / np.linalg.eigvalsh(Psi)[-1])


def optimum(model):
    """The least of the scalar convex bound, which is the optimum."""
    Phi, Psi = model.Phi.to_dense(), model.Psi.to_dense()

    def bound(y):
        return y + model.alpha * max(0.0, np.linalg.eigvalsh(Phi - y * Psi)[-1])

    return minimize_scalar(bound, bracket=(-1.0, 1.0)).fun


@pytest.mark.parametrize("room", [1.05, 2.0, 10.0])
@pytest.mark.parametrize("n", [5, 30, 60])
def test_the_bound_and_the_vector_enclose_the_optimum(n, room):
    model = scaled_model(n, room, seed=n)
    result = condal.solve(model, tol=1e-3, max_iters=5000)
    best = optimum(model)
    assert result.status is condal.Status.SOLVED
    assert best <= result.bound + 1e-9
    assert result.bound == pytest.approx(best, rel=3e-3, abs=3e-3)
    found = model.vector(result)
    u = found.vector
    assert u @ (model.Psi @ u) == pytest.approx(1.0)
    assert u @ u <= model.alpha * (1 + 1e-12)
    assert found.objective == pytest.approx(u @ (model.Phi @ u))
    assert found.objective <= best + 1e-9
    assert found.objective == pytest.approx(best, rel=3e-2, abs=3e-2)
    assert "squared_norm=" in repr(found)


def test_the_certificate_is_the_scalar_bound():
    model = scaled_model(8, 2.0)
    x = np.zeros((8, 8))
    for y in (-2.0, 0.0, 0.7, 30.0):
        assert condal.certify(model, x, np.array([y])).bound == pytest.approx(model.bound(y))


def test_the_bound_needs_no_positive_eigenvalue():
    model = generalised_eigenvector(-np.eye(3), np.eye(3), 2.0)
    assert model.bound(-1.0) == pytest.approx(-1.0)
    result = condal.solve(model, tol=1e-3, max_iters=5000)
    assert result.objective == pytest.approx(-1.0, abs=2e-3)


def result_at(model, x):
    """A Result that holds x."""
    result = condal.solve(model, max_iters=1)
    return type(result)(**{**vars(result), "x": x})


@pytest.mark.parametrize("seed", range(5))
def test_a_point_of_any_rank_has_a_vector_as_good(seed):
    rng = np.random.default_rng(seed)
    model = scaled_model(7, 3.0, seed)
    Psi = model.Psi.to_dense()
    top = np.linalg.eigh(Psi)[1][:, -1:]
    R = 3 * top + 0.5 * rng.standard_normal((7, 4))
    x = R @ R.T / np.sum(Psi * (R @ R.T))
    assert 0 < np.trace(x) <= model.alpha
    found = model.vector(result_at(model, x))
    u = found.vector
    assert found.objective >= np.sum(model.Phi.to_dense() * x) - 1e-9
    assert u @ (Psi @ u) == pytest.approx(1.0)
    assert u @ u <= model.alpha * (1 + 1e-12)


def test_a_factor_and_its_product_give_vectors_as_good():
    rng = np.random.default_rng(6)
    model = scaled_model(7, 3.0, 6)
    Psi = model.Psi.to_dense()
    R = 3 * np.linalg.eigh(Psi)[1][:, -1:] + 0.5 * rng.standard_normal((7, 4))
    R /= np.sqrt(np.sum(Psi * (R @ R.T)))
    point = condal.LowRank(np.column_stack([R, R]), np.full(8, 0.5))  # columns that depend
    objectives = [model.vector(result_at(model, x)).objective for x in (point, R @ R.T)]
    least = np.sum(model.Phi.to_dense() * (R @ R.T))
    assert min(objectives) >= least - 1e-9
    empty = condal.LowRank(np.zeros((7, 0)), np.zeros(0))
    assert model.vector(result_at(model, empty)).vector.shape == (7,)


def test_no_matrix_of_n_x_n_is_made_of_a_factor():
    n = 50_000  # of which one would take 20 GB
    diagonal = np.linspace(-1.0, 1.0, n)
    Phi, Psi = sp.dia_array((diagonal[None], [0]), (n, n)), sp.csr_array(sp.eye(n))
    model = generalised_eigenvector(Phi.tocsr(), Psi, 2.0)
    U = np.zeros((n, 2))
    U[-1, 0], U[-2, 1] = 1.0, 1.0
    small = generalised_eigenvector(np.eye(2), np.eye(2), 2.0)
    result = result_at(small, condal.LowRank(U, np.array([0.5, 0.5])))
    found = model.vector(result)
    assert found.objective == pytest.approx(1.0, abs=1e-4)
    assert found.vector @ found.vector == pytest.approx(1.0)


def test_the_bound_holds_for_every_y_and_is_tight_for_one():
    model = scaled_model(8, 2.0, 3)
    best = optimum(model)
    bounds = [model.bound(y) for y in np.linspace(-20.0, 20.0, 81)]
    assert min(bounds) >= best - 1e-9
    assert min(bounds) <= best + 1.0
    with pytest.raises(condal.ProblemError, match="y must be an array of real numbers"):
        model.bound("a")


@pytest.mark.parametrize("x", [np.zeros((6, 6)), np.eye(6), np.diag([1.0, 0, 0, 0, 0, 0])])
def test_a_point_that_is_not_feasible_still_has_a_feasible_vector(x):
    model = scaled_model(6, 1.1, seed=3)
    u = model.vector(result_at(model, x)).vector
    assert u @ (model.Psi @ u) == pytest.approx(1.0)
    assert u @ u <= model.alpha * (1 + 1e-12)


@pytest.mark.parametrize("room", [0.99, 0.9, 0.5, 0.01])
@pytest.mark.parametrize("n", [5, 30])
def test_too_small_an_alpha_is_proved_infeasible(n, room):
    model = scaled_model(n, room, seed=n)
    result = condal.solve(model, max_iters=5000)
    assert result.status is condal.Status.INFEASIBLE
    assert result.infeasible.value <= 1 - room + 1e-9
    with pytest.raises(condal.ProblemError, match=r"no vector has .* must be at least 1; raise"):
        model.vector(result)


def test_no_positive_eigenvalue_is_infeasible_for_every_alpha():
    model = generalised_eigenvector(np.eye(3), -np.eye(3), 100.0)
    result = condal.solve(model, max_iters=5000)
    assert result.status is condal.Status.INFEASIBLE
    with pytest.raises(condal.ProblemError, match="Psi has no positive eigenvalue"):
        model.vector(result)


def test_all_kinds_of_matrix_are_taken():
    Phi, Psi = pair(6)
    dense = generalised_eigenvector(Phi, Psi, 2.0)
    for kind in (sp.csr_array, sp.coo_matrix, aslinearoperator, np.ndarray.tolist):
        other = generalised_eigenvector(kind(Phi), kind(Psi), 2.0)
        assert np.allclose(dense.Phi.to_dense(), other.Phi.to_dense())
        assert other.bound(0.3) == pytest.approx(dense.bound(0.3))


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("Phi", "Psi", "alpha", "text"),
    [
        (EYE, np.eye(4), 1.0, "Phi and Psi must have the same size; got 3 x 3 and 4 x 4"),
        ([[1.0], [1.0, 2.0]], EYE, 1.0, "Phi must be an array of real numbers; got a list of 2"),
        ([1.0, 2.0], EYE, 1.0, r"Phi must have 2 dimensions; got shape \(2,\)"),
    ],
)
def test_bad_input_is_refused(Phi, Psi, alpha, text):
    with pytest.raises(condal.ProblemError, match=text):
        generalised_eigenvector(Phi, Psi, alpha)
