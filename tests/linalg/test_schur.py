"""Schur complements of sparse matrices: products, estimates and proved bounds."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from condal.linalg.eigen import lowest
from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.schur import Augmented, Eliminated, SchurTerm
from condal.linalg.sparse import diagonal_matrix
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import SparseTerm
from sparse_matrices import identity, random_sparse


def laplacian(n, rng, extra):
    """The Laplacian of a path with some more edges."""
    i = np.concatenate([np.arange(n - 1), rng.integers(0, n, extra)])
    j = np.concatenate([np.arange(1, n), rng.integers(0, n, extra)])
    i, j = i[i != j], j[i != j]
    weights = rng.uniform(0.5, 2.0, i.size)
    edges = sp.csr_array(
        (np.tile([1.0, -1.0], i.size), (np.repeat(np.arange(i.size), 2), np.c_[i, j].ravel())),
        shape=(i.size, n),
    )
    return sp.csc_array(edges.T @ diagonal_matrix(weights) @ edges)


def example(k=12, n=20, *, seed=0, shift=0.0):
    """P - B'D^-1 B with a null space of dimension 3 below `shift`, and the same as an array."""
    rng = np.random.default_rng(seed)
    D = sp.csc_array(laplacian(k + 1, rng, 5)[1:, 1:])
    B = sp.csc_array(random_sparse(rng, (k, n), 0.2))
    basis = np.linalg.qr(rng.standard_normal((n, 3)))[0]
    beside = np.eye(n) - basis @ basis.T
    schur = B.T @ np.linalg.solve(D.toarray(), B.toarray()) if k else np.zeros((n, n))
    P = beside @ (2 * np.eye(n) + np.diag(rng.uniform(0, 1, n))) @ beside + schur
    P = 0.5 * (P + P.T) + shift * np.eye(n)
    V = Symmetric(n, [SparseTerm(sp.csr_array(P)), SchurTerm(Eliminated(D, B))])
    return V, P - schur


