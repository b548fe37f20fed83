"""Hermitian and rectangular matrices as symmetric ones: nothing is lost, and nothing is added."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.domains import Hermitian, NuclearBall, Product, Simplex
from condal.errors import ProblemError
from condal.linalg.lifting import (
    complex_vectors,
    hermitian_point,
    lifted,
    real_matrix,
    real_point,
    real_vectors,
    rectangle,
    square_point,
    symmetric,
)
from condal.linalg.points import LowRank, Outer, dense
from condal.types import from_user, to_user
from spaces import random_hermitian

rng = np.random.default_rng(5)


def complex_block(*shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


FORMS = {
    "dense": lambda H: H,
    "sparse": sp.csr_array,
    "coo": sp.coo_array,
    "matrix-free": aslinearoperator,
    "list": lambda H: H.tolist(),
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


# Hermitian matrices.


@forms
@pytest.mark.parametrize("n", [1, 2, 5])
def test_quadratic_forms_are_the_same(form, n):
    """u* H u = u' H' u."""
    H, u = random_hermitian(n, rng), complex_block(n)
    real = symmetric(form(H))
    assert real.n == 2 * n
    v = real_vectors(u)
    np.testing.assert_allclose(v @ (real @ v), (u.conj() @ H @ u).real, rtol=1e-12)
    np.testing.assert_allclose(complex_vectors(real @ v), H @ u, rtol=1e-12)


def test_products_of_complex_matrices_are_those_of_their_real_forms():
    a, b = complex_block(3, 4), complex_block(4, 2)
    np.testing.assert_allclose(real_matrix(a) @ real_matrix(b), real_matrix(a @ b), atol=1e-13)
    np.testing.assert_allclose(real_matrix(a.conj().T), real_matrix(a).T)
    np.testing.assert_allclose(real_matrix(sp.csr_array(a)).toarray(), real_matrix(a))
    hidden = real_matrix(aslinearoperator(a))
    v, w, V, W = (rng.standard_normal(s) for s in (8, 6, (8, 2), (6, 2)))
    np.testing.assert_allclose(hidden.matvec(v), real_matrix(a) @ v)
    np.testing.assert_allclose(hidden.rmatvec(w), real_matrix(a).T @ w)
    np.testing.assert_allclose(hidden.matmat(V), real_matrix(a) @ V)
    np.testing.assert_allclose(hidden.rmatmat(W), real_matrix(a).T @ W)


def test_a_sparse_real_form_stores_no_more_than_it_must():
    a = sp.csr_array(np.diag([1.0, 2.0, 1j]))
    assert real_matrix(a).nnz == 6


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_hermitian_point_there_and_back(rank):
    x = LowRank(complex_block(3, rank), rng.random(rank))
    real = real_point(x, 3)
    assert real.trace == pytest.approx(x.trace)
    np.testing.assert_allclose(np.asarray(hermitian_point(real)), np.asarray(x), atol=1e-14)
    np.testing.assert_allclose(hermitian_point(dense(real)), np.asarray(x), atol=1e-14)
    again = real_point(np.asarray(x), 3)
    assert np.trace(again) == pytest.approx(x.trace)
    assert np.linalg.eigvalsh(again)[0] >= -1e-14
    np.testing.assert_allclose(hermitian_point(again), np.asarray(x), atol=1e-14)


def test_inner_products_with_a_point_are_those_with_its_matrix():
    H, x = random_hermitian(3, rng), LowRank(complex_block(3, 2), np.array([1.0, 0.5]))
    wanted = np.trace(H @ np.asarray(x)).real
    for point in (real_point(x, 3), real_point(np.asarray(x), 3), dense(real_point(x, 3))):
        assert symmetric(H).quadratic(point) == pytest.approx(wanted)


def test_any_real_point_means_the_hermitian_matrix_with_its_inner_products():
    full = rng.standard_normal((6, 6))
    full = full @ full.T  # psd, and the real form of no matrix
    H = random_hermitian(3, rng)
    x = hermitian_point(full)
    assert np.trace(H @ x).real == pytest.approx(symmetric(H).quadratic(full))
    np.testing.assert_allclose(x, x.conj().T)
    assert np.linalg.eigvalsh(x)[0] >= -1e-12
    assert np.trace(x).real == pytest.approx(np.trace(full))


def test_points_of_either_form_are_taken():
    X, x = Hermitian(3, 2.0), LowRank(np.eye(3)[:, :1] + 0j, np.array([2.0]))
    for given in (
        x,
        np.asarray(x),
        LowRank(np.eye(3)[:, :1], np.array([2.0])),
        2 * np.eye(3)[:1].T * np.eye(3)[:1],
    ):
        assert X.distance(from_user(X, given)) <= 1e-14
        np.testing.assert_allclose(np.asarray(to_user(X, from_user(X, given))), np.asarray(x))
    inside = X.lmo(symmetric(random_hermitian(3, rng)))
    assert from_user(X, inside) is inside
    assert to_user(X, inside).shape == (3, 3)
    assert to_user(X, inside).U.dtype == complex


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.eye(4), r"x must be 3 x 3, as the domain is; got shape \(4, 4\)"),
        (np.eye(6) + 0j, r"x must be 3 x 3, as the domain is; got shape \(6, 6\)"),
        (LowRank(np.ones((4, 1)), np.ones(1)), r"x must be 3 x 3, .* got shape \(4, 4\)"),
        (np.ones(3), r"x must be 3 x 3, as the domain is; got shape \(3,\)"),
        (1j * np.ones((3, 3)), r"x must be Hermitian; the largest \|x - x\*\| is 2"),
        (np.full((6, 6), np.nan), "x has the value nan"),
    ],
)
def test_a_hermitian_point_of_another_shape_is_refused(x, text):
    with pytest.raises(ProblemError, match=text):
        Hermitian(3).from_user(x)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: lifted(np.ones(3)), r"C must be a matrix, at least 1 x 1; got shape \(3,\)"),
        (lambda: lifted(np.ones((0, 3))), r"C must be a matrix, .* got shape \(0, 3\)"),
        (lambda: lifted(aslinearoperator(1j * np.ones((2, 3)))), "C is complex"),
    ],
)
def test_wrong_sizes_and_data_are_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


def test_domains_say_what_they_are():
    assert repr(Hermitian(3, 2.0)) == "Hermitian(n=3, trace=2)"
    assert repr(Hermitian(3, 2.0, at_most=True)) == "Hermitian(n=3, trace=2, at_most=True)"
    assert repr(NuclearBall(2, 3, 0.5)) == "NuclearBall(2, 3, radius=0.5)"


# Rectangular matrices.


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (5, 2), (3, 3)])
def test_a_rectangle_there_and_back(shape):
    x = rng.standard_normal(shape)
    values = np.linalg.svd(x, compute_uv=False)
    point = square_point(x, *shape)
    assert point.trace == pytest.approx(2 * values.sum())  # the least that a psd corner has
    assert np.linalg.eigvalsh(dense(point))[0] >= -1e-13
    np.testing.assert_allclose(np.asarray(rectangle(point, shape[0])), x, atol=1e-13)
    np.testing.assert_allclose(np.asarray(rectangle(dense(point), shape[0])), x, atol=1e-13)
    outer = rectangle(point, shape[0])
    assert isinstance(outer, Outer)
    np.testing.assert_allclose(outer.singular_values()[: values.size], values, atol=1e-13)
    np.testing.assert_allclose(dense(square_point(outer, *shape)), dense(point), atol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 2, 7])
def test_an_outer_of_any_rank_is_taken_at_its_least_trace(rank):
    x = Outer(
        rng.standard_normal((3, rank)), rng.standard_normal(rank), rng.standard_normal((4, rank))
    )
    point = square_point(x, 3, 4)
    np.testing.assert_allclose(np.asarray(rectangle(point, 3)), np.asarray(x), atol=1e-12)
    assert point.trace == pytest.approx(2 * x.singular_values().sum())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array, aslinearoperator])
def test_lifted_matrices_have_the_inner_products_of_the_rectangles(form):
    C, x = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))
    V = lifted(form(C))
    assert V.quadratic(square_point(x, 3, 4)) == pytest.approx(float(np.sum(C * x)))
    half = np.zeros((3, 3)), np.zeros((4, 4))
    np.testing.assert_allclose(V.to_dense(), np.block([[half[0], C / 2], [C.T / 2, half[1]]]))
    np.testing.assert_allclose(V @ np.eye(7), V.to_dense())


@pytest.mark.parametrize("shape", [(4, 6), (40, 30)])
def test_the_oracle_finds_the_leading_singular_vectors(shape):
    C = rng.standard_normal(shape)
    U, _, Vt = np.linalg.svd(C)
    X = NuclearBall(*shape, radius=1.5)
    s = to_user(X, X.lmo(lifted(C)))
    np.testing.assert_allclose(np.asarray(s), -1.5 * np.outer(U[:, 0], Vt[0]), atol=1e-7)
    assert X.distance(X.lmo(lifted(C))) <= 1e-13
    assert np.all(np.asarray(to_user(X, X.lmo(lifted(0 * C)))).__abs__() <= 1.5)


@pytest.mark.parametrize(
    "x",
    [
        np.ones((3, 2)),
        np.ones(6),
        np.ones((2, 2)),
        Outer(np.ones((3, 1)), np.ones(1), np.ones((2, 1))),
        LowRank(np.ones((2, 1)), np.ones(1)),
    ],
)
def test_a_rectangle_of_another_shape_is_refused(x):
    with pytest.raises(ProblemError, match=r"x must be 2 x 3, as the domain is; got shape"):
        NuclearBall(2, 3).from_user(x)


def test_what_does_not_act_on_rectangles_is_refused():
    with pytest.raises(
        ProblemError, match=r"2 x 3 matrices, lifted .*condal.lifted\); got one of side 2"
    ):
        condal.Problem.of(f=condal.Linear(np.eye(2)), X=NuclearBall(2, 3))
    with pytest.raises(ProblemError, match=r"2 x 3 matrices, .* got a map of vectors"):
        condal.Problem.of(f=condal.Linear(np.ones(5)), X=NuclearBall(2, 3))


def test_blocks_are_shown_and_taken_one_by_one():
    X = Product(Hermitian(2), NuclearBall(2, 3), Simplex(2))
    H, R, v = np.eye(2) / 2 + 0j, np.ones((2, 3)) / 9, np.array([0.5, 0.5])
    point = from_user(X, (H, R, v))
    assert X.distance(point) <= 1e-14
    back = to_user(X, point)
    for got, wanted in zip(back, (H, R, v), strict=True):
        np.testing.assert_allclose(np.asarray(got), wanted, atol=1e-14)


# Outer.


def test_an_outer_knows_its_entries_its_values_and_its_shape(monkeypatch):
    monkeypatch.setattr("condal.linalg.points.ENTRIES_PER_BLOCK", 3)
    x = Outer(rng.standard_normal((4, 2)), np.array([2.0, -1.0]), rng.standard_normal((5, 2)))
    full = np.asarray(x)
    np.testing.assert_allclose(full, (x.U * x.weights) @ x.V.T)
    rows, cols = rng.integers(0, 4, 11), rng.integers(0, 5, 11)
    np.testing.assert_allclose(x.entries(rows, cols), full[rows, cols])
    square = rng.integers(0, 4, (3, 2)), rng.integers(0, 5, (3, 2))
    np.testing.assert_allclose(x.entries(*square), full[square])
    assert x.entries(1, 2) == pytest.approx(full[1, 2])
    assert x.entries([], []).shape == (0,)
    np.testing.assert_allclose(
        x.singular_values(), np.linalg.svd(full, compute_uv=False)[:2], atol=1e-13
    )
    assert x.shape == (4, 5)
    assert x.rank == 2
    assert repr(x) == "Outer(4 x 5, rank<=2)"


def test_a_complex_factor_has_a_trace_and_a_matrix():
    x = LowRank(complex_block(3, 2), np.array([2.0, 0.5]))
    full = np.asarray(x)
    np.testing.assert_allclose(full, full.conj().T)
    assert x.trace == pytest.approx(np.trace(full).real)
    R = x.factor()
    np.testing.assert_allclose(R @ R.conj().T, full)
    assert repr(x).startswith("LowRank(n=3, rank<=2, trace=")
