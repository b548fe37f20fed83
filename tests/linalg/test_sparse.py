"""The sparse matrices that users pass, as they are stored."""

import numpy as np
import pytest
import scipy.sparse as sp

from condal.linalg.lifting import symmetric
from condal.linalg.sparse import diagonal_matrix, index_type, stored_rows
from condal.problems import max_cut


def with_long_indices(n=40):
    """A symmetric matrix with an entry stored twice and indices of eight bytes."""
    i, j = np.arange(n - 1), np.arange(1, n)
    rows, cols = (np.concatenate(pair).astype(np.int64) for pair in ((i, j, i, j), (j, i, j, i)))
    return sp.coo_array((np.ones(rows.size), (rows, cols)), shape=(n, n))


@pytest.mark.parametrize(
    "stored", [lambda a: stored_rows(a, "A"), lambda a: symmetric(a).sparse[0]]
)
def test_indices_are_short_where_they_fit_and_duplicates_are_summed(stored):
    given = with_long_indices()
    matrix = stored(given)
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert matrix.nnz == 78
    np.testing.assert_array_equal(matrix.toarray(), given.toarray())


def test_indices_stay_short_in_the_products_of_a_solve():
    """The matrix whose eigenvalues are bounded is a sum that the user does not see."""
    problem = max_cut(with_long_indices()).problem
    V = problem.f.M.adjoint(np.ones(1)) + problem.A.adjoint(np.ones(40))
    assert V.merged().sparse[0].indices.dtype == np.int32


@pytest.mark.parametrize(("largest", "kind"), [(2**31 - 1, np.int32), (2**31, np.int64)])
def test_indices_are_long_where_short_ones_would_overflow(largest, kind):
    assert index_type(largest) is kind


def test_a_diagonal_matrix_without_its_zeros_is_the_same_matrix():
    """SciPy removes them in place."""
    d = np.array([1.0, 0.0, 2.0, 0.0, 3.0])
    matrix = diagonal_matrix(d)
    matrix.eliminate_zeros()
    assert matrix.nnz == 3
    np.testing.assert_array_equal(matrix.toarray(), np.diag(d))
