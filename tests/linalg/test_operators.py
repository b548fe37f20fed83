"""Gradients on symmetric matrices: every part against the sum of the parts as one dense matrix."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from condal.errors import ProblemError
from condal.linalg.gradients import add, dot
from condal.linalg.lifting import symmetric
from condal.linalg.points import LowRank
from condal.linalg.symmetric import Symmetric
from condal.linalg.triangles import BLOCK_ROWS, block_rows
from laws.spectra import exactly
from spaces import Matrices, random_lowrank, random_symmetric
from sparse_matrices import identity

N = 6


def parts(seed: int) -> dict[str, Symmetric]:
    rng = np.random.default_rng(seed)
    a, b, c, d = layer = rng.standard_normal((4, N))
    sparse = [sp.csr_array(np.where(m > 0.5, m, 0.0)) for m in (random_symmetric(N, rng),) * 2]
    return {
        "nothing": Symmetric(N),
        "sparse": Symmetric(N, sparse=(sparse[0],)),
        "two sparse": Symmetric(N, sparse=(sparse[0], sp.csc_array(random_symmetric(N, rng)))),
        "diagonal": Symmetric(N, diagonal=a),
        "dense": Symmetric(N, dense=random_symmetric(N, rng)),
        "lower": Symmetric(N, lower=random_symmetric(N, rng)),
        "pair": Symmetric(N, pairs=((a, b),)),
        "two pairs": Symmetric(N, pairs=((a, b), (c, d))),
        "gram": Symmetric(N, grams=((rng.standard_normal((9, N)), rng.standard_normal(9)),)),
        "sparse gram": Symmetric(
            N, grams=((sp.csr_array(np.where(layer > 0, layer, 0.0)), c[:4]),)
        ),
        "operator": Symmetric(N, operators=(aslinearoperator(random_symmetric(N, rng)),)),
        "all": Symmetric(
            N,
            sparse=(sparse[1],),
            diagonal=d,
            dense=random_symmetric(N, rng),
            lower=random_symmetric(N, rng),
            pairs=((c, a),),
            grams=((rng.standard_normal((2, N)), np.array([1.0, -2.0])),),
            operators=(aslinearoperator(random_symmetric(N, rng)),),
        ),
    }


KINDS = list(parts(0))


def full(V: Symmetric) -> np.ndarray:
    return np.array(exactly(V), dtype=float)


@pytest.fixture(params=KINDS)
def V(request):
    return parts(1)[request.param]


def test_the_assembled_matrix_is_the_sum_of_the_parts(V):
    np.testing.assert_allclose(V.to_dense(), full(V), rtol=1e-11, atol=1e-14)
    np.testing.assert_array_equal(V.to_dense(), V.to_dense().T)
    assert V.shape == (N, N)


def test_products_with_vectors_and_blocks(V):
    block = np.random.default_rng(2).standard_normal((N, 3))
    expected = full(V) @ block
    np.testing.assert_allclose(V @ block, expected, rtol=1e-11, atol=1e-13)
    for strided in (block, np.asfortranarray(block)):
        np.testing.assert_allclose(V @ strided[:, 1], expected[:, 1], rtol=1e-11, atol=1e-13)


def test_products_leave_their_vectors_and_parts_alone(V):
    before, v = V.to_dense(), np.ones(N)
    image = V @ v
    image += 1.0
    V.to_dense()[:] = 0.0
    np.testing.assert_array_equal(v, np.ones(N))
    np.testing.assert_array_equal(V.to_dense(), before)


def test_above_the_diagonal_blocks_of_a_lower_nothing_is_read():
    n = 2 * BLOCK_ROWS + 5
    rng = np.random.default_rng(5)
    full, more = random_symmetric(n, rng), random_symmetric(n, rng)
    lower = full.copy()
    for here in block_rows(n):
        lower[here, here.stop :] = np.nan
    V = Symmetric(n, lower=lower)
    block, rest = rng.standard_normal((n, 3)), Symmetric(n, dense=more)
    np.testing.assert_array_equal(V.to_dense(), full)
    for W in (V + rest, rest + V, V + Symmetric(n, lower=more)):
        np.testing.assert_array_equal(W.to_dense(), full + more)
    np.testing.assert_allclose(V @ block, full @ block, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(V @ block[:, 0], full @ block[:, 0], rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(V.scaled(2.0).to_dense(), 2.0 * full)
    np.testing.assert_allclose(V.absolute_row_sums(), np.abs(full).sum(axis=1))
    np.testing.assert_array_equal(V.diag(), np.diag(full))


def test_products_with_blocks_that_take_several_pieces():
    rng, n = np.random.default_rng(6), 300
    V = Symmetric(
        n,
        sparse=tuple(sp.csr_array(np.where(m > 1.5, m, 0.0)) for m in (random_symmetric(n, rng),)),
        diagonal=rng.standard_normal(n),
        pairs=((rng.standard_normal(n), rng.standard_normal(n)),) * 2,
        grams=((rng.standard_normal((500, n)), rng.standard_normal(500)),),
    )
    block = rng.standard_normal((n, 80))
    np.testing.assert_allclose(V @ block, V.to_dense() @ block, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(V @ block[:, 0], V.to_dense() @ block[:, 0], rtol=1e-11, atol=1e-9)


def test_an_operator_that_gives_its_argument_back_is_not_written_on():
    echo = LinearOperator((N, N), matvec=lambda v: v, matmat=lambda v: v, dtype=np.float64)
    V, v = Symmetric(N, operators=(echo, echo)), np.ones((N, 2))
    np.testing.assert_array_equal(V @ v, np.full((N, 2), 2.0))
    np.testing.assert_array_equal(v, np.ones((N, 2)))


@pytest.mark.parametrize("c", [1.0, -2.5, 0.0])
def test_scaled(V, c):
    np.testing.assert_allclose(V.scaled(c).to_dense(), c * full(V), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("first", "second"), [*product(KINDS, repeat=2)])
def test_sums(first, second):
    a, b = parts(1)[first], parts(3)[second]
    np.testing.assert_allclose((a + b).to_dense(), full(a) + full(b), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(add(a, b).to_dense(), full(a) + full(b), rtol=1e-11, atol=1e-13)


def test_inner_products_with_points(V):
    rng = np.random.default_rng(4)
    for x in [*Matrices(N).points(rng), random_lowrank(N, 9, rng)]:
        expected = float(np.sum(full(V) * np.asarray(x)))
        assert V.quadratic(x) == pytest.approx(expected, abs=1e-12)
        assert dot(V, x) == V.quadratic(x)


def test_the_sparse_matrix_of_a_factorable_one(V, request):
    kind = request.node.callspec.params["V"]
    factorable = {"nothing", "sparse", "two sparse", "diagonal"}
    assert V.factorable == (kind in factorable)
    if V.factorable:
        np.testing.assert_allclose(V.to_sparse().toarray(), full(V), rtol=1e-11, atol=1e-14)


def test_explicit_multiplies_the_operators_out(V):
    known = V.explicit()
    assert not known.operators
    np.testing.assert_allclose(known.to_dense(), full(V), rtol=1e-11, atol=1e-14)


def test_absolute_row_sums_bound_those_of_the_matrix(V):
    sums = V.absolute_row_sums()
    if V.operators:
        assert sums is None
    else:
        assert np.all(sums >= np.abs(full(V)).sum(axis=1) * (1 - 1e-15))


@pytest.mark.parametrize("kind", ["sparse", "diagonal", "dense"])
def test_absolute_row_sums_of_one_part_are_exact(kind):
    V = parts(1)[kind]
    np.testing.assert_allclose(V.absolute_row_sums(), np.abs(full(V)).sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_assembly_error_bounds_the_rounding_of_the_assembly(seed):
    rng = np.random.default_rng(seed)
    layers = [sp.csr_array(random_symmetric(3, rng) * 10.0**k) for k in (0, 8, 3)]
    V = Symmetric(
        3,
        sparse=tuple(layers),
        diagonal=rng.standard_normal(3),
        dense=-layers[1].toarray() * (1 + 1e-9),
        pairs=((rng.standard_normal(3) * 1e8, rng.standard_normal(3)),),
    )
    exact = exactly(V)
    rounded = V.to_dense()
    # |E|_F in rational arithmetic up to the very last step.
    errors = [exact[i][j] - Fraction(rounded[i, j]) for i, j in product(range(3), repeat=2)]
    assert 0 < float(sum(e * e for e in errors)) ** 0.5 <= V.assembly_error()
    assert V.assembly_error() < 1e-13 * np.abs(layers[1].toarray()).max() * 100


def test_assembly_error_is_unknown_behind_an_operator():
    assert parts(1)["operator"].assembly_error() == np.inf


def test_add_takes_nothing_for_zero():
    V = parts(1)["sparse"]
    assert add(None, V) is V
    assert add(V, None) is V
    with pytest.raises(ProblemError, match="neither an objective nor a constraint"):
        add(None, None)


def test_add_and_dot_go_into_tuples():
    V, W = parts(1)["dense"], parts(3)["dense"]
    total = add((V, np.arange(3.0)), (W, np.ones(3)))
    x = (np.eye(N), np.array([1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(total[1], [1.0, 2.0, 3.0])
    assert dot(total, x) == pytest.approx(np.trace(full(V) + full(W)) + 7.0)


def test_gradients_of_different_sizes_are_not_added():
    with pytest.raises(ProblemError, match=r"different sizes, .2, 2. and .3, 3., cannot be added"):
        Symmetric(2) + Symmetric(3)


# symmetric(): what users pass as C; its forms are tried in tests/faults/test_input_forms.py.

C = np.array([[1.0, 2.0, 0.0], [2.0, 0.0, -1.0], [0.0, -1.0, 3.0]])


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rounding_in_the_callers_symmetry_is_removed(wrap):
    skew = np.triu(np.full((3, 3), 1e-13), 1)
    V = symmetric(wrap(C + skew))
    assert symmetric(V) is V
    image = V.to_dense()
    np.testing.assert_array_equal(image, image.T)
    np.testing.assert_allclose(image, C + 0.5 * (skew + skew.T), rtol=0, atol=1e-15)
    columns = V @ np.eye(3)
    np.testing.assert_array_equal(columns, columns.T)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (sp.csr_array((2, 3)), r"C must be a square matrix, at least 1 x 1; got shape \(2, 3\)"),
        (np.zeros((0, 0)), r"C must be a square matrix, at least 1 x 1; got shape \(0, 0\)"),
        (aslinearoperator(np.ones((2, 3))), r"C must be a square matrix, .* got shape \(2, 3\)"),
        (np.ones(3), r"C must have 2 dimensions; got shape \(3,\)"),
        (sp.csr_array([[0, 1], [2, 0]]), r"C must be symmetric; the largest \|C - C'\| is 1"),
        (aslinearoperator(np.triu(np.ones((50, 50)))), "C must be symmetric"),
        (
            np.eye(2) * 1j,
            r"C must be Hermitian; the largest \|C - C\*\| is 2: pass \(C \+ C\*\) / 2",
        ),
        (aslinearoperator(1j * np.eye(3)), "C must be Hermitian"),
        (np.array([[1, np.inf * 1j], [0, 1]]), "the (real|imaginary) part of C has the value"),
        (np.ones((2, 3)) * 1j, r"C must be a square matrix, .* got shape \(2, 3\)"),
        ("text", "C must be an array of real numbers; got str"),
    ],
)
def test_symmetric_refuses(given, text):
    with pytest.raises(ProblemError, match=text):
        symmetric(given)


def test_a_point_of_rank_none_has_no_inner_product():
    assert parts(1)["all"].quadratic(LowRank(np.zeros((N, 0)), np.zeros(0))) == 0.0


def test_a_merged_gradient_is_the_same_in_fewer_parts():
    rng = np.random.default_rng(5)
    part = sp.csr_array(sp.diags([1.0, 2.0, 1.0], [-1, 0, 1], (6, 6)))
    V = Symmetric(
        6,
        sparse=(part, 2 * part),
        diagonal=rng.standard_normal(6),
        pairs=((np.ones(6), np.ones(6)),),
    )
    merged = V.merged()
    np.testing.assert_allclose(merged.to_dense(), V.to_dense(), rtol=1e-11, atol=1e-15)
    assert (len(merged.sparse), merged.diagonal, len(merged.pairs)) == (1, None, 1)
    assert merged.merged() is merged


def test_an_operator_with_other_terms_keeps_its_class():
    class Counted(Symmetric):
        pass

    ones = identity(3)
    operator = aslinearoperator(np.eye(3))
    V = Counted(3, sparse=(ones,), diagonal=np.ones(3), operators=(operator,))
    for changed in (V.merged(), V.explicit(), V.map_operators(lambda op: 2 * op)):
        assert type(changed) is Counted
    np.testing.assert_array_equal(V.map_operators(lambda op: 2 * op).to_dense(), 4 * np.eye(3))
    assert Symmetric(3).map_operators(lambda op: 1 / 0).terms == ()


def test_a_scaled_matrix_shares_the_pattern_of_the_first_and_no_more():
    S = sp.csr_array(np.array([[0.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 0.0]]))
    twice = Symmetric(3, sparse=(S,)).scaled(2.0).sparse[0]
    assert np.shares_memory(twice.indices, S.indices)
    assert not np.shares_memory(twice.data, S.data)
    assert np.array_equal(twice.toarray(), 2 * S.toarray())
    unsorted = sp.csr_array((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2, 2])), (2, 2))
    other = Symmetric(2, sparse=(unsorted,)).scaled(3.0).sparse[0]
    unsorted.sort_indices()  # which moves the numbers of one, and not of the other
    assert np.array_equal(other.toarray(), 3 * unsorted.toarray())