@pytest.mark.parametrize("k", [0, 1, 12])
def test_products_are_those_of_the_schur_complement(k):
    V, dense = example(k)
    block = np.random.default_rng(1).standard_normal((20, 3))
    np.testing.assert_allclose(V @ block, dense @ block, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(V @ block[:, 0], dense @ block[:, 0], rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(V.scaled(-2.0) @ block, -2.0 * dense @ block, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(V.to_dense(), dense, rtol=1e-11, atol=1e-10)
    assert V.matrix_free
    assert V.absolute_row_sums() is None


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_the_factors_of_the_augmented_matrix_invert_the_schur_complement(weight):
    V, dense = example(shift=0.5)
    form = Augmented.of(V.scaled(weight))
    block = np.random.default_rng(1).standard_normal((20, 3))
    inverse = form.inverse(form.positive_factors(1e-3, 1.0))
    np.testing.assert_allclose(
        inverse(block), np.linalg.solve(weight * dense + 1e-3 * np.eye(20), block), rtol=1e-8
    )


def test_only_one_schur_complement_of_a_sparse_matrix_has_an_augmented_matrix():
    V, _ = example()
    assert Augmented.of(V.scaled(-1.0)) is None
    assert Augmented.of(V + V) is None
    assert Augmented.of(V + Symmetric(20, dense=np.eye(20))) is None


@pytest.mark.parametrize("k", [0, 12])
def test_the_lowest_eigenvalues_are_those_of_lapack(k):
    V, dense = example(k, n=200, shift=-0.1)
    values, vectors = lowest(V, 5, 1e-9)
    np.testing.assert_allclose(values[:3], np.linalg.eigvalsh(dense)[:3], rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(values.size), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 12])
@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("shift", [0.0, -0.3, 0.7])
def test_a_bound_is_proved_to_rounding(k, weight, shift):
    V, dense = example(k, shift=shift)
    true = weight * float(np.linalg.eigvalsh(dense)[0])
    proof = smallest_eigenvalue_bound(V.scaled(weight), slack=1e-9, failure=1e-6, seed=0)
    assert proof.failure == 0.0
    assert "inertia" in proof.how
    assert true - 1e-9 <= proof.value <= true + 1e-12


def test_a_bound_below_the_eigenvalue_of_exact_data():
    """K = [[1, 1], [1, p]] has the Schur complement p - 1, exactly."""
    for exponent in (0, 20, 45):
        p = 1.0 + 2.0**-exponent
        pieces = Eliminated(sp.csc_array([[1.0]]), sp.csc_array([[1.0]]))
        V = Symmetric(1, [SparseTerm(sp.csr_array([[p]])), SchurTerm(pieces)])
        proof = smallest_eigenvalue_bound(V, slack=1e-12, failure=1e-6, seed=0)
        assert Fraction(proof.value) <= Fraction(p) - 1
        assert proof.value >= p - 1 - 1e-13


def test_eliminated_variables_of_a_long_path_do_not_spoil_the_proof():
    """The smallest eigenvalue of D is 1e-6, and V has the null space (1, ..., 1) for B = D."""
    n = 1500
    L = laplacian(n, np.random.default_rng(0), 0)
    D, B = sp.csc_array(L[1:, 1:]), sp.csc_array(L[1:])
    P = sp.csr_array(L + laplacian(n, np.random.default_rng(1), n))
    V = Symmetric(n, [SparseTerm(P), SchurTerm(Eliminated(D, B))])
    proof = smallest_eigenvalue_bound(V, slack=1e-10, failure=1e-6, seed=0)
    assert -1e-9 <= proof.value <= 1e-12


def test_eliminated_variables_that_are_not_proved_definite_prove_nothing():
    near = 1.0 - 2.0**-53
    D, B = sp.csc_array([[1.0, near], [near, 1.0]]), sp.csc_array(np.array([[1.0], [1.0]]))
    V = Symmetric(1, [SparseTerm(sp.csr_array([[2.0]])), SchurTerm(Eliminated(D, B))])
    P = Symmetric(2, [SparseTerm(sp.csr_array(2.0 * np.eye(2)))])
    wide = Symmetric(2, [*P.terms, SchurTerm(Eliminated(D, sp.csc_array(np.eye(2))))])
    for v in (V, wide):
        proof = smallest_eigenvalue_bound(v, slack=1e-9, failure=1e-6, seed=0)
        assert proof.value == -np.inf
        assert proof.how == "no proof"


def test_a_bound_that_does_not_hold_is_refuted_by_vectors():
    V, dense = example(shift=-0.2)
    proof = smallest_eigenvalue_bound(V, slack=1e-9, failure=1e-6, seed=0, enough=-0.1)
    assert proof.value < -0.1
    u = proof.refuting
    assert u.shape == (20, 3)
    np.testing.assert_allclose(np.diag(u.T @ dense @ u), -0.2, rtol=1e-11, atol=1e-9)


def test_a_null_space_of_many_dimensions_is_separated():
    n, rng = 120, np.random.default_rng(0)
    values = np.concatenate([np.zeros(25), rng.uniform(1.0, 2.0, n - 25)])
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    P = (basis * values) @ basis.T
    empty = Eliminated(sp.csc_array((0, 0)), sp.csc_array((0, n)))
    V = Symmetric(n, [SparseTerm(sp.csr_array(0.5 * (P + P.T))), SchurTerm(empty)])
    proof = smallest_eigenvalue_bound(V, slack=1e-9, failure=1e-6, seed=0)
    assert -1e-9 <= proof.value <= 1e-12


@pytest.mark.parametrize("k", [0, 12])
def test_a_spectrum_without_a_gap_is_bounded_by_positive_pivots(k):
    n, rng = 400, np.random.default_rng(0)
    D = sp.csc_array(laplacian(k + 1, rng, 5)[1:, 1:])
    B = sp.csc_array(1e-3 * random_sparse(rng, (k, n), 0.02))
    P = diagonal_matrix(np.linspace(1.0, 2.0, n))
    V = Symmetric(n, [SparseTerm(P), SchurTerm(Eliminated(D, B))])
    true = float(np.linalg.eigvalsh(V.to_dense())[0])
    proof = smallest_eigenvalue_bound(V, slack=1e-6, failure=1e-6, seed=0)
    assert true - 0.05 <= proof.value <= true + 1e-12
    assert "LDL'" in proof.how


def test_a_singular_matrix_of_eliminated_variables_is_refused():
    D = sp.csc_array(laplacian(5, np.random.default_rng(0), 0))
    term = SchurTerm(Eliminated(sp.csc_array(-D), sp.csc_array(np.ones((5, 2)))))
    V = Symmetric(2, [SparseTerm(identity(2)), term])
    with pytest.raises(FloatingPointError, match="not positive definite"):
        V @ np.ones(2)
