"""Several eigenpairs at once: filtered subspaces, and Krylov spaces from a guess."""

import numpy as np
import pytest

from condal.domains.spectral import MIN_KRYLOV_SIDE, Spectrahedron
from condal.linalg.points import LowRank, dense
from condal.linalg.subspaces import leading_eigenpairs, lowest_subspace
from condal.operators import Symmetric

N = MIN_KRYLOV_SIDE + 20
ABOVE = np.array([2.0, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0, 0.9, 0.5, 0.3])


def operator(values, seed=0):
    """A dense operator with the given eigenvalues, and its eigenvectors."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    full = (Q * values) @ Q.T
    return Symmetric(len(values), dense=0.5 * (full + full.T)), Q


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("shift", [0.0, -1e6, 1e6])
def test_a_multiple_eigenvalue_keeps_all_its_eigenvectors(n, shift):
    values = shift + np.concatenate([np.zeros(9), np.linspace(0.5, 3.0, n - 9)])
    V, Q = operator(values)
    smallest, vectors = lowest_subspace(V, 12)
    rounding = 1e-9 * max(1.0, abs(shift))
    np.testing.assert_allclose(smallest, values[:12], atol=rounding)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-12)
    lost = Q[:, :9] - vectors @ (vectors.T @ Q[:, :9])
    assert np.linalg.norm(lost) <= rounding


def test_a_far_eigenvalue_does_not_overflow():
    V, Q = operator(np.concatenate([[-1e14], np.linspace(0.0, 1.0, 249)]))
    values, vectors = lowest_subspace(V, 1)
    assert values[0] == pytest.approx(-1e14)
    assert abs(vectors[:, 0] @ Q[:, 0]) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [5, 200])
def test_a_multiple_of_the_identity_has_any_eigenvectors(n):
    values, vectors = lowest_subspace(Symmetric(n, diagonal=np.full(n, 2.0)), 3)
    np.testing.assert_allclose(values, 2.0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)


def test_the_answer_is_the_same_each_time():
    V, _ = operator(np.linspace(0.0, 1.0, 200))
    np.testing.assert_array_equal(lowest_subspace(V, 4)[1], lowest_subspace(V, 4)[1])


def matrix(seed, *, above=ABOVE):
    """A symmetric matrix with these eigenvalues and negative ones, and its eigenvectors."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((N, N)))[0]
    values = np.append(above, -5.0 * rng.random(N - above.size))
    return (vectors * values) @ vectors.T, vectors


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("at_most", [False, True])
def test_the_projection_from_a_guess_is_the_dense_one_within_tol(tol, at_most):
    X = Spectrahedron(N, trace=6.0, at_most=at_most)
    v, vectors = matrix(1)
    rng = np.random.default_rng(2)
    near = np.linalg.qr(vectors[:, :8] + 0.01 * rng.standard_normal((N, 8)))[0]
    x = X.project(v, LowRank(near, np.ones(8)), tol=tol)
    assert np.linalg.norm(dense(x) - dense(X.project(v))) <= tol
    assert X.distance(x) <= 1e-9


@pytest.mark.parametrize("missed", [0, 3, 8])
def test_an_eigenvalue_that_the_guess_misses_is_found(missed):
    X = Spectrahedron(N, trace=6.0)
    v, vectors = matrix(3)
    held = [i for i in range(9) if i != missed]
    guess = LowRank(vectors[:, held], np.ones(8))  # exact eigenvectors: their residuals are 0
    assert np.linalg.norm(dense(X.project(v, guess, tol=1e-3)) - dense(X.project(v))) <= 1e-3


def test_a_projection_keeps_spare_vectors_of_weight_0_for_the_next_one():
    X = Spectrahedron(N, trace=6.0)
    v, vectors = matrix(4)
    x = X.project(v, LowRank(vectors[:, :8], np.ones(8)), tol=1e-7)
    assert np.count_nonzero(x.weights) < x.rank
    assert np.allclose(x.U.T @ x.U, np.eye(x.rank), atol=1e-6)


def test_without_a_guess_a_few_large_eigenvalues_are_found():
    v, _ = matrix(5, above=np.array([30.0, 20.0, 10.0]))

    def cut(values):
        return int((values > 5.0).sum()), 5.0

    values, vectors = leading_eigenpairs(v, np.zeros((N, 0)), cut, 4, 1e-6)
    assert values[:3] == pytest.approx([30.0, 20.0, 10.0])
    assert np.linalg.norm(v @ vectors[:, :3] - vectors[:, :3] * values[:3]) <= 1e-5


def test_many_wanted_eigenvalues_are_left_to_a_dense_solver():
    rng = np.random.default_rng(6)
    v = rng.standard_normal((N, N))
    assert leading_eigenpairs(v + v.T, np.eye(N, 200), lambda e: (200, 0.0), 4, 1e-3) is None
