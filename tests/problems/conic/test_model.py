"""Models of programs: known optima, duals and slacks in the program's own terms, and verdicts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.linalg.points import LowRank, dense
from condal.problems.conic import Block, Program, conic_model
from condal.problems.conic.verified import bound_towards, shifted
from condal.result import Status
from conic_programs import (
    cone_program,
    infeasible,
    level_program,
    matrix,
    max_cut_of_the_pentagon,
    program,
    several_blocks,
    slack_program,
    unbounded,
)

PROGRAMS = {
    "pentagon": max_cut_of_the_pentagon,
    "slack": slack_program,
    "level": level_program,
    "cone": cone_program,
    "several": several_blocks,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_optimum_point_and_dual(name):
    program, optimum = PROGRAMS[name]()
    model = conic_model(program)
    result = model.solve(tol=1e-6)
    assert result.status is Status.SOLVED
    assert model.objective(result) == pytest.approx(optimum + program.offset, abs=1e-5)
    sense = -1.0 if program.maximise else 1.0
    assert sense * (optimum + program.offset - model.bound(result)) >= -1e-12

    blocks = model.blocks(result, full=True)
    x = np.concatenate([block.ravel() for block in blocks])
    assert [np.shape(block)[0] for block in blocks] == [block.n for block in program.blocks]
    np.testing.assert_allclose(program.A @ x, program.b, atol=1e-5)
    assert (program.c @ x)[0] == pytest.approx(optimum, abs=1e-5)

    # The dual: <b, y> is the optimum, and the slack is in the dual cone.
    y = model.dual(result)
    assert program.b @ y == pytest.approx(optimum, abs=1e-4)
    z = model.slack(result)
    whole = program.c.toarray().ravel() - program.A.T @ y
    for j, (block, part) in enumerate(zip(program.blocks, z, strict=True)):
        full = part.toarray() if block.kind == "psd" else part
        np.testing.assert_allclose(full.ravel(), sense * whole[program.place(j)], atol=1e-12)
        least = (
            np.linalg.eigvalsh(full)[0]
            if block.kind == "psd"
            else full.min()
            if block.kind == "orthant"
            else full[0] - np.linalg.norm(full[1:])
        )
        assert least >= -1e-5


def test_a_max_cut_is_solved_as_one():
    model = conic_model(max_cut_of_the_pentagon()[0])
    assert isinstance(model.problem.A, condal.Diagonal)
    assert isinstance(model.problem.X, condal.Spectrahedron)
    assert not model.problem.X.at_most
    (X,) = model.blocks(model.solve(tol=1e-6))
    assert isinstance(X, LowRank)
    np.testing.assert_allclose(np.diagonal(dense(X)), 1.0)


def test_a_bound_holds_whatever_the_trace_if_the_slack_is_psd():
    program, optimum = slack_program()
    result = conic_model(program, 100.0).solve(tol=1e-4)
    assert result.bound >= optimum
    if "whatever the trace" not in result.certificate.how:
        assert "within the given trace bound" in result.certificate.how


def test_a_trace_that_excludes_the_solution_is_owned_to():
    program, optimum = slack_program()
    model = conic_model(program, 2.5)  # the solution has 3
    result = model.solve(tol=1e-5)
    assert result.objective < optimum - 1e-2
    # The bound is either of the whole program, or says that it is not.
    told = "within the given trace bound" in result.certificate.how
    assert told or result.bound >= optimum


def test_an_infeasible_program_is_a_result():
    model = conic_model(infeasible())
    result = model.solve()
    assert result.status is Status.INFEASIBLE
    assert result.x is None
    assert result.infeasible is not None
    assert result.infeasible.value > 0
    assert not result.certificate.certified
    assert "whatever its trace" in result.reason
    with pytest.raises(ProblemError, match="the result has no point"):
        model.blocks(result)


def test_an_unbounded_program_is_a_result():
    result = conic_model(unbounded()).solve()
    assert result.status is Status.UNBOUNDED
    assert result.status.value.startswith("unbounded")
    assert not result.certificate.certified


def test_only_a_program_makes_a_model():
    with pytest.raises(ProblemError, match="conic_model takes a Program; got ndarray"):
        conic_model(np.eye(2))


def test_a_verdict_is_asked_for_where_there_is_none():
    with pytest.raises(ProblemError, match="has no verdict: solve it"):
        conic_model(max_cut_of_the_pentagon()[0]).ended()


def test_what_is_infeasible_in_the_limit_only_is_not_called_solved():
    # x_11 = 0 and x_12 = 1 contradict each other, but less and less as x_22 grows.
    rows = [[matrix(2, {(0, 0): 1.0})], [matrix(2, {(0, 1): 0.5})]]
    model = conic_model(program([np.eye(2)], rows, [0.0, 1.0], [Block("psd", 2)]))
    result = model.solve(max_iters=2000)
    assert result.status is not Status.SOLVED
    assert not model.trace.proved


def test_an_infeasible_trace_is_owned_to():
    result = conic_model(max_cut_of_the_pentagon()[0], 4.0).solve()  # the diagonal has 5
    assert result.status is Status.INFEASIBLE
    assert "for points within the given trace bound only" in result.reason


def test_a_bound_of_any_trace_that_is_too_loose_does_not_undo_a_solve():
    program, _ = slack_program()
    model = conic_model(program, 100.0)
    result = model.solve(tol=1e-4)
    # Asked for all that the bound within the trace has, and no more than that.
    within = condal.solve(model.problem, tol=1e-4)
    exact = replace(within, tol=within.gap * max(1.0, abs(within.objective)))
    assert result.status is Status.SOLVED
    assert model.proved(exact).status is Status.SOLVED


@pytest.mark.parametrize("maximise", [False, True])
def test_a_huge_offset_does_not_round_a_bound_past_the_optimum(maximise):
    c = [[-1.0, -3.0]] if maximise else [[1.0, 3.0]]
    given = program(c, [[[1.0, 1.0]]], [1.0], [Block("orthant", 2)], maximise=maximise)
    for offset in (1e16 + 2, -1e16 - 2, 1e20, 0.1):
        model = conic_model(replace(given, offset=offset))
        result = model.solve(tol=1e-6)
        exact = Fraction(offset) + (-1 if maximise else 1)
        sense = -1 if maximise else 1
        assert sense * Fraction(model.bound(result)) <= sense * exact


def test_verdicts_are_proved_on_the_programs_own_data(monkeypatch):
    """What the program's own data do not prove is not issued, whatever the search for a bound
    says."""
    from condal.certificates import judge
    from condal.problems.conic import verified
    from condal.problems.conic.trace_bound import UnboundedTraceError

    infeasible = Program([0.0], [[1.0]], [-1.0], [Block("orthant", 1)])
    unbounded = Program([-1.0, 0.0], [[1.0, -1.0]], [0.0], [Block("orthant", 2)])
    assert conic_model(infeasible).ended().status is Status.INFEASIBLE
    assert conic_model(unbounded).ended().status is Status.UNBOUNDED
    monkeypatch.setattr(verified, "of_multipliers", lambda form, y: None)
    monkeypatch.setattr(judge, "proved_ray", lambda form, near: None)
    with pytest.raises(UnboundedTraceError, match="seems to be infeasible, but its own data"):
        conic_model(infeasible)
    assert conic_model(unbounded).solve().status is Status.STALLED


def test_a_bound_that_the_programs_own_data_do_not_prove_is_not_issued(monkeypatch):
    from condal.problems.conic import proposed, verified

    pentagon, optimum = max_cut_of_the_pentagon()
    model = conic_model(pentagon)
    assert model.solve(tol=1e-4).status is Status.SOLVED
    for module in (proposed, verified):
        monkeypatch.setattr(module, "proved_lower_bound", lambda form, y: -1.0 - optimum)
    assert conic_model(pentagon).solve(tol=1e-4).status is Status.STALLED
    result = replace(model, settled=None).solve(tol=1e-4)
    assert result.status is Status.STALLED
    assert result.bound == pytest.approx(1.0 + optimum)
    assert "own data" in result.reason


def in_a_folded_cone(cost):
    """Numbers u with sum u = 1 whose images are in a second-order cone, which is active."""
    B = [[0.5, 0.5, 0.5], [1.35, -0.18, 0.33], [-1.3, 1.91, -0.55]]
    A = np.zeros((4, 6))
    A[0, :3], A[1:, :3], A[1:, 3:] = 1.0, B, -np.eye(3)
    c = cost * np.array([1.5, 3.0, -1.5, 0.0, 0.0, 0.0])
    return Program(c, A, [1.0, 0, 0, 0], [Block("orthant", 3), Block("second-order", 3)])


@pytest.mark.parametrize("cost", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("method", ["cgal", "cgal-ls", "primal-dual"])
def test_multipliers_on_the_boundary_of_a_folded_cone_prove_a_bound(method, cost):
    result = conic_model(in_a_folded_cone(cost)).solve(method, tol=1e-3, max_iters=3000)
    assert result.status is Status.SOLVED
    assert result.bound > -np.inf


@pytest.mark.parametrize("cost", [1.0, 1e12])
def test_a_bound_is_what_the_programs_own_data_prove(cost):
    """The multipliers that the model returns prove it again, up to the rounding of a shift."""
    model = conic_model(in_a_folded_cone(cost))
    result = model.solve("cgal", tol=1e-3)
    assert model.rechecked(result).bound == pytest.approx(result.bound, rel=1e-9)
    y = model.dual(result)
    proved, _ = bound_towards(model.program.form, y, shifted(y, model.inward))
    assert result.bound <= proved + 1e-12 * cost
