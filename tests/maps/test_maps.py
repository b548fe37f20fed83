"""Linear maps: adjoint, linearity, norms and scaling against the map's matrix; refused input."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from condal import maps
from condal.errors import ProblemError
from condal.linalg.gradients import adjoint_onto, step
from condal.linalg.lifting import square_point
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import LowRank, dense
from condal.linalg.symmetric import Symmetric
from condal.linalg.triangles import BLOCK_ROWS
from condal.maps import (
    Across,
    Cost,
    Diagonal,
    Entries,
    Inner,
    LeftProduct,
    Matrix,
    Quadratics,
    Scaled,
    Stack,
    Triangle,
    check_adjoint,
    quadratics,
)
from laws.maps import MAPS
from laws.spectra import Counted
from spaces import (
    Matrices,
    Tuples,
    Vectors,
    combination,
    coordinates,
    length,
    matrix_of,
    random_lowrank,
    random_symmetric,
)

cases = pytest.mark.parametrize("case", MAPS, ids=[case.name for case in MAPS])


@cases
def test_images_are_linear_and_those_of_dense_arrays(case):
    rng = np.random.default_rng(2)
    points = case.space.points(rng)
    for x, y in zip(points, points[1:] + points[:1], strict=True):
        assert (case.A(x).shape, case.A(x).dtype) == ((case.A.size,), np.float64)
        np.testing.assert_allclose(case.A(x), case.A(dense(x)), rtol=1e-11, atol=1e-13)
        left = case.A(combination(2.0, x, -0.5, y))
        np.testing.assert_allclose(left, 2.0 * case.A(x) - 0.5 * case.A(y), rtol=1e-11, atol=1e-12)


@cases
def test_the_adjoint_is_the_transposed_matrix(case):
    y = np.random.default_rng(4).standard_normal(case.A.size)
    v = case.A.adjoint(y)
    if case.A.size == 0 and v is None:
        return  # A'y = 0, in the form of no gradient at all
    expected = matrix_of(case.A, case.space).T @ y
    np.testing.assert_allclose(coordinates(v, case.space), expected, rtol=1e-11, atol=1e-12)


@cases
def test_norm_is_an_upper_bound(case):
    singular = np.linalg.svd(matrix_of(case.A, case.space), compute_uv=False)
    largest = singular.max(initial=0.0)
    if isinstance(case.A, Cost) and case.A.C.operators:  # said to be an estimate
        assert 0.5 * largest <= case.A.norm <= 2 * largest
        return
    assert case.A.norm >= largest * (1 - 1e-14)
    if case.exact:
        assert case.A.norm == pytest.approx(largest, rel=1e-12, abs=1e-15)
    else:
        assert case.A.norm <= 10 * largest
    for x in case.space.points(np.random.default_rng(6)):
        assert np.linalg.norm(case.A(x)) <= case.A.norm * length(x) * (1 + 1e-13)


@cases
def test_row_norms_are_those_of_the_matrix(case):
    if isinstance(case.A, Cost) and case.A.C.operators:
        return
    expected = np.linalg.norm(matrix_of(case.A, case.space), axis=1)
    np.testing.assert_allclose(case.A.row_norms(), expected, rtol=1e-13, atol=1e-15)


def flat(x):
    """Both triangles of a matrix, row by row; the blocks of a tuple in turn."""
    parts = x if isinstance(x, tuple) else (x,)
    return np.concatenate([np.asarray(dense(part)).ravel() for part in parts])


@cases
def test_the_explicit_matrix_makes_images_and_adjoints(case):
    rng = np.random.default_rng(11)
    a = case.A.as_matrix()
    if a is None:  # an operator hides it, or there is none and no space that it acts on
        assert case.A.size == 0 or "matrix-free" in case.name
        return
    points = case.space.points(rng)
    assert isinstance(a, sp.csr_array)
    assert a.shape == (case.A.size, flat(points[0]).size)
    for x in points:
        np.testing.assert_allclose(a @ flat(x), case.A(x), rtol=1e-11, atol=1e-12)
    y = rng.standard_normal(case.A.size)
    v = case.A.adjoint(y)
    parts = v if isinstance(v, tuple) else (v,)
    full = tuple(p.to_dense() if isinstance(p, Symmetric) else p for p in parts)
    np.testing.assert_allclose(a.T @ y, flat(full), rtol=1e-11, atol=1e-12)
    rows = rng.standard_normal(case.A.size)
    scaled = case.A.scaled(rows).as_matrix()
    np.testing.assert_allclose(
        scaled.toarray(), rows[:, None] * a.toarray(), rtol=1e-11, atol=1e-13
    )


def test_a_hidden_part_hides_the_matrix_of_the_whole():
    hidden = Cost(Symmetric(2, operators=(aslinearoperator(np.eye(2)),)))
    for A in (hidden, Scaled(hidden, np.ones(1)), Stack(Diagonal(2), hidden), Across(hidden)):
        assert A.as_matrix() is None


@cases
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_scaled_by_rows(case, sign):
    rng = np.random.default_rng(7)
    rows = sign * np.exp(rng.standard_normal(case.A.size))
    scaled = case.A.scaled(rows)
    assert scaled.size == case.A.size
    for x in case.space.points(rng):
        np.testing.assert_allclose(scaled(x), rows * case.A(x), rtol=1e-12, atol=1e-12)
    check_adjoint(scaled, case.space.points(rng))
    if isinstance(case.A, Cost) and case.A.C.operators:
        return
    np.testing.assert_allclose(
        scaled.row_norms(), np.abs(rows) * case.A.row_norms(), rtol=1e-11, atol=1e-13
    )
    largest = np.linalg.svd(rows[:, None] * matrix_of(case.A, case.space), compute_uv=False)
    assert scaled.norm >= largest.max(initial=0.0) * (1 - 1e-13)
    twice = scaled.scaled(rows)
    x = case.space.points(rng)[0]
    np.testing.assert_allclose(twice(x), rows**2 * case.A(x), rtol=1e-12, atol=1e-12)


@cases
def test_images_and_adjoints_leave_their_arguments_alone(case):
    rng = np.random.default_rng(8)
    for x in case.space.points(rng):
        y = rng.standard_normal(case.A.size)
        before, kept = combination(1.0, x, 0.0, x), y.copy()
        image = case.A(x)
        case.A.adjoint(y)
        image += 1.0
        assert length(combination(1.0, x, -1.0, before)) == 0.0
        np.testing.assert_array_equal(y, kept)


@cases
@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0])
def test_a_step_of_an_image_is_the_image_of_the_step(case, eta):
    points = case.space.points(np.random.default_rng(9))
    Ax = case.A(points[0])
    before = Ax.copy()
    for s in points:
        expected = case.A(combination(1 - eta, points[0], eta, s))
        np.testing.assert_allclose(step(case.A, Ax, s, eta), expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(Ax, before)


@cases
def test_an_adjoint_onto_a_gradient_is_the_sum_of_both(case):
    rng = np.random.default_rng(10)
    y, v = rng.standard_normal(case.A.size), case.space.gradient(rng)
    under = [v, None]
    if isinstance(v, Symmetric):
        under += [
            Symmetric(v.n, dense=random_symmetric(v.n, rng)),
            Triangle(v.n).adjoint(rng.standard_normal(Triangle(v.n).size)),
        ]
    alone = case.A.adjoint(y)
    expected = 0.0 if alone is None else coordinates(alone, case.space)
    for u in under:
        before = 0.0 if u is None else coordinates(u, case.space)
        total = adjoint_onto(u, case.A, y)
        got = 0.0 if total is None else coordinates(total, case.space)
        np.testing.assert_allclose(got, before + expected, rtol=1e-11, atol=1e-12)
        if u is not None:
            np.testing.assert_array_equal(coordinates(u, case.space), before)


@pytest.mark.parametrize("n", [1, 2, BLOCK_ROWS, 2 * BLOCK_ROWS + 5])
def test_a_triangle_is_an_isometry_whose_adjoint_undoes_it(n):
    rng = np.random.default_rng(n)
    A, V = Triangle(n), random_symmetric(n, rng)
    assert np.linalg.norm(A(V)) == pytest.approx(np.linalg.norm(V))
    np.testing.assert_allclose(A.adjoint(A(V)).to_dense(), V, rtol=1e-15)
    y = rng.standard_normal(A.size)
    np.testing.assert_allclose(A(A.adjoint(y).to_dense()), y, rtol=1e-15)


def test_a_triangle_scaled_by_one_number_stays_one():
    A = Triangle(4, 3.0)
    assert A.scaled(np.full(10, 0.5)) == Triangle(4, 1.5)
    assert isinstance(A.scaled(np.arange(1.0, 11.0)), Scaled)


def test_a_point_with_the_wrong_number_of_blocks_is_refused():
    A = Across(Diagonal(2), Matrix(np.eye(2)))
    for x in (np.eye(2), (np.eye(2),), (np.eye(2), np.ones(2), np.ones(2))):
        with pytest.raises(ProblemError, match="Across wants a point of 2 blocks"):
            A(x)


# Large maps, which are worked out in pieces.


@pytest.mark.parametrize("rank", [0, 1, 2, 5])
@pytest.mark.parametrize(("n", "p"), [(700, 20_000), (200, 20_000), (300, 17_000), (20, 7)])
@pytest.mark.parametrize("in_order", [True, False])
def test_entries_of_low_rank_points_in_pieces_and_in_blocks(n, p, rank, in_order):
    rng = np.random.default_rng(n)
    rows, cols = rng.integers(0, n, (2, p))
    rows = np.sort(rows) if in_order else rows
    for x in (
        random_lowrank(n, rank, rng),
        LowRank(np.asfortranarray(rng.standard_normal((n, rank))), rng.standard_normal(rank)),
    ):
        expected = np.asarray(x)[rows, cols]
        np.testing.assert_allclose(Entries(n, rows, cols)(x), expected, rtol=1e-11, atol=1e-12)


def test_the_diagonal_of_a_large_low_rank_point():
    rng = np.random.default_rng(0)
    x = LowRank(rng.standard_normal((700, 30)), rng.standard_normal(30))
    np.testing.assert_allclose(Diagonal(700)(x), np.diag(np.asarray(x)), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("wrap", [np.array, sp.csr_array, aslinearoperator])
def test_quadratics_in_pieces(wrap, monkeypatch):
    monkeypatch.setattr(quadratics, "ROWS_PER_BLOCK", 3)
    monkeypatch.setattr(quadratics, "MAX_BLOCK_COLUMNS", 2)
    rng = np.random.default_rng(0)
    a, scale = rng.standard_normal((10, 5)), rng.standard_normal(10)
    A = Quadratics(wrap(a), scale)
    for x in Matrices(5).points(rng):
        expected = scale * np.einsum("ij,jk,ik->i", a, np.asarray(x), a)
        np.testing.assert_allclose(A(x), expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(A.row_norms(), np.abs(scale) * np.sum(a * a, axis=1))


def test_gradients_of_quadratics_are_not_multiplied_out():
    rng = np.random.default_rng(1)
    a, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    block = rng.standard_normal((3, 2))
    for A in (Quadratics(a), Quadratics(sp.csr_array(a)), Quadratics(aslinearoperator(a))):
        V = A.adjoint(y)
        assert V.dense is None
        assert V.sparse == ()
        for v in (block, block[:, 0]):
            np.testing.assert_allclose(V @ v, (a.T * y) @ a @ v, rtol=1e-11, atol=1e-13)


def test_lengths_that_are_given_are_not_asked_for():
    a = Counted(random_symmetric(4, np.random.default_rng(0)))
    A = Quadratics(a, lengths=[1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(A.row_norms(), [1.0, 4.0, 9.0, 16.0])
    np.testing.assert_array_equal(A.scaled(np.full(4, 2.0)).row_norms(), [2.0, 8.0, 18.0, 32.0])
    assert a.products == 0


def test_an_adjoint_shares_its_indices_and_not_its_numbers():
    for A in (Entries(4, [0, 1], [1, 3]), Inner([np.eye(4), np.ones((4, 4))])):
        first = A.adjoint(np.array([1.0, 0.0])).sparse[0]
        kept = first.toarray()
        second = A.adjoint(np.array([0.0, 1.0])).sparse[0]
        assert first.indices is second.indices
        np.testing.assert_array_equal(first.toarray(), kept)
        assert first.has_canonical_format
        assert abs(first - first.T).max() == 0


# All matrices of Inner at once.


def test_triplets_stand_for_both_triangles_and_add_up():
    A = Inner.from_triplets(
        3,
        [0, 0, 1, 1, 3, 3],
        rows=[0, 2, 1, 0, 1, 2],
        cols=[0, 1, 2, 1, 2, 1],
        values=[1.0, 2.0, 3.0, 4.0, 0.25, 0.5],
    )
    expected = np.zeros((4, 3, 3))
    expected[0, 0, 0] = 1.0
    expected[0, 2, 1] = expected[0, 1, 2] = 2.0
    expected[1, 1, 2] = expected[1, 2, 1] = 3.0
    expected[1, 0, 1] = expected[1, 1, 0] = 4.0
    expected[3, 1, 2] = expected[3, 2, 1] = 0.75
    assert A.size == 4
    np.testing.assert_array_equal(A.as_matrix().toarray(), expected.reshape(4, 9))
    more = Inner.from_triplets(3, [0], rows=[0], cols=[0], values=[1.0], size=2)
    np.testing.assert_array_equal(more(np.eye(3)), [1.0, 0.0])


def test_inner_from_its_own_matrix():
    rng = np.random.default_rng(0)
    A = Inner([random_symmetric(4, rng), sp.eye(4), sp.csr_array((4, 4))])
    B = Inner.from_matrix(A.as_matrix())
    x = random_symmetric(4, rng)
    np.testing.assert_array_equal(B(x), A(x))
    assert B.norm == pytest.approx(A.norm)


def test_rounding_in_the_symmetry_of_the_matrices_of_inner_is_removed():
    S = np.array([[1.0, 2.0], [2.0 * (1 + 1e-15), 0.0]])
    for A in (Inner([sp.csc_array(S)]), Inner.from_matrix(sp.csr_array(S.reshape(1, 4)))):
        np.testing.assert_allclose(A(np.ones((2, 2))), [5.0], rtol=1e-14)


# Norms of larger matrices.


@pytest.mark.parametrize("shape", [(450, 450), (401, 700), (700, 401), (3, 30_000)])
@pytest.mark.parametrize("kind", ["flat", "spiked", "dense end"])
def test_operator_norm_of_large_matrices(shape, kind):
    small = min(shape)
    values = {
        "flat": np.linspace(0.0, 1.0, small),
        "spiked": np.where(np.arange(small) == 0, 5.0, 1.0),
        "dense end": 1.0 - np.linspace(0.0, 1.0, small) ** 4,
    }[kind]
    a = sp.csr_array((values, (np.arange(small), np.arange(small))), shape=shape)
    assert values.max() <= operator_norm(a) * (1 + 1e-12)
    assert operator_norm(a) <= 1.05 * values.max()


def test_operator_norm_of_nothing_and_of_zero():
    assert operator_norm(np.zeros((0, 3))) == 0.0
    assert operator_norm(sp.csr_array((2, 2))) == 0.0
    assert operator_norm(sp.csr_array((500, 600))) == 0.0


@pytest.mark.parametrize("size", [1.0, 1e-150, 1e150])
def test_the_norm_of_a_cost_with_pairs_is_that_of_the_matrix(size):
    rng = np.random.default_rng(4)
    S = sp.csr_array(np.diag(rng.standard_normal(6), 1))
    pairs = tuple((rng.standard_normal(7), rng.standard_normal(7)) for _ in range(2))
    pairs += ((np.zeros(7), np.ones(7)),)
    C = Symmetric(7, sparse=(S + S.T,), diagonal=rng.standard_normal(7), pairs=pairs)
    exact = np.linalg.norm(C.to_dense())
    assert Cost(C.scaled(size)).norm == pytest.approx(size * exact, rel=1e-12)
    cancelled = Symmetric(3, sparse=(sp.csr_array(-np.ones((3, 3))),), pairs=((np.ones(3),) * 2,))
    assert 0.0 <= Cost(cancelled).norm < 1e-5
    n = 10**6
    assert Cost(Symmetric(n, pairs=((np.ones(n),) * 2,))).norm == pytest.approx(n, rel=1e-9)
    assert Cost(Symmetric(3, pairs=((np.zeros(3),) * 2,))).norm == 0.0
    nothing = Symmetric(3, sparse=(sp.csr_array(np.eye(3)),), pairs=((np.zeros(3),) * 2,))
    assert Cost(nothing).norm == pytest.approx(np.sqrt(3.0))


# What users pass.


def test_inner_takes_an_iterator_and_every_form():
    S = random_symmetric(3, np.random.default_rng(0))
    forms = [S, sp.coo_array(S), S.tolist(), Symmetric(3, dense=S)]
    A = Inner(iter(forms))
    assert A.size == 4
    assert A.n == 3
    x = random_lowrank(3, 2, np.random.default_rng(1))
    np.testing.assert_allclose(A(x), np.full(4, np.sum(S * np.asarray(x))), rtol=1e-13)


S2 = np.array([[0.0, 1.0], [2.0, 0.0]])


def triplets(owner, rows, cols, values=(1.0,), size=None):
    return Inner.from_triplets(2, owner, rows=rows, cols=cols, values=values, size=size)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Entries(3, [True], [0]), r"rows must be a vector of integers; got bool of shape"),
        (lambda: Entries(3, [[0]], [0]), r"rows must be a vector of integers; got int.* \(1, 1\)"),
        (lambda: Entries(3, [0, 1], [0]), "rows and cols differ in length: 2 and 1"),
        (lambda: Entries(3, rows=[0]), "Entries takes both rows and cols, or neither"),
        (lambda: Triangle(2, np.nan), "factor must be a finite number; got nan"),
        (lambda: Inner([]), "Inner needs at least one matrix; leave A out for no constraint"),
        (
            lambda: Inner([np.eye(2), np.eye(3)]),
            "the matrices of Inner differ in size: number 0 is 2 x 2, number 1 is 3 x 3",
        ),
        (lambda: Inner([np.eye(2) * 1j]), "matrix 0 of Inner must be Hermitian"),
        (lambda: Inner([aslinearoperator(np.eye(2))]), "must be a matrix; got a LinearOperator"),
        (lambda: Inner.from_matrix(np.eye(4)), "takes a SciPy sparse matrix .* got ndarray"),
        (lambda: Inner.from_matrix(sp.eye(3)), r"a row of n \* n numbers .* got shape \(3, 3\)"),
        (lambda: Inner.from_matrix(sp.csr_array((0, 4))), r"at least one; got shape \(0, 4\)"),
        (
            lambda: Inner.from_matrix(sp.csr_array(S2.reshape(1, 4))),
            "matrix 0 of Inner must be symmetric; it differs from its transpose by 1",
        ),
        (lambda: triplets([0], [0, 1], [0]), "rows and values differ in length: 2 and 1"),
        (
            lambda: triplets(*[np.zeros(0, int)] * 3, values=[]),
            "number of matrices must be a whole",
        ),
        (lambda: Quadratics(np.ones(3)), r"Quadratics must have 2 dimensions; got shape \(3,\)"),
        (
            lambda: Entries.rectangular((2, 3), [2], [0]),
            r"rows must lie in 0..1; got 2..2 .indices start at 0",
        ),
        (lambda: Entries.rectangular((2, 3), [1], [3]), r"cols must lie in 0..2; got 3..3"),
        (lambda: Entries.rectangular((2, 0), [1], [3]), "the number of columns must be a whole"),
        (lambda: Quadratics(np.zeros((0, 2))), r"must be at least 1 x 1; got shape \(0, 2\)"),
        (lambda: Quadratics(np.eye(2), [1.0]), "scale must have a number for each of the 2 rows"),
        (lambda: Quadratics(np.eye(2), lengths=[1.0]), "lengths must have a number for each of"),
        (lambda: LeftProduct(np.ones(3), 2), r"a of LeftProduct must have 2 dimensions; got shape"),
        (lambda: LeftProduct(np.ones((0, 3)), 2), r"must be at least 1 x 1; got shape \(0, 3\)"),
        (lambda: Matrix(np.zeros((2, 2, 2))), r"Matrix takes a 2-D array; got shape \(2, 2, 2\)"),
        (lambda: Across(Diagonal(2), Diagonal(3)), "must have images of one size; got {2, 3}"),
        (lambda: Across(), "must have images of one size"),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


# The public checker.


class Unsplit(Entries):
    """An adjoint in one triangle: right in every inner product, but not symmetric."""

    def adjoint(self, y):
        return Symmetric(self.n, sparse=(sp.csr_array((y, (self.rows, self.cols)), (3, 3)),))


class Doubled(Entries):
    """An adjoint with all of y in both triangles."""

    def adjoint(self, y):
        return super().adjoint(2.0 * y)


class Inexact(Matrix):
    def adjoint(self, y):
        return super().adjoint(y) + 1e-4 * y[0]


class OfWrongSize(Diagonal):
    @property
    def size(self):
        return self.n + 1


class WithNan(Matrix):
    def adjoint(self, y):
        return np.full(self.a.shape[1], np.nan)


class Transposed(Matrix):
    def adjoint(self, y):
        return self.a @ y


@pytest.mark.parametrize(
    ("A", "space"),
    [
        (Unsplit(3, [0], [1]), Matrices(3)),
        (Doubled(3, [0], [1]), Matrices(3)),
        (Transposed(np.arange(9).reshape(3, 3)), Vectors(3)),
        (Inexact(np.arange(6).reshape(2, 3)), Vectors(3)),
        (WithNan(np.ones((2, 3))), Vectors(3)),
        (
            Across(Matrix(np.eye(3)), Transposed(np.arange(9).reshape(3, 3))),
            Tuples((Vectors(3),) * 2),
        ),
        (Stack(Diagonal(3), Scaled(Doubled(3, [0], [1]), np.ones(1))), Matrices(3)),
    ],
    ids=["unsplit", "doubled", "transposed", "inexact", "nan", "in a block", "in a stack"],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_public_checker_refuses_a_wrong_adjoint(A, space, seed):
    points = space.points(np.random.default_rng(seed))
    with pytest.raises(ProblemError, match="the adjoint is wrong: <Ax, y> and <x, A'y> differ by"):
        check_adjoint(A, points, seed=seed)


def test_the_public_checker_refuses_nan_at_any_point():
    class Sometimes(Matrix):
        calls = 0

        def adjoint(self, y):
            Sometimes.calls += 1
            return np.full(3, np.nan) if Sometimes.calls == 2 else super().adjoint(y)

    with pytest.raises(ProblemError, match="differ by nan of their size"):
        check_adjoint(Sometimes(np.eye(3)), [np.ones(3)] * 4)


def test_the_public_checker_refuses_a_wrong_size():
    with pytest.raises(ProblemError, match=r"the map says size 4, but an image has shape \(3,\)"):
        check_adjoint(OfWrongSize(3), [np.eye(3)])


def test_an_image_that_cancels_is_no_reason_to_refuse():
    assert check_adjoint(Matrix([0.1, 0.2, -0.3]), [np.ones(3)]) < 1e-15
    assert check_adjoint(Inner([np.diag([0.1, 0.2, -0.3])]), [np.eye(3)]) < 1e-15


def test_a_matrix_free_cost_is_only_multiplied():
    operator = Counted(random_symmetric(5, np.random.default_rng(0)))
    A = Cost(Symmetric(5, operators=(operator,)))
    x = random_lowrank(5, 2, np.random.default_rng(1))
    assert A(x)[0] == pytest.approx(float(np.sum(operator.full * np.asarray(x))))
    assert operator.products == 2


def test_quadratics_too_many_to_write_down_are_not(monkeypatch):
    a = np.ones((3, 4))
    assert maps.Quadratics(a).as_matrix() is not None
    monkeypatch.setattr("condal.maps.quadratics.MAX_MATRIX_ENTRIES", 47)
    assert maps.Quadratics(a).as_matrix() is None


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_quadratics_are_written_down_in_pieces(piece, monkeypatch):
    monkeypatch.setattr(quadratics, "ENTRIES_PER_BLOCK", piece)
    rng = np.random.default_rng(0)
    a, scale = rng.standard_normal((9, 5)) * (rng.random((9, 5)) < 0.6), rng.standard_normal(9)
    a[[0, 4, 8]] = 0.0
    expected = np.einsum("i,ij,ik->ijk", scale, a, a).reshape(9, 25)
    for stored in (a, sp.coo_array(a), sp.csr_array((9, 5))):
        A = Quadratics(stored, scale).as_matrix()
        np.testing.assert_allclose(A.toarray(), expected if A.nnz else 0.0, rtol=1e-11, atol=1e-15)
        assert A.has_canonical_format


def test_quadratics_are_written_down_in_little_more_memory_than_they_take():
    A = Quadratics(np.random.default_rng(0).standard_normal((1500, 40)))
    tracemalloc.start()
    written = A.as_matrix()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    taken = written.data.nbytes + written.indices.nbytes
    assert taken <= 12 * written.nnz
    assert peak <= 1.5 * taken


def test_a_product_is_that_of_the_rectangle():
    rng = np.random.default_rng(8)
    a, x = rng.standard_normal((4, 3)), rng.standard_normal((3, 5))
    A, point = LeftProduct(a, 5), square_point(x, 3, 5)
    np.testing.assert_allclose(A(point), (a @ x).ravel(), rtol=1e-11, atol=1e-13)
    Y = rng.standard_normal((4, 5))
    corner = A.adjoint(Y.ravel()).to_dense()
    np.testing.assert_allclose(2 * corner[:3, 3:], a.T @ Y)
    assert A.adjoint(Y.ravel()).sparse[0].nnz == 2 * 15


def test_a_product_of_too_many_entries_is_not_written_down(monkeypatch):
    monkeypatch.setattr("condal.maps.products.MAX_MATRIX_ENTRIES", 3)
    assert LeftProduct(np.eye(2), 3).as_matrix() is None
