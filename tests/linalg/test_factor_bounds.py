"""Eigenvalue bounds and norms of matrices of low rank, from their factors."""

from __future__ import annotations

import numpy as np
import pytest

from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.reductions import factor_bound, factor_columns, factor_norm
from condal.linalg.symmetric import Symmetric
from sparse_matrices import random_sparse


def low_rank(seed, *, n=80, scale=1.0):
    """Pairs and grams, dense and sparse, of 9 columns."""
    rng = np.random.default_rng(seed)
    grams = [
        (rng.standard_normal((3, n)), scale * rng.standard_normal(3)),
        (random_sparse(rng, (4, n), 0.3), rng.standard_normal(4)),
    ]
    return Symmetric(n, pairs=[(scale * rng.random(n), np.ones(n))], grams=grams)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_lies_below_the_smallest_eigenvalue_and_near_it(seed, scale):
    V = low_rank(seed, scale=scale)
    exact = np.linalg.eigvalsh(V.to_dense())
    proof = factor_bound(V, 1e-9 * abs(exact[0]))
    assert proof.failure == 0
    size = np.abs(exact).max()
    assert exact[0] - 1e-8 * size <= proof.value <= exact[0] + 1e-13 * size


def test_a_psd_matrix_of_low_rank_has_the_smallest_eigenvalue_0():
    rng = np.random.default_rng(0)
    V = Symmetric(60, grams=[(rng.standard_normal((3, 60)), np.ones(3))])
    proof = smallest_eigenvalue_bound(V, slack=1e-6, failure=1e-9, seed=0)
    assert -1e-9 <= proof.value <= 0
    assert proof.failure == 0


def test_dependent_columns_do_no_harm():
    a = np.random.default_rng(1).standard_normal((1, 50))
    V = Symmetric(50, grams=[(np.vstack([a, a, 0 * a]), np.array([1.0, -3.0, 1.0]))])
    exact = -2.0 * float((a @ a.T)[0, 0])
    assert factor_bound(V, 1e-6).value == pytest.approx(exact)
    assert factor_bound(V, 1e-6).value <= exact


def test_the_norm_is_the_frobenius_norm_or_slightly_more():
    V = low_rank(2)
    exact = np.linalg.norm(V.to_dense())
    assert exact * (1 - 1e-14) <= factor_norm(V) <= exact * (1 + 1e-9)


def test_other_terms_and_many_columns_are_left_to_other_proofs():
    few = np.ones((1, 8))
    assert factor_columns(Symmetric(8, grams=[(few, np.ones(1))])) == 1
    assert factor_columns(Symmetric(8, diagonal=np.ones(8), grams=[(few, np.ones(1))])) is None
    assert factor_columns(Symmetric(8, grams=[(np.ones((4, 8)), np.ones(4))])) is None
