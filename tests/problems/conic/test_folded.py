"""Folding: slacks become inequalities and cones, blocks fall into what is joined."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import LowRank, dense
from condal.linalg.symmetric import Symmetric
from condal.maps import Diagonal, Inner, Matrix, Quadratics, Stack
from condal.problems.conic import Block, Program, conic_model
from condal.problems.conic.components import pieces
from condal.problems.conic.folded import fold
from condal.problems.conic.structure import Shape, blocks_of
from condal.result import Status
from condal.sets import Box, Equal, SecondOrder, Separable
from conic_programs import matrix, program


def with_slacks() -> Program:
    """x_11 + 2 s = 4, x_22 - t = 1, x_12 + u - v = 7 and w alone in a row, w = 3."""
    blocks = [Block("psd", 2), Block("orthant", 5)]
    rows = [
        [matrix(2, {(0, 0): 1.0}), [2.0, 0, 0, 0, 0]],
        [matrix(2, {(1, 1): 1.0}), [0, -1.0, 0, 0, 0]],
        [matrix(2, {(0, 1): 0.5}), [0, 0, 1.0, -1.0, 0]],
        [np.zeros(4), [0, 0, 0, 0, 1.0]],
    ]
    return program([np.eye(2), np.zeros(5)], rows, [4.0, 1.0, 7.0, 3.0], blocks)


def test_slacks_become_bounds_of_their_rows():
    folded = fold(with_slacks())
    assert [(part.kind, part.n) for part in folded.parts] == [("psd", 2), ("orthant", 1)]
    # The row with a slack of either sign asks for nothing.
    np.testing.assert_array_equal(folded.rows, [0, 1, 3])
    np.testing.assert_array_equal(folded.low, [-np.inf, 1.0, 3.0])
    np.testing.assert_array_equal(folded.high, [4.0, np.inf, 3.0])
    assert isinstance(Shape.of(folded).K, Box)


def test_slacks_are_found_again():
    folded = fold(with_slacks())
    X = np.array([[1.0, 2.0], [2.0, 5.0]])
    parts = (X, np.array([3.0]))
    x, u = blocks_of(folded, parts)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(u, [1.5, 4.0, 5.0, 0.0, 3.0])
    whole = np.concatenate([X.ravel(), u])
    np.testing.assert_allclose(with_slacks().A @ whole, with_slacks().b)
    # A row that asks for nothing has its slacks all the same, whatever x is kept as.
    factor = np.linalg.cholesky(X)
    x, again = blocks_of(folded, (LowRank(factor, np.ones(2)), parts[1]))
    assert isinstance(x, LowRank)
    np.testing.assert_allclose(again, u)


def test_a_slack_with_a_cost_or_in_two_rows_is_none():
    blocks = [Block("psd", 2), Block("orthant", 2)]
    rows = [
        [matrix(2, {(0, 0): 1.0}), [1.0, 1.0]],
        [matrix(2, {(1, 1): 1.0}), [0.0, 1.0]],
    ]
    folded = fold(program([np.eye(2), [1.0, 0.0]], rows, [1.0, 1.0], blocks))
    assert not folded.slacks
    assert isinstance(Shape.of(folded).K, Equal)


def test_blocks_of_side_one_are_numbers():
    blocks = [Block("psd", 1), Block("psd", 2), Block("psd", 1), Block("second-order", 1)]
    rows = [[[1.0], np.eye(2), [1.0], [1.0]], [[1.0], np.zeros(4), [-1.0], [2.0]]]
    cost = [[1.0], matrix(2, {(0, 1): 1.0}), [1.0], [1.0]]
    folded = fold(program(cost, rows, [1.0, 0.0], blocks))
    assert [(part.kind, part.n) for part in folded.parts] == [("psd", 2), ("orthant", 3)]
    np.testing.assert_array_equal(folded.parts[1].A.toarray(), [[1, 1, 1], [1, -1, 2]])
    found = blocks_of(folded, (np.eye(2), np.array([0.1, 0.2, 0.3])))
    assert [np.shape(block) for block in found] == [(1, 1), (2, 2), (1, 1), (1,)]
    assert found[2] == 0.2


def test_a_second_order_slack_makes_rows_of_a_cone():
    # t - s_1 = 0, 2 u - 2 s_2 = 0: |s_2| <= s_1 says |u| <= t.
    blocks = [Block("orthant", 2), Block("second-order", 2)]
    rows = [
        [[1.0, 0.0], [-1.0, 0.0]],
        [[0.0, 2.0], [0.0, -2.0]],
        [[1.0, 1.0], [0.0, 0.0]],
    ]
    folded = fold(program([[1.0, 0.0], [0.0, 0.0]], rows, [0.0, 0.0, 1.0], blocks))
    K = Shape.of(folded).K
    assert isinstance(K, Separable)
    assert isinstance(K.parts[1], SecondOrder)
    np.testing.assert_array_equal(folded.rows, [2, 0, 1])
    np.testing.assert_array_equal(folded.parts[0].A.toarray(), [[1, 1], [1, 0], [0, 1]])
    u = np.array([0.75, 0.25])
    found = blocks_of(folded, u)
    np.testing.assert_allclose(found[1], [0.75, 0.25])


def test_rows_that_nothing_joins_part_a_block():
    flat = [0, 1, 6, 7, 14, 21, 28, 35]  # of a 6 x 6 matrix: (0, 0), (0, 1), (1, 0), then diagonals
    found = pieces(6, np.array(flat), np.array([5]))
    assert [index.tolist() for index in found.matrices] == [[0, 1]]
    assert found.numbers.tolist() == [2, 3, 4, 5]
    # One large component is kept as it is, with all that hangs loose but for slacks.
    chain = np.array([i * 6 + i + 1 for i in range(4)] + [(i + 1) * 6 + i for i in range(4)])
    kept = pieces(6, chain, np.array([5]))
    assert [index.tolist() for index in kept.matrices] == [[0, 1, 2, 3, 4]]
    assert kept.numbers.tolist() == [5]


def test_a_diagonal_slack_inside_a_psd_block_is_one():
    # x_ii + x_(i+2)(i+2) = 1: the second half of the block is slacks.
    n = 4
    rows = [[matrix(n, {(i, i): 1.0, (i + 2, i + 2): 1.0})] for i in range(2)]
    cost = matrix(n, {(0, 1): 1.0})
    folded = fold(program([cost], rows, [1.0, 1.0], [Block("psd", n)], maximise=True))
    assert [(part.kind, part.n) for part in folded.parts] == [("psd", 2)]
    shape = Shape.of(folded)
    assert isinstance(shape.maps[0], Diagonal)
    x = LowRank(np.array([[1.0], [0.5]]), np.ones(1))
    (found,) = blocks_of(folded, x)
    full = np.asarray(dense(found))
    np.testing.assert_allclose(np.diagonal(full), [1.0, 0.25, 0.0, 0.75])
    np.testing.assert_allclose(full[:2, :2], dense(x))


def test_structure_is_recovered():
    n = 6
    u = np.array([1.0, -2.0, 1.0, 3.0, 1.0, 1.0])
    rows = [[np.outer(u, u)], *([matrix(n, {(i, i): 1.0})] for i in range(n))]
    folded = fold(program([-np.ones((n, n))], rows, np.ones(n + 1), [Block("psd", n)]))
    shape = Shape.of(folded)
    assert isinstance(shape.maps[0], Stack)
    assert [type(one) for one in shape.maps[0].maps] == [Quadratics, Diagonal]
    (cost,) = shape.costs
    assert isinstance(cost, Symmetric)
    assert len(cost.pairs) == 1
    np.testing.assert_allclose(cost.to_dense(), -np.ones((n, n)))
    x = np.random.default_rng(0).standard_normal((n, n))
    x = x @ x.T
    np.testing.assert_allclose(shape.maps[0](x), folded.parts[0].A @ x.ravel())
    y = np.arange(7.0)
    np.testing.assert_allclose(shape.maps[0].adjoint(y).to_dense().ravel(), folded.parts[0].A.T @ y)


def test_maps_agree_with_the_rows():
    shape = Shape.of(fold(with_slacks()))
    assert [type(one) for one in shape.maps] == [Inner, Matrix]
    assert shape.problem(np.ones(2)).A.size == 3


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Block("box", 2), "a block is 'psd', 'orthant' or 'second-order'; got 'box'"),
        (lambda: Block("psd", 0), "n of a block must be a whole number, at least 1"),
        (lambda: Program([], [], [], ()), "at least one block"),
        (
            lambda: Program(np.ones(3), np.ones((1, 4)), np.ones(1), (Block("psd", 2),)),
            r"wanted A of 1 x 4 and c of 1 x 4; got \(1, 4\) and \(1, 3\)",
        ),
        (
            lambda: Program(np.zeros(4), [[1.0, 1.0, 0.0, 1.0]], [1.0], (Block("psd", 2),)),
            r"with both triangles given: a row of A \(0\) is off by 1; give \(M \+ M'\)",
        ),
        (
            lambda: Program([1.0], [[1.0]], [1e200], (Block("orthant", 1),)),
            r"entries of up to 1e\+200; scale them below 1e\+150",
        ),
    ],
)
def test_a_program_that_is_none_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


def test_a_diagonal_that_may_as_well_be_full_is():
    # x_11 <= 2 and x_22 <= 3 with nothing to lose; x_33 <= 4 costs, and is left as it is.
    n = 3
    rows = [[matrix(n, {(i, i): 1.0}), np.eye(3)[i]] for i in range(n)]
    cost = matrix(n, {(0, 0): -1.0, (0, 1): 1.0, (1, 2): 1.0, (2, 2): 0.5})
    blocks = [Block("psd", n), Block("orthant", 3)]
    folded = fold(program([cost, np.zeros(3)], rows, [2.0, 3.0, 4.0], blocks))
    np.testing.assert_array_equal(folded.low, [2.0, 3.0, -np.inf])
    np.testing.assert_array_equal(folded.high, [2.0, 3.0, 4.0])
    # Another row that reads the entry keeps the bound open.
    rows.append([matrix(n, {(0, 0): 1.0, (1, 2): 1.0}), np.zeros(3)])
    folded = fold(program([cost, np.zeros(3)], rows, [2.0, 3.0, 4.0, 1.0], blocks))
    np.testing.assert_array_equal(folded.low, [-np.inf, 3.0, -np.inf, 1.0])


def test_entries_given_twice_are_added_up_and_the_callers_are_left_alone():
    A = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), (1, 2))
    found = Program(np.zeros(2), A, np.ones(1), (Block("orthant", 2),))
    np.testing.assert_array_equal(found.A.toarray(), [[3.0, 0.0]])
    assert found.A.nnz == 1
    assert A.nnz == 2


def test_rounding_off_symmetry_is_taken_out():
    c = np.array([1.0, 1.0, 1.0 + 4e-16, 1.0])
    found = Program(c, np.eye(2).reshape(1, 4), np.ones(1), (Block("psd", 2),))
    full = found.c.toarray().reshape(2, 2)
    np.testing.assert_array_equal(full, full.T)
    given = sp.csr_array(np.array([[1.0, 2.0, 3.0, 4.0]]))
    with pytest.raises(ProblemError, match="both triangles"):
        Program(given, np.eye(2).reshape(1, 4), np.ones(1), (Block("psd", 2),))
    np.testing.assert_array_equal(given.toarray(), [[1.0, 2.0, 3.0, 4.0]])


def test_what_nothing_reads_is_0():
    # Of each block a part is not read, or only costs; and a block is not read at all.
    blocks = [Block("psd", 3), Block("orthant", 3), Block("second-order", 3), Block("psd", 2)]
    rows = [
        [matrix(3, {(0, 0): 1.0}), np.zeros(3), np.zeros(3), np.zeros(4)],
        [matrix(3, {(1, 1): 1.0}), np.ones(3) * [1.0, 0.0, 0.0], np.zeros(3), np.zeros(4)],
    ]
    cost = [matrix(3, {(0, 1): 1.0}), [1.0, 0.0, 5.0], np.zeros(3), np.zeros(4)]
    folded = fold(program(cost, rows, [1.0, 1.0], blocks))
    assert [(part.kind, part.n) for part in folded.parts] == [("psd", 2), ("orthant", 1)]
    found = blocks_of(folded, (np.ones((2, 2)), np.array([0.25])))
    np.testing.assert_array_equal(found[0], np.pad(np.ones((2, 2)), (0, 1)))
    np.testing.assert_array_equal(found[1], [0.25, 0.0, 0.0])
    assert not np.any(found[2])
    assert not np.any(found[3])


def test_a_program_that_reads_nothing_has_a_point():
    given = program([np.zeros(4)], [[np.zeros(4)]], [0.0], [Block("psd", 2)])
    model = conic_model(given)
    result = model.solve()
    assert result.status is Status.SOLVED
    np.testing.assert_array_equal(model.blocks(result)[0], np.zeros((2, 2)))
