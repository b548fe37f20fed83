"""Maps as a sparse matrix and dense rows of rank one."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal.linalg.forms import SquareRows
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
