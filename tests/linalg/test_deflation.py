"""Operators with large terms of rank one: the bound beside them, and what it loses."""

from __future__ import annotations

import numpy as np
import pytest

from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.reductions import Deflated, has_outlier, without_outlier
from condal.linalg.symmetric import Symmetric


def operator(n, k, weight, seed=0):
    """A random S plus k large terms, and their vectors."""
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((n, n))
    S = 0.5 * (S + S.T)
    vectors = rng.standard_normal((k, n))
    return Symmetric(n, dense=S, grams=[(vectors, np.full(k, weight))]), S, vectors


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("weight", [1e3, 1e6, 1e12])
def test_the_operator_is_at_least_the_deflated_one_less_the_loss(k, weight):
    V, S, vectors = operator(40, k, weight)
    deflated = Deflated.of(V, np.inf)
    assert deflated is not None
    Q = np.linalg.qr(vectors.T)[0]
    P = np.eye(40) - Q @ Q.T
    beside = deflated.V.to_dense()
    assert np.allclose(P @ beside @ P, P @ S @ P, atol=1e-12)
    slack = V.to_dense() - beside + deflated.loss * np.eye(40)
    assert np.linalg.eigvalsh(slack)[0] >= -1e-15 * weight * 40 * k
    assert deflated.loss <= 1e-11 + 20 * np.linalg.norm(S) ** 2 / weight


def test_a_larger_weight_loses_less_and_none_is_lost_to_rounding():
    losses = [Deflated.of(operator(40, 1, weight)[0], np.inf).loss for weight in (1e4, 1e8, 1e12)]
    assert losses[1] <= 2e-4 * losses[0]
    assert losses[2] <= 1e-9


@pytest.mark.parametrize("n", [60, 1500])
def test_bounds_beside_a_huge_term_are_as_good_as_without_it(n):
    """A factorisation, and Lanczos steps, with the term lose by its size."""
    rng = np.random.default_rng(1)
    d = np.sort(rng.random(n)) - 0.3
    ones = np.ones((1, n))
    V = Symmetric(n, diagonal=d, grams=[(ones, np.array([1e9]))])
    proof = smallest_eigenvalue_bound(V, slack=1e-6, failure=1e-6, seed=0)
    P = np.eye(n) - 1 / n
    least = np.linalg.eigvalsh(P @ np.diag(d) @ P)[0]
    assert least - 3e-6 <= proof.value <= least + 1e-12


def test_what_is_not_an_outlier_is_left_alone():
    V, S, vectors = operator(40, 1, 1e6)
    assert Deflated.of(Symmetric(40, dense=S), np.inf) is None
    assert Deflated.of(Symmetric(40, dense=S, grams=[(vectors, -np.ones(1))]), np.inf) is None
    assert Deflated.of(Symmetric(40, dense=S, grams=[(vectors, np.full(1, 1e-3))]), np.inf) is None
    assert Deflated.of(Symmetric(40, dense=S, grams=[(np.eye(40), np.ones(40))]), np.inf) is None
    assert Deflated.of(V, 1e-12) is None


@pytest.mark.parametrize("weight", [1e4, 1e6, 1e10])
@pytest.mark.parametrize("seed", range(3))
def test_a_dense_matrix_without_its_outlier(weight, seed):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((30, 30))
    S = 0.5 * (S + S.T)
    full = S + weight * np.ones((30, 30))
    assert has_outlier(np.linalg.eigvalsh(full))
    assert not has_outlier(np.linalg.eigvalsh(S))
    W, loss = without_outlier(full)
    slack = full - W + loss * np.eye(30)
    assert np.linalg.eigvalsh(slack)[0] >= -1e-14 * weight
    assert np.linalg.norm(W, 2) <= 2 * np.linalg.norm(S, 2)
    assert loss <= 1e-14 * weight * 30 + np.linalg.norm(S) ** 2 / weight
