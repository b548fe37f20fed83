"""Bounds on traces: by what is cheapest, and never below what a feasible point has."""

from __future__ import annotations

import signal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.problems.conic import Block, Program, TraceBound, Verdict, conic_model
from condal.problems.conic.directions import find_ray
from condal.problems.conic.folded import fold
from condal.problems.conic.structure import Shape
from condal.problems.conic.summed_rows import diagonal_weights, exact_trace, identity_weights
from condal.problems.conic.trace import Search
from condal.problems.conic.trace_bound import Combination, combine, traces
from condal.problems.conic.verified import verified_unbounded
from condal.result import Status
from condal.runtime.limits import TimeLimit
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


@pytest.fixture
def searching(monkeypatch):
    """Search as for a program that is too large for the interior-point engine."""
    monkeypatch.setattr("condal.problems.conic.trace.proposal_for", lambda *arguments: None)


@pytest.mark.usefixtures("searching")
def test_constraints_that_bound_the_trace_together_are_found_by_phase_one():
    # <A, x> = 1 with A = I + off-diagonal, twice with other signs: neither is diagonal.
    rows = [[np.array([[1.0, 0.9], [0.9, 1.0]])], [np.array([[1.0, 0.2], [0.2, 0.5]])]]
    given = program([matrix(2, {(0, 1): 1.0})], rows, [1.0, 0.7], [Block("psd", 2)])
    found = bound_of(given)
    assert found.level == np.inf
    assert "phase one" in found.how
    # Every feasible point: x_11 + x_22 is linear in x_12 along the two rows.
    for x12 in np.linspace(-1, 1, 41):
        x11, x22 = np.linalg.solve([[1.0, 1.0], [1.0, 0.5]], [1 - 1.8 * x12, 0.7 - 0.4 * x12])
        if x11 >= 0 and x22 >= 0 and x11 * x22 >= x12**2:
            assert x11 + x22 <= found.traces[0]


def test_the_objective_bounds_the_trace_where_the_constraints_do_not():
    given, optimum = level_program()
    found = bound_of(given)
    assert found.level > optimum
    assert "objective" in found.how
    assert found.traces[0] >= 2.0  # that of the solution


def test_second_order_blocks_are_bounded_by_their_first_entry():
    given, optimum = cone_program()
    found = bound_of(given)
    assert found.traces[-1] >= optimum


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("searching")
def test_a_bound_is_never_below_the_trace_of_a_feasible_point(seed):
    rng = np.random.default_rng(seed)
    n, m = 4, 5
    F = [g + g.T for g in rng.standard_normal((m, n, n))]
    F[0] = F[0] @ F[0] + np.eye(n)
    x = rng.standard_normal((n, n))
    x = x @ x.T
    b = [float(np.sum(f * x)) for f in F]
    found = bound_of(program([np.eye(n)], [[f] for f in F], b, [Block("psd", n)]))
    assert found.level == np.inf or np.trace(x) <= found.level
    assert np.trace(x) <= found.traces[0]


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


@pytest.mark.usefixtures("searching")
def test_no_bound_on_the_objective():
    found = conic_model(unbounded()).trace
    assert isinstance(found, Verdict)
    assert found.status is Status.UNBOUNDED
    assert found.ray is not None
    x = found.ray.reshape(2, 2)
    assert np.linalg.eigvalsh(x)[0] >= -1e-12
    assert np.abs(unbounded().A @ found.ray).max() <= 1e-8
    assert x[0, 0] > 0
    assert verified_unbounded(unbounded(), found.ray, found.points)


def test_a_bounded_program_has_no_ray():
    assert find_ray(level_program()[0], seed=0, max_seconds=10) is None


@pytest.mark.usefixtures("searching")
def test_a_program_that_nothing_bounds_is_asked_about():
    # minimise 0 over x_12 = 1: any diagonal will do.
    given = program([np.zeros(4)], [[matrix(2, {(0, 1): 0.5})]], [1.0], [Block("psd", 2)])
    with pytest.raises(ProblemError, match=r"no bound on the trace.*Give trace_bound="):
        conic_model(given)
    assert conic_model(given, 4.0).solve().status is Status.SOLVED


@pytest.mark.usefixtures("searching")
def test_what_the_search_does_is_told():
    said: list[str] = []
    conic_model(unbounded(), say=said.append)
    assert any("an improving ray" in line for line in said)


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


def test_rounding_where_the_level_takes_most_of_a_bound_away():
    # trace <= most + level: both are near 1e16, and their sum is exact but for 2.
    one = Combination(np.zeros(0), np.ones(1), -1e16 - 2.0, of_objective=True)
    assert traces([one], 1, 1e16 + 4.0)[0] >= 2.0 + 1.0


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


def test_a_search_has_one_limit_for_all_that_it_solves():
    search = Search.of(Shape.of(fold(unbounded())), 0, 100.0)
    assert 90.0 < search.limits["max_seconds"] <= 100.0
    assert not search.time.is_over()
    late = Search(time=TimeLimit(1e-9))
    assert late.time.is_over()
    assert 0.0 < late.limits["max_seconds"] < 0.1
    assert Search().limits["max_seconds"] is None


def test_a_search_of_a_large_program_takes_fewer_iterations():
    small, large = (
        program(
            [np.zeros(n * n)],
            [[np.ones(n * n)]],
            [1.0],
            [Block("psd", n)],
        )
        for n in (3, 1000)
    )
    iters = [Search.of(Shape.of(fold(each)), 0, None).max_iters for each in (small, large)]
    assert iters[0] > iters[1] > 0


@pytest.mark.parametrize("which", [1, 2, 3])
@pytest.mark.usefixtures("searching")
def test_ctrl_c_during_the_search_ends_it_and_not_one_of_its_solves_alone(which, monkeypatch):
    from condal.problems.conic import directions, trace

    def pressing(true):
        def solve(problem, *, callback=None, **options):
            solves.append(problem)

            def told(row):
                if len(solves) == which and row.k == 1:
                    signal.raise_signal(signal.SIGINT)
                return callback is not None and callback(row)

            return true(problem, callback=told, **options)

        return solve

    n, rng, solves = 6, np.random.default_rng(0), []
    rows = [0.5 * (B + B.T) for B in rng.standard_normal((4, n, n))]
    A = sp.csr_array([row.ravel() for row in rows])
    G = rng.standard_normal((n, n))
    C = sp.csr_array((G @ G.T + np.eye(n)).reshape(1, -1))
    program = Program(C, A, A @ np.eye(n).ravel(), (Block("psd", n),))
    for module in (directions, trace):
        monkeypatch.setattr(module, "solve", pressing(module.solve))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            conic_model(program)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(solves) == which
