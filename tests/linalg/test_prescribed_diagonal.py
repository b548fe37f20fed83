"""A psd matrix scaled to a given diagonal, low-rank, dense, real and complex."""

from __future__ import annotations

import numpy as np
import pytest

from condal.linalg.points import LowRank, dense, with_diagonal


@pytest.mark.parametrize("is_complex", [False, True])
def test_low_rank_and_dense_are_scaled_alike(is_complex):
    rng = np.random.default_rng(3)
    U = rng.standard_normal((7, 3)) + 1j * is_complex * rng.standard_normal((7, 3))
    x = LowRank(U if is_complex else U.real, rng.random(3) + 0.1)
    d = rng.random(7)
    full = dense(x)
    scaled = with_diagonal(full, d)
    np.testing.assert_allclose(np.diagonal(scaled), d, rtol=1e-14)
    np.testing.assert_allclose(dense(with_diagonal(x, d)), scaled, atol=1e-14)
    s = np.sqrt(d / np.diagonal(full).real)
    np.testing.assert_allclose(scaled, s[:, None] * full * s, atol=1e-14)


def test_zero_rows_and_zero_diagonal_entries():
    x = LowRank(np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]]), np.array([0.5, 2.0]))
    d = np.array([4.0, 9.0, 0.0])
    for point in (x, dense(x)):
        scaled = dense(with_diagonal(point, d))
        np.testing.assert_allclose(np.diagonal(scaled), d, rtol=1e-15)
        assert np.linalg.eigvalsh(scaled)[0] >= -1e-14
        assert not scaled[2].any()
