"""Independent rows: as many as the rank, spanning all others."""

from __future__ import annotations

import numpy as np
import pytest

from condal.cvxpy.independent import independent_rows
from condal.methods.interior.assembly import independent_rows_of_gram


def dependent(seed: int) -> np.ndarray:
    """Nine rows of rank 4, on different scales."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((9, 4)) @ rng.standard_normal((4, 12))
    return A * 10.0 ** rng.integers(-3, 4, 9)[:, None]


@pytest.mark.parametrize("seed", range(5))
def test_they_are_a_basis_of_all_rows(seed):
    A = dependent(seed)
    unit = A / np.linalg.norm(A, axis=1)[:, None]
    rows, others = independent_rows_of_gram(unit @ unit.T, tol=1e-12)
    assert sorted([*rows, *others]) == list(range(9))
    for chosen in (rows, independent_rows(A, tol=1e-9, first=np.zeros(9, dtype=bool))):
        assert len(chosen) == np.linalg.matrix_rank(unit[chosen]) == 4


def test_the_first_are_chosen_where_they_are_independent():
    A = dependent(0)
    first = np.isin(np.arange(9), [2, 5, 7])
    assert {2, 5, 7} <= set(independent_rows(A, tol=1e-9, first=first))
    A[5] = A[2]
    chosen = set(independent_rows(A, tol=1e-9, first=first))
    assert len(chosen & {2, 5}) == 1
    assert 7 in chosen


def test_the_tolerance_decides_about_a_row_that_is_nearly_dependent():
    A = np.array([[1.0, 0.0], [1.0, 1e-6]])
    none = np.zeros(2, dtype=bool)
    assert len(independent_rows(A, tol=1e-9, first=none)) == 2
    assert len(independent_rows(A, tol=1e-5, first=none)) == 1
    assert len(independent_rows_of_gram(A @ A.T, tol=1e-14)[0]) == 2
    assert len(independent_rows_of_gram(A @ A.T, tol=1e-10)[0]) == 1
