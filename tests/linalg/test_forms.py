"""Forms of maps and matrices that some methods need."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal.cvxpy.independent import independent_rows
from condal.linalg.gradients import SquareRows
from laws.maps import MAPS
from sparse_matrices import path_graph


def whole(rows: SquareRows) -> np.ndarray:
    """All rows, multiplied out."""
    matrix = rows.matrix.toarray()
    for i, c, v in zip(rows.squares, rows.c, rows.vectors.T, strict=True):
        assert not matrix[i].any()
        matrix[i] = c * np.outer(v, v).ravel()
    return matrix


def test_the_rows_are_those_of_the_map():
    for case in MAPS:
        A = case.A
        matrix, rows = A.as_matrix(), SquareRows.of(A)
        assert (matrix is None) == (rows is None)
        if rows is not None:
            assert np.allclose(whole(rows), matrix.toarray(), rtol=1e-14, atol=0)


def test_dense_rows_of_stacks_are_vectors():
    n = 50
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, n))
    a[1, 5:] = 0.0
    A = condal.Stack(condal.Diagonal(n), condal.maps.Quadratics(a, [2.0, 3.0, -1.0]))
    for B in (A, A.scaled(rng.random(n + 3)), condal.maps.Scaled(A, rng.random(n + 3))):
        rows = SquareRows.of(B)
        assert rows.squares.tolist() == [n, n + 2]
        assert rows.matrix.nnz == n + 25
        assert np.allclose(whole(rows), B.as_matrix().toarray(), rtol=1e-13)


@pytest.mark.parametrize("n", [50, 20_000])
def test_a_square_has_no_n_squared_entries(n):
    rows = SquareRows.of(condal.problems.bisection(path_graph(n)).problem.A)
    assert rows.matrix.nnz == n
    assert np.array_equal(rows.vectors, np.ones((n, 1)))


def dependent(seed: int) -> np.ndarray:
    """Nine rows of rank 4, on different scales."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((9, 4)) @ rng.standard_normal((4, 12))
    return A * 10.0 ** rng.integers(-3, 4, 9)[:, None]


@pytest.mark.parametrize("seed", range(5))
def test_they_are_a_basis_of_all_rows(seed):
    A = dependent(seed)
    unit = A / np.linalg.norm(A, axis=1)[:, None]
    chosen = independent_rows(A, tol=1e-9, first=np.zeros(9, dtype=bool))
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
