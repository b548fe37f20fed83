"""What the interior-point engine proposes for a conic program, and what is proved of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from condal.certificates.cones import Cone
from condal.certificates.verification import verify
from condal.conic import Block, Program, TraceBound, conic_model
from condal.problems.conic.proposed import proposal_for
from condal.problems.conic.verified import packed, unpacked
from condal.result import Status


def lmi(n: int, m: int, seed: int, *, maximise: bool = False) -> Program:
    """A program with interior points on both sides, whose rows bound no trace."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((m, n, n))
    rows = 0.5 * (rows + rows.transpose(0, 2, 1))
    A = np.hstack([rows.reshape(m, -1), rng.standard_normal((m, 3))])
    x = np.concatenate([np.eye(n).ravel(), np.ones(3)])
    c = x + A.T @ rng.standard_normal(m)
    sign = -1.0 if maximise else 1.0
    blocks = (Block("psd", n), Block("orthant", 3))
    return Program(sign * c, A, A @ x, blocks, maximise=maximise)


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_program_without_a_trace_bound_is_solved_from_its_proposal(seed, maximise):
    program = lmi(6, 5, seed, maximise=maximise)
    model = conic_model(program)
    assert isinstance(model.trace, TraceBound)
    assert model.trace.proposal is not None
    result = model.solve(tol=1e-7)
    assert result.status is Status.SOLVED
    assert result.method == "interior-point"
    # The bound is one that the program's own data prove, with no word about the trace.
    assert result.certificate.how.endswith("proved on own data")
    assert verify(model, result).proved
    blocks = model.blocks(result, full=True)
    x = np.concatenate([np.asarray(block).ravel() for block in blocks])
    np.testing.assert_allclose(program.A @ x, program.b, atol=1e-6)


def test_a_large_program_has_no_proposal():
    n = 400
    program = Program(sp.csr_array((1, n * n)), sp.csr_array((1, n * n)), [0.0], [Block("psd", n)])
    assert proposal_for(program) is None


def assert_solved_for_any_trace(program: Program, optimum: float) -> None:
    """Nothing bounds the trace, and the optimum is proved all the same, again from a saved y."""
    model = conic_model(program)
    assert isinstance(model.trace, TraceBound)
    assert not model.trace.proved
    result = model.solve(tol=1e-6)
    assert result.status is Status.SOLVED
    assert not model.assumes_trace(result)
    assert model.objective(result) == pytest.approx(optimum, abs=1e-5)
    assert model.bound(result) == pytest.approx(optimum, abs=1e-5)
    sense = -1.0 if program.maximise else 1.0
    assert sense * (model.bound(result) - optimum) <= 0.0
    assert verify(model, result).proved


@pytest.mark.parametrize("maximise", [False, True])
def test_a_program_is_solved_whatever_the_trace(maximise):
    sign = -1.0 if maximise else 1.0
    corner = np.array([0.0, 0.5, 0.5, 0.0])  # any diagonal will do
    assert_solved_for_any_trace(
        Program(np.zeros(4), corner[None], [1.0], [Block("psd", 2)], maximise=maximise), 0.0
    )
    costs, row = sign * np.array([1.0, -1.0]), [[1.0, -1.0]]  # all feasible points are optimal
    line = Program(costs, row, [-3.0], [Block("orthant", 2)], maximise=maximise)
    assert_solved_for_any_trace(line, -3.0 * sign)


def test_a_free_variable_is_a_difference():
    # minimise |(u, v)| subject to u + 2 v = 5, with u free and split.
    A = [[1.0, -1.0, 0.0, -1.0, 0.0], [1.0, -1.0, 0.0, 0.0, 2.0]]
    blocks = [Block("orthant", 2), Block("second-order", 3)]
    program = Program([0.0, 0.0, 1.0, 0.0, 0.0], A, [0.0, 5.0], blocks)
    assert_solved_for_any_trace(program, np.sqrt(5.0))


def test_a_row_without_entries_does_not_stop_the_engine():
    program = lmi(4, 3, 5)
    A = sp.vstack([program.A, sp.csr_array((1, program.A.shape[1]))])
    more = Program(program.c, A, [*program.b, 0.0], program.blocks)
    assert conic_model(more).solve(tol=1e-7).objective == pytest.approx(
        conic_model(program).solve(tol=1e-7).objective, rel=1e-6
    )
    contradicted = Program(program.c, A, [*program.b, 2.0], program.blocks)
    assert conic_model(contradicted).solve().status is Status.INFEASIBLE


def test_the_trace_of_a_second_order_point_is_its_first_entry():
    from condal.problems.conic.folded import fold
    from condal.problems.conic.proposed import part_traces, point_of
    from condal.problems.conic.structure import Shape

    program = Program([1.0, -0.5, -0.5], [[0.0, 1.0, 1.0]], [2.0], [Block("second-order", 3)])
    shape, proposal = Shape.of(fold(program)), proposal_for(program)
    traces = part_traces(shape, proposal)
    np.testing.assert_allclose(traces, np.sqrt(2.0), rtol=1e-6)
    np.testing.assert_array_equal(point_of(shape, proposal, traces), proposal.x)


def with_free_numbers(n: int, m: int, free: int, seed: int) -> tuple[Program, float]:
    """A program with numbers that are differences, and its optimum."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((m, n, n))
    rows, F = rows + rows.transpose(0, 2, 1), rng.standard_normal((m, free))
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    x, z = basis[:, :3] @ basis[:, :3].T, basis[:, 3:] @ basis[:, 3:].T
    y, b = rng.standard_normal(m), rows.reshape(m, -1) @ x.ravel() + F @ rng.standard_normal(free)
    C, d = np.tensordot(y, rows, 1) + z, F.T @ y
    A, c = np.hstack([F, -F, rows.reshape(m, -1)]), np.concatenate([d, -d, C.ravel()])
    return Program(c, A, b, [Block("orthant", 2 * free), Block("psd", n)]), float(b @ y)


@pytest.mark.parametrize(("n", "m", "free"), [(6, 8, 3), (10, 30, 10), (30, 120, 40)])
def test_opposite_columns_are_one_free_number(n, m, free):
    program, optimum = with_free_numbers(n, m, free, 0)
    plus, minus = program.opposites
    assert set(np.abs(plus - minus)) == {free}
    form = program.form
    assert form.cones[0] == Cone("free", free)
    x = np.random.default_rng(1).random(program.c.shape[1])
    x[2 * free :] = np.eye(n).ravel()
    again = unpacked(program, packed(program, x))
    np.testing.assert_allclose(program.A @ again, program.A @ x, atol=1e-10)
    np.testing.assert_allclose(form.A @ packed(program, x), program.A @ x, atol=1e-10)
    assert (again[: 2 * free] >= 0).all()
    model = conic_model(program)
    result = model.solve(tol=1e-6)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-5)
    assert result.bound <= optimum + 1e-9 * abs(optimum)


def test_columns_that_are_not_quite_opposite_are_not_merged():
    off = np.nextafter(-3.0, -4.0)
    A = [[1.0, -1.0, 2.0, -2.0, 0.0, 0.0], [3.0, off, 1.0, -1.0, 0.0, 0.0]]
    program = Program([1.0, -1.0, 1.0, -0.5, 0.0, 0.0], A, [1.0, 1.0], [Block("orthant", 6)])
    assert not program.opposites[0].size
