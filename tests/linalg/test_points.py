"""Points: their arithmetic, and psd matrices scaled to a given diagonal."""

import numpy as np
import pytest
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import LowRank, dense, with_diagonal
from condal.runtime.arguments import finite_array, require_positive, require_whole
from spaces import random_lowrank


@pytest.mark.parametrize("rank", [0, 1, 2, 7])
def test_lowrank_agrees_with_its_array(rank):
    x = random_lowrank(5, rank, np.random.default_rng(rank))
    full = sum(
        (w * np.outer(u, u) for u, w in zip(x.U.T, x.weights, strict=True)), np.zeros((5, 5))
    )
    np.testing.assert_allclose(np.asarray(x), full, rtol=1e-11, atol=1e-14)
    assert x.shape == (5, 5)
    assert x.rank == rank
    assert x.trace == pytest.approx(np.trace(full), abs=1e-14)
    np.testing.assert_allclose(x.factor() @ x.factor().T, full, rtol=1e-11, atol=1e-14)
    assert f"rank<={rank}" in repr(x)
    assert "n=5" in repr(x)


def test_lowrank_converts_to_another_dtype():
    assert np.asarray(LowRank(np.eye(2), np.ones(2)), dtype=np.float32).dtype == np.float32


def test_dense_goes_into_tuples():
    x = LowRank(np.eye(2), np.array([1.0, 2.0]))
    first, (second, third) = dense((np.ones(3), (x, x)))
    np.testing.assert_array_equal(first, np.ones(3))
    np.testing.assert_array_equal(second, np.diag([1.0, 2.0]))
    np.testing.assert_array_equal(third, second)


@pytest.mark.parametrize(
    ("values", "ndim", "text"),
    [
        (np.nan, None, "b has the value nan; every entry must be a finite number"),
        ([1j], 1, "b is complex .complex128., and must be real"),
        ([np.complex64(1)], 1, "b is complex .complex64., and must be real"),
        ([None], 1, "b has the value nan at index 0"),
        ([[1.0], [1.0, 2.0]], None, "b must be an array of real numbers; got list"),
        (np.array([1j], dtype=object), 1, "b must be an array of real numbers; got ndarray"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), 1, "b must be an array of real numbers"),
        (sp.csr_array(np.eye(2)), None, "b must be an array of real numbers; got csr_array"),
    ],
)
def test_finite_array_refuses(values, ndim, text):
    with pytest.raises(ProblemError, match=text):
        finite_array(values, "b", ndim=ndim)


@pytest.mark.parametrize("value", [1, 7, np.int32(3), np.uint64(3)])
def test_whole_numbers_are_taken(value):
    require_whole(value, "n", least=1)


@pytest.mark.parametrize("value", [0, -1, 2.5, 3.0, True, np.True_, "3", None, np.nan, 1j])
def test_other_numbers_are_refused(value):
    with pytest.raises(ProblemError, match="n must be a whole number, at least 1; got "):
        require_whole(value, "n")


@pytest.mark.parametrize("value", [1, 1e-300, np.float32(2), np.int64(1)])
def test_positive_numbers_are_taken(value):
    require_positive(value, "trace")


@pytest.mark.parametrize("is_complex", [False, True])
def test_low_rank_and_dense_are_scaled_alike(is_complex):
    rng = np.random.default_rng(3)
    U = rng.standard_normal((7, 3)) + 1j * is_complex * rng.standard_normal((7, 3))
    x = LowRank(U if is_complex else U.real, rng.random(3) + 0.1)
    d = rng.random(7)
    full = dense(x)
    scaled = with_diagonal(full, d)
    np.testing.assert_allclose(np.diagonal(scaled), d, rtol=1e-14)
    np.testing.assert_allclose(dense(with_diagonal(x, d)), scaled, rtol=1e-11, atol=1e-14)
    s = np.sqrt(d / np.diagonal(full).real)
    np.testing.assert_allclose(scaled, s[:, None] * full * s, rtol=1e-11, atol=1e-14)


def test_zero_rows_and_zero_diagonal_entries():
    x = LowRank(np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]]), np.array([0.5, 2.0]))
    d = np.array([4.0, 9.0, 0.0])
    for point in (x, dense(x)):
        scaled = dense(with_diagonal(point, d))
        np.testing.assert_allclose(np.diagonal(scaled), d, rtol=1e-15)
        assert np.linalg.eigvalsh(scaled)[0] >= -1e-14
        assert not scaled[2].any()
