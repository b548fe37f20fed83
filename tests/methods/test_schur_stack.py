"""The Schur complement of stacks and of diagonal scalings, against the formula."""

import numpy as np
import pytest
import scipy.sparse as sp

from condal.methods.interior import schur, schur_stack, standard
from condal.methods.interior.psd import _least_eigenvalues
from condal.methods.interior.schur_stack import DenseRows, LowRankRows, StackSchur
from condal.methods.interior.standard import ScaledGram
from sparse_matrices import random_sparse

EVERYTHING_DENSE = {"ALONE": np.inf, "LOW_RANK": np.inf}
EVERYTHING_LOW_RANK = {"LOW_RANK": -np.inf, "MAX_SETUP": np.inf}
EVERYTHING_ALONE = {"ALONE": -np.inf, "LOW_RANK": np.inf}


def symmetric_rows(m, count, n, filled, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((m, count, n, n))
    rows = np.where(rng.random(rows.shape) < filled, rows, 0.0)
    return rows + rows.swapaxes(2, 3)


def complement(rows, plan):
    """M as the plan and as the formula give it, for random X = L L' and W = K'K."""
    m, count, n, _ = rows.shape
    L, K = np.tril(np.random.default_rng(1).standard_normal((2, count, n, n)))
    X, W = L @ L.swapaxes(1, 2), K.swapaxes(1, 2) @ K
    M = np.zeros((m, m))
    plan.add_groups(M, L, K)
    plan.add_alone(M, X, W)
    return M, np.einsum("ikab,jkab->ij", rows, X @ rows @ W)


@pytest.mark.parametrize(
    "costs", [{}, EVERYTHING_DENSE, EVERYTHING_LOW_RANK, EVERYTHING_ALONE], ids=str
)
@pytest.mark.parametrize("chunk", [2**4, 2**20])
@pytest.mark.parametrize(
    ("m", "count", "n", "filled"),
    [
        (1, 1, 1, 1.0),
        (7, 3, 4, 0.2),
        (30, 9, 2, 0.1),
        (12, 1, 6, 1.0),
        (40, 1, 12, 0.1),
        (40, 5, 3, 0.02),
    ],
)
def test_a_stack_has_the_sum_of_its_schur_complements(
    m, count, n, filled, chunk, costs, monkeypatch
):
    monkeypatch.setattr(schur, "CHUNK", chunk)
    for name, value in costs.items():
        monkeypatch.setattr(schur_stack, name, value)
    if costs is EVERYTHING_LOW_RANK:
        monkeypatch.setattr(schur_stack, "low_rank_nanoseconds", lambda ranks, n: -ranks)
    if costs is EVERYTHING_ALONE:
        monkeypatch.setattr(
            schur_stack, "dense_nanoseconds", lambda widths, n: np.inf * (1 + widths)
        )
    rows = symmetric_rows(m, count, n, filled)
    plan = StackSchur.of(sp.csr_array(rows.reshape(m, -1)), n)
    if costs is EVERYTHING_LOW_RANK:
        assert {type(group) for group in plan.groups} == {LowRankRows}
    if costs is EVERYTHING_DENSE:
        assert {type(group) for group in plan.groups} == {DenseRows}
    if costs is EVERYTHING_ALONE:
        assert not plan.groups
    M, exact = complement(rows, plan)
    np.testing.assert_allclose(M, exact, atol=1e-12 * (1.0 + np.abs(exact).max()))


def test_rows_of_rank_one_go_by_their_vectors():
    rng = np.random.default_rng(0)
    u = np.where(rng.random((80, 1, 40)) < 0.1, rng.standard_normal((80, 1, 40)), 0.0)
    rows = rng.choice([-1.0, 1.0], (80, 1, 1, 1)) * u[:, :, :, None] * u[:, :, None, :]
    plan = StackSchur.of(sp.csr_array(rows.reshape(80, -1)), 40)
    (group,) = plan.groups
    assert isinstance(group, LowRankRows)
    assert group.vectors.shape == (1, 40, np.count_nonzero(u.any(axis=2)))
    M, exact = complement(rows, plan)
    np.testing.assert_allclose(M, exact, atol=1e-12 * np.abs(exact).max())


def test_many_small_matrices_go_together():
    """One group for all matrices with about the same number of rows, whatever their number."""
    rows = symmetric_rows(6, 50, 2, 1.0)
    plan = StackSchur.of(sp.csr_array(rows.reshape(6, -1)), 2)
    assert len(plan.groups) == 1
    assert not plan.alone


@pytest.mark.parametrize("limits", [{}, {"MAX_PAIRS": -1}, {"GEMM": 0.0}], ids=str)
@pytest.mark.parametrize(("m", "n", "filled"), [(5, 9, 0.3), (40, 50, 0.02), (4, 0, 1.0)])
def test_a_scaled_gram_matrix_is_what_it_says(m, n, filled, limits, monkeypatch):
    for name, value in limits.items():
        monkeypatch.setattr(standard, name, value)
    rng = np.random.default_rng(m)
    A = random_sparse(rng, (m, n), filled)
    H, M = rng.random(n), np.ones((m, m))
    ScaledGram.of(A).add(M, H)
    np.testing.assert_allclose(M, 1.0 + (A.toarray() * H) @ A.toarray().T, atol=1e-14)


def test_the_eigenvalues_of_small_matrices_are_those_of_lapack():
    a = symmetric_rows(1, 200, 2, 1.0)[0]
    a[:3] = np.diag([1.0, -2.0]), np.zeros((2, 2)), np.diag([1e-9, 1e9])
    np.testing.assert_allclose(_least_eigenvalues(a), np.linalg.eigvalsh(a)[:, 0], atol=1e-7)
