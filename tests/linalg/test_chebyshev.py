"""The lowest eigenvectors by filtered subspace iteration, against dense decompositions."""

from __future__ import annotations

import numpy as np
import pytest

from condal.linalg.subspaces import lowest_subspace
from condal.operators import Symmetric


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
