"""Coded diffraction: the matrix that it is, its lengths and intensities; refused masks."""

import numpy as np
import pytest

import condal
from condal.linalg.points import LowRank

SHAPES = [(1, 1, 1), (3, 4, 5), (2, 1, 6)]


def random_masks(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def written_out(masks):
    """The matrix, a column for each pixel: the transform of a wave of one pixel, by its sum."""
    _, h, w = masks.shape
    rows, cols = np.indices((h, w)).reshape(2, -1)
    phase = np.outer(rows, rows) / h + np.outer(cols, cols) / w
    F = np.exp(-2j * np.pi * phase) / np.sqrt(h * w)
    return np.vstack([F * mask.ravel() for mask in masks])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_is_the_matrix_of_the_transforms_of_what_the_masks_let_through(shape):
    masks = random_masks(shape)
    a, matrix = condal.CodedDiffraction(masks), written_out(masks)
    assert a.shape == matrix.shape
    rng = np.random.default_rng(1)
    U = rng.standard_normal((a.shape[1], 3)) + 1j * rng.standard_normal((a.shape[1], 3))
    V = rng.standard_normal((a.shape[0], 2)) + 1j * rng.standard_normal((a.shape[0], 2))
    np.testing.assert_allclose(a.matmat(U), matrix @ U, atol=1e-12)
    np.testing.assert_allclose(a.matvec(U[:, 0]), matrix @ U[:, 0], atol=1e-12)
    np.testing.assert_allclose(a.matvec(U[:, 0].real), matrix @ U[:, 0].real, atol=1e-12)
    np.testing.assert_allclose(a.rmatmat(V), matrix.conj().T @ V, atol=1e-12)
    np.testing.assert_allclose(a.rmatvec(V[:, 0]), matrix.conj().T @ V[:, 0], atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_mask_at_a_time_gives_what_all_of_them_do(shape):
    masks = random_masks(shape, 7)
    a, matrix = condal.CodedDiffraction(masks), written_out(masks)
    rng = np.random.default_rng(8)
    u = rng.standard_normal(a.shape[1]) + 1j * rng.standard_normal(a.shape[1])
    w = rng.standard_normal(a.shape[0])
    np.testing.assert_allclose(a.intensities(u), np.abs(matrix @ u) ** 2, atol=1e-11)
    gram = matrix.conj().T @ (w[:, None] * matrix)
    np.testing.assert_allclose(a.weighted(w, u), gram @ u, atol=1e-11)
    np.testing.assert_allclose(np.diag(a.frame), matrix.conj().T @ matrix, atol=1e-12)
    A, B = condal.Quadratics(a), condal.Quadratics(matrix)
    x = LowRank(rng.standard_normal((A.n, 3)), np.array([1.0, -0.5, 2.0]))
    scale = rng.random(A.size)
    np.testing.assert_allclose(A.scaled(scale)(x), B.scaled(scale)(x), atol=1e-10)
    V = rng.standard_normal((A.n, 2))
    np.testing.assert_allclose(A.adjoint(w) @ V, B.adjoint(w) @ V, atol=1e-10)
    exact = np.linalg.norm(B.as_matrix().toarray(), 2)
    assert exact * (1 - 1e-12) <= A.norm


def test_a_solve_makes_no_pattern_of_all_masks_at_once(monkeypatch):
    def never(*_):
        raise AssertionError("all patterns at once")

    masks = random_masks((6, 4, 4), 9)
    b = np.abs(condal.CodedDiffraction(masks).matvec(np.ones(16))) ** 2
    model = condal.problems.phase_retrieval(b, masks=masks)
    for name in ("_matmat", "_rmatmat"):
        monkeypatch.setattr(condal.CodedDiffraction, name, never)
    result = condal.solve(model, method=condal.CGAL(), max_iters=5)
    assert model.signal(result).residual < 2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lengths_are_those_of_the_rows(shape):
    masks = random_masks(shape, 5)
    expected = np.linalg.norm(written_out(masks), axis=1)
    np.testing.assert_allclose(condal.CodedDiffraction(masks).lengths, expected, rtol=1e-13)


def test_one_mask_may_be_given_as_it_is():
    mask = random_masks((3, 4), 8)
    one, stack = condal.CodedDiffraction(mask), condal.CodedDiffraction(mask[None])
    assert one.shape == stack.shape == (12, 12)
    np.testing.assert_array_equal(one.masks, stack.masks)


def test_the_callers_arrays_are_never_changed():
    masks = random_masks((2, 3, 4), 9)
    a = condal.CodedDiffraction(masks)
    V = np.asfortranarray(random_masks((24, 2), 10))
    kept = masks.copy(), V.copy()
    a.rmatvec(V[:, 0])
    a.rmatmat(V)
    a.matmat(V[:12])
    np.testing.assert_array_equal(masks, kept[0])
    np.testing.assert_array_equal(V, kept[1])
    masks[:] = 0
    np.testing.assert_array_equal(a.masks, kept[0])


@pytest.mark.parametrize(
    ("masks", "text"),
    [
        (np.ones(4), r"masks must have the shape \(L, h, w\), at least 1 x 1 x 1; got \(4,\)"),
        (np.ones((0, 3, 3)), r"got \(0, 3, 3\)"),
        (np.ones((2, 2, 2, 2)), r"got \(2, 2, 2, 2\)"),
    ],
)
def test_masks_that_are_none_are_refused(masks, text):
    with pytest.raises(condal.ProblemError, match=text):
        condal.CodedDiffraction(masks)
