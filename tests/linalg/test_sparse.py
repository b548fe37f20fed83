"""Sparse matrices, and products with them, in threads or not."""

import numpy as np
import pytest
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg import blocked, sparse, terms
from condal.linalg.lifting import symmetric
from condal.linalg.sparse import diagonal_matrix, index_type, stored_rows
from condal.linalg.symmetric import Symmetric
from condal.methods.lowrank.sweeps import Sweeps
from condal.methods.spheres.forms import form_of
from condal.methods.spheres.sweeps import PairSweeps
from condal.problems import max_cut, theta
from known import random_graph

N = 3000
COUNTS = ["1", "2", "3", "7"]


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


@pytest.fixture(autouse=True)
def _threads_pay_early(monkeypatch):
    monkeypatch.setattr(blocked, "MIN_THREADED_ROWS", 100)
    monkeypatch.setattr(sparse, "BLOCK_ROWS", 64)


def graph():
    """A graph with a hub, and an isolated vertex at the end."""
    W = sp.csr_array(random_graph(N, 6), dtype=float).tolil()
    W[0, 1 : N - 1] = W[1 : N - 1, 0] = 0.5
    W[N - 1, :] = 0.0
    W[:, N - 1] = 0.0
    return sp.csr_array(W)


@pytest.mark.parametrize("columns", [(), (1,), (5,)])
def test_a_product_is_the_same_for_any_number_of_threads(columns, monkeypatch):
    v, S = np.random.default_rng(0).standard_normal((N, *columns)), graph()
    expected = S @ v
    for count in COUNTS:
        monkeypatch.setenv("CONDAL_NUM_THREADS", count)
        V = Symmetric(N, sparse=(S,))
        assert (V.terms[0]._blocks is None) == (count == "1")
        np.testing.assert_array_equal(V @ v, expected)


def test_a_product_by_copied_rows_is_the_same(monkeypatch):
    v, S = np.random.default_rng(0).standard_normal((N, 20)), graph()
    for module in (sparse, terms):
        monkeypatch.setattr(module, "MIN_GATHERED_NUMBERS", 1)
    monkeypatch.setattr(terms, "row_blocks", lambda _: pytest.fail("no rows were copied"))
    for count in COUNTS:
        monkeypatch.setenv("CONDAL_NUM_THREADS", count)
        np.testing.assert_array_equal(Symmetric(N, sparse=(S,)) @ v, S @ v)
    empty = sp.csr_array((N, N))
    np.testing.assert_array_equal(Symmetric(N, sparse=(empty,)) @ v, np.zeros((N, 20)))


def test_blocks_cover_the_rows_and_have_few_entries_unless_they_are_a_hub():
    degrees = np.r_[50_000, 3000, 2000, np.full(5000, 3), np.zeros(4000, int)]
    parts = sparse.split_rows(0, degrees.size, np.r_[0, np.cumsum(degrees)])
    assert parts[0] == slice(0, 1)
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert parts[-1].stop == degrees.size
    for part in parts[1:]:
        assert degrees[part].sum() <= sparse.BLOCK_ENTRIES
        assert 1 <= part.stop - part.start <= sparse.BLOCK_ROWS


@pytest.mark.parametrize("single", [False, True])
def test_sweeps_are_the_same_for_any_number_of_threads(single, monkeypatch):
    monkeypatch.setattr("condal.methods.lowrank.sweeps.MIN_COLOUR_ENTRIES", 1)
    sweeps = Sweeps.of(Symmetric(N, sparse=(graph(),)), np.ones(N))
    R = np.random.default_rng(0).standard_normal((N, 5))
    R /= np.linalg.norm(R, axis=1)[:, None]
    results = []
    for count in COUNTS:
        monkeypatch.setenv("CONDAL_NUM_THREADS", count)
        results.append(sweeps.relaxed(R, sweeps=4, omega=1.9, single=single)[0])
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sweeps_over_pairs_are_the_same_for_any_number_of_threads(dtype, monkeypatch):
    monkeypatch.setattr("condal.methods.spheres.sweeps.BLOCK_NUMBERS", 256)
    form = form_of(theta(random_graph(N, 6)).problem)
    sweeps, z = PairSweeps.of(form.program), np.zeros(form.program.cost.size)
    assert max(len(colour) for colour in sweeps._colours(np.empty((N, 5)))) > 7
    results = []
    for count in COUNTS:
        monkeypatch.setenv("CONDAL_NUM_THREADS", count)
        R = sweeps.sorted_rows(form.program.random(5, 0).astype(dtype))
        sweeps.relax(R, z, 0.3, sweeps=4, omega=1.9, curvature=0.5)
        results.append((R, sweeps.products(R)))
    for R, products in results[1:]:
        np.testing.assert_array_equal(R, results[0][0])
        np.testing.assert_array_equal(products, results[0][1])


def test_all_items_are_done_and_an_error_is_raised(monkeypatch):
    monkeypatch.setenv("CONDAL_NUM_THREADS", "3")
    done = np.zeros(50, dtype=int)

    def count(i):
        done[i] += 1

    blocked.for_each(count, range(50), rows=1000)
    assert np.all(done == 1)

    def fail(i):
        if i == 1:
            raise ValueError("of a thread")

    with pytest.raises(ValueError, match="of a thread"):
        blocked.for_each(fail, range(50), rows=1000)


def test_the_environment_decides(monkeypatch):
    monkeypatch.delenv("CONDAL_NUM_THREADS", raising=False)
    assert blocked.thread_count() == 1
    monkeypatch.setenv("CONDAL_NUM_THREADS", " 2 ")
    assert blocked.thread_count() == 2


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused(text, monkeypatch):
    monkeypatch.setenv("CONDAL_NUM_THREADS", text)
    with pytest.raises(ProblemError, match="CONDAL_NUM_THREADS must be a whole number from 1 on"):
        blocked.thread_count()


def test_few_rows_take_one_thread(monkeypatch):
    monkeypatch.setattr(blocked, "MIN_THREADED_ROWS", N + 1)
    monkeypatch.setenv("CONDAL_NUM_THREADS", "2")
    assert blocked.row_blocks(graph()) is None
    monkeypatch.setattr(blocked, "_pool", lambda _: pytest.fail("a thread was started"))
    blocked.for_each(lambda _: None, range(10), rows=N)
