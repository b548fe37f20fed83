"""Bounds on traces: by what is cheapest, and never below what a feasible point has."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.problems.conic import Block, Program, TraceBound, Verdict, conic_model
from condal.problems.conic.folded import fold
from condal.problems.conic.structure import Shape
from condal.problems.conic.summed_rows import diagonal_weights, exact_trace, identity_weights
from condal.problems.conic.trace_bound import Combination, combine, traces
from condal.problems.conic.verified import verified_unbounded
from condal.result import Status
from conic_programs import (
    cone_program,
    infeasible,
    level_program,
    matrix,
    max_cut_of_the_pentagon,
    program,
    several_blocks,
    unbounded,
)


def bound_of(given, **options) -> TraceBound:
    found = conic_model(given, **options).trace
    assert isinstance(found, TraceBound)
    return found


def test_a_fixed_diagonal_is_the_trace():
    found = bound_of(max_cut_of_the_pentagon()[0])
    assert found.exact
    assert found.traces.tolist() == [5.0]
    assert found.how == "constraints add up to the trace"


def test_fractions_of_rows_that_add_up_are_seen_exactly():
    # 3 x_11 = 1, 7 x_22 = 2: a trace of 1/3 + 2/7, which no sum of doubles is.
    rows = [[matrix(2, {(0, 0): 3.0})], [matrix(2, {(1, 1): 7.0})]]
    given = program([matrix(2, {(0, 1): 1.0})], rows, [1.0, 2.0], [Block("psd", 2)])
    folded = fold(given)
    y = identity_weights(folded)
    assert y is not None
    assert exact_trace(folded, y) == Fraction(1, 3) + Fraction(2, 7)
    assert bound_of(given).exact


def test_rows_that_nearly_add_up_bound_and_do_not_fix_the_trace():
    rows = [[np.diag([1.0, 1.0 + 1e-11])]]
    found = bound_of(program([matrix(2, {(0, 1): 1.0})], rows, [1.0], [Block("psd", 2)]))
    assert not found.exact
    assert 1.0 <= found.traces[0] <= 1.0 + 1e-8


def at_most():
    """maximise x_12, x_11 + 2 x_22 + s = 4, 2 x_11 + x_22 + t = 5."""
    rows = [
        [np.diag([1.0, 2.0]), [1.0, 0.0]],
        [np.diag([2.0, 1.0]), [0.0, 1.0]],
    ]
    c = [matrix(2, {(0, 1): 0.5}), [0.0, 0.0]]
    return program(c, rows, [4.0, 5.0], [Block("psd", 2), Block("orthant", 2)], maximise=True)


def test_a_linear_program_over_diagonals():
    found = bound_of(at_most())
    assert not found.exact
    assert found.how == "a sum of constraints bounds it"
    assert 3.0 <= found.traces[0] <= 3.0 + 1e-6  # a third of each, at x_11 = 2 and x_22 = 1
    weights = diagonal_weights(fold(at_most()), (0,))
    np.testing.assert_allclose(weights, [1 / 3, 1 / 3])


def test_a_linear_program_tells_parts_apart():
    found = bound_of(several_blocks()[0])
    # All of the trace is 1, and u_1 has 0.5 of it.
    assert np.all(found.traces >= [0.5, 0.5, 1.0])
    assert np.all(found.traces <= 1.0 + 1e-9)


def test_second_order_blocks_are_bounded_by_their_first_entry():
    given, optimum = cone_program()
    found = bound_of(given)
    assert found.traces[-1] >= optimum


def test_a_combination_proves_what_it_says():
    shape = Shape.of(fold(at_most()))
    found = combine(shape, np.array([1.0, 1.0]))
    assert found.least[0] <= 3.0 <= found.least[0] + 1e-12
    assert 9.0 <= found.most <= 9.0 + 1e-12
    assert 3.0 <= traces([found], 1)[0] <= 3.0 + 1e-12
    # y_2 may not be negative: the second row has no lower side.
    assert combine(shape, np.array([1.0, -1.0])).y.tolist() == [1.0, 0.0]


def test_bounds_are_passed_on_from_part_to_part():
    # x <= 1 and y - 2 x <= 3 give y <= 5.
    one = Combination(np.zeros(1), np.array([1.0, 0.0]), 1.0)
    two = Combination(np.zeros(1), np.array([-2.0, 1.0]), 3.0)
    found = traces([two, one], 2)
    np.testing.assert_allclose(found, [1.0, 5.0], rtol=1e-12)
    assert np.all(found >= [1.0, 5.0])
    assert np.all(np.isinf(traces([two], 2)))


@pytest.mark.parametrize("unknown", [np.nan, -np.inf])
def test_a_part_of_which_nothing_is_known_bounds_no_other_part(unknown):
    """A least eigenvalue that overflows to nan counted as 0, and a trace of 1 was claimed."""
    found = Combination(np.ones(1), np.array([1.0, unknown]), 1.0)
    assert not found.impossible
    assert np.all(np.isinf(traces([found], 2)))
    none = Combination(np.ones(1), np.array([0.0, 1.0]), 0.0)  # the unknown part is 0
    assert np.isinf(traces([none, found], 2)[0])


def test_a_bound_that_is_given_comes_first():
    found = bound_of(max_cut_of_the_pentagon()[0], trace_bound=17.0)
    assert found.given == 17.0
    assert found.traces.tolist() == [17.0]
    with pytest.raises(ProblemError, match="trace_bound must be a positive number"):
        conic_model(max_cut_of_the_pentagon()[0], -1.0)


def test_a_bound_that_is_given_holds_for_each_block():
    """The numbers of all blocks are one part: it has the traces of the blocks together."""
    blocks = [Block("orthant", 2), Block("psd", 2), Block("second-order", 1), Block("orthant", 2)]
    A = np.ones((1, 9))
    A[0, [3, 4]] = 0.5
    found = bound_of(Program(-np.ones(9) * (A[0] == 1), A, [1.0], blocks), trace_bound=0.1)
    assert found.given == found.largest == 0.1
    assert found.traces[0] == 0.1
    assert 0.3 < found.traces[1] <= 0.3 * (1 + 1e-15)


def test_no_feasible_point_of_any_trace():
    found = conic_model(infeasible()).trace
    assert isinstance(found, Verdict)
    assert found.status is Status.INFEASIBLE
    # Farkas: A'y is psd, and <b, y> < 0.
    y = found.y
    A = infeasible().A
    assert np.linalg.eigvalsh((A.T @ y).reshape(2, 2))[0] > 0
    assert infeasible().b @ y < 0


def test_no_bound_on_the_objective():
    found = conic_model(unbounded()).trace
    assert isinstance(found, Verdict)
    assert found.status is Status.UNBOUNDED
    assert found.ray is not None
    x = found.ray.reshape(2, 2)
    assert np.linalg.eigvalsh(x)[0] >= -1e-12
    assert np.abs(unbounded().A @ found.ray).max() <= 1e-8
    assert x[0, 0] > 0
    assert verified_unbounded(unbounded(), found.ray) is not None
    assert verified_unbounded(unbounded()) is not None
    assert verified_unbounded(level_program()[0]) is None


def test_a_bound_is_asked_for_where_a_program_is_too_large_for_a_proof_without_one():
    # minimise 0 over x_12 = 1: any diagonal will do.
    n = 320
    corner = sp.csr_array(([0.5, 0.5], ([0, 0], [1, n])), (1, n * n))
    given = Program(sp.csr_array((1, n * n)), corner, [1.0], (Block("psd", n),))
    with pytest.raises(ProblemError, match=r"no bound on the trace.*Give trace_bound="):
        conic_model(given)
    assert conic_model(given, 4.0).solve().status is Status.SOLVED


def test_methods_work_around_a_proposed_point_where_no_rows_bound_the_trace():
    given, optimum = level_program()
    found = bound_of(given)
    assert not found.proved
    assert found.proposal is not None
    assert found.traces[0] >= 2.0  # that of the solution
    result = conic_model(given).solve("cgal", tol=1e-3)
    assert result.status is Status.SOLVED
    assert result.bound <= optimum


def test_a_row_without_entries_that_asks_for_something():
    rows = [[np.eye(2)], [np.zeros(4)]]
    found = conic_model(program([np.eye(2)], rows, [1.0, -2.0], [Block("psd", 2)])).trace
    assert isinstance(found, Verdict)
    assert found.status is Status.INFEASIBLE
    assert "without entries" in found.how
    fine = conic_model(program([np.eye(2)], rows, [1.0, 0.0], [Block("psd", 2)])).trace
    assert isinstance(fine, TraceBound)


def test_without_constraints_the_objective_alone_bounds_the_trace():
    given = program(
        [np.eye(2), [1.0]], [[np.zeros(4), [0.0]]], [0.0], [Block("psd", 2), Block("orthant", 1)]
    )
    found = conic_model(given)
    assert isinstance(found.trace, TraceBound)
    assert found.solve().objective == pytest.approx(0.0, abs=1e-3)


def test_rows_of_a_cone_are_no_equations():
    # x_1 = 1 and |x_2| <= x_1, by a cone of slacks: taken for equations, they would add up to 1/2.
    rows = [[[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0], [0.0, -1.0]], [[1.0, 0.0], [0.0, 0.0]]]
    blocks = [Block("orthant", 2), Block("second-order", 2)]
    given = program([[0.0, -1.0], [0.0, 0.0]], rows, [0.0, 0.0, 1.0], blocks)
    model = conic_model(given)
    assert model.trace.traces[0] >= 2.0
    result = model.solve(tol=1e-5)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(-1.0, abs=1e-4)


@pytest.mark.parametrize("block", [Block("psd", 2), Block("orthant", 2), Block("second-order", 2)])
def test_without_a_row_a_program_is_solved_by_0_or_unbounded(block):
    inside = {"psd": np.eye(2).ravel(), "orthant": np.ones(2), "second-order": np.array([1.0, 0.5])}
    c, none = inside[block.kind], np.zeros((0, block.length))
    result = conic_model(Program(c, none, np.zeros(0), (block,))).solve()
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(0.0, abs=1e-3)
    assert conic_model(Program(-c, none, np.zeros(0), (block,))).solve().status is Status.UNBOUNDED


def test_a_trace_of_no_size_has_room():
    # x_1 = 0 and x_2 + x_3 = 1, in two blocks: the first is 0, and its multiplier stays moderate.
    blocks = [Block("second-order", 2), Block("orthant", 2)]
    rows = [[[1e3, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]]
    model = conic_model(program([[1.0, -3.0], [1.0, 2.0]], rows, [0.0, 1.0], blocks))
    assert np.all(model.trace.traces >= 1e-3)
    assert model.solve(tol=1e-6).status is Status.SOLVED


def test_a_row_of_next_to_no_entries_is_not_called_empty():
    with pytest.raises(ProblemError, match=r"row 1 of A has no entry above 1e-170; scale it"):
        program([[1.0]], [[[1.0]], [[1e-170]]], [1.0, 1.0], [Block("orthant", 1)])
    small = program([[1.0]], [[[1e-140]]], [1e-140], [Block("orthant", 1)])
    assert not isinstance(conic_model(small).trace, Verdict)
