"""Maps of vectors beside matrices: differences, samples, operators that only multiply."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import condal
from condal.errors import ProblemError
from condal.maps import FiniteDifferences, Operator, user


class FirstDerivative(LinearOperator):
    """As PyLops makes its operators: a subclass with its dims, and no matrix."""

    def __init__(self, dims, dtype="float64"):
        self.dims = dims
        super().__init__(dtype=np.dtype(dtype), shape=(dims[0] - 1, dims[0]))

    def _matvec(self, x):
        return np.diff(x.ravel())

    def _rmatvec(self, y):
        return -np.diff(y.ravel(), prepend=0.0, append=0.0)


# FiniteDifferences


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4)])
def test_differences_are_those_of_numpy_axis_by_axis(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    parts = FiniteDifferences(shape)(x.ravel()).reshape(len(shape), *shape)
    for axis, part in enumerate(parts):
        expected = np.diff(x, axis=axis, append=np.take(x, [-1], axis=axis))
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: FiniteDifferences(()), r"takes the shape of an array, such as \(h, w\)"),
        (lambda: FiniteDifferences((3, 0)), "each side of the shape must be a whole number"),
        (lambda: FiniteDifferences((3, 1.5)), "each side of the shape must be a whole number"),
        (lambda: Operator(np.eye(2)), "takes a SciPy LinearOperator; got ndarray: for a matrix"),
        (lambda: condal.Matrix(aslinearoperator(np.eye(2))), "for a LinearOperator use condal.Op"),
        (lambda: Operator(aslinearoperator(1j * np.eye(2))), "the operator is complex"),
        (lambda: Operator(FirstDerivative((4,), "float32")), "computes in float32, too coarse"),
        (lambda: Operator(aslinearoperator(np.eye(2)), norm=0.0), "norm must be a positive number"),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


# Operator


def test_an_operator_by_its_products_alone():
    A = Operator(FirstDerivative((6,)))
    matrix = FiniteDifferences(6).as_matrix().toarray()[:-1]
    x = np.arange(6.0) ** 2
    np.testing.assert_allclose(A(x), matrix @ x)
    np.testing.assert_allclose(A.row_norms(), np.sqrt(2.0))
    largest = np.linalg.norm(matrix, 2)
    assert largest * (1 - 1e-12) <= A.norm <= 1.05 * largest


@pytest.mark.parametrize("shape", [(70, 3), (3, 70), (130, 150)])
def test_lengths_of_rows_in_blocks(shape):
    a = np.random.default_rng(0).standard_normal(shape)
    A = Operator(aslinearoperator(a))
    np.testing.assert_allclose(A.row_norms(), np.linalg.norm(a, axis=1))
    A.row_norms()[:] = 0.0
    assert A.row_norms().all()


def test_of_too_many_rows_the_lengths_are_bounded(monkeypatch):
    monkeypatch.setattr(user, "MAX_NORM_PRODUCTS", 2)
    a = np.random.default_rng(0).standard_normal((4, 3))
    A = Operator(aslinearoperator(a))
    assert (A.row_norms() >= np.linalg.norm(a, axis=1)).all()


def test_operators_go_wherever_maps_of_vectors_do():
    rng = np.random.default_rng(2)
    n = 8
    M, a = rng.standard_normal((5, n)), rng.standard_normal((1, n))
    c, x = rng.standard_normal(5), rng.dirichlet(np.ones(n))
    B, g = FirstDerivative((n,)), condal.L1(t=0.1, size=n - 1)
    free = condal.Problem.of(
        condal.LeastSquares(aslinearoperator(M), c),
        condal.Simplex(n),
        aslinearoperator(sp.csr_array(a)),
        condal.Equal(a @ x),
        B=B,
        g=g,
    )
    known = condal.Problem.of(
        condal.LeastSquares(M, c),
        condal.Simplex(n),
        condal.Matrix(a),
        condal.Equal(a @ x),
        B=condal.Matrix(B @ np.eye(n)),
        g=g,
    )
    results = [condal.solve(p, condal.methods.corrective()) for p in (free, known)]
    assert results[0].status is condal.Status.SOLVED
    assert results[0].objective == pytest.approx(results[1].objective, rel=5e-3)
    assert results[0].bound <= results[1].objective * (1 + 1e-3)
