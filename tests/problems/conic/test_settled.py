"""Programs that the interior-point engine solves outright."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import condal
from condal.certificates.evaluation import EvaluatedPoint
from condal.conic import Block, Program, conic_model
from condal.problems.conic import modelling
from condal.problems.conic.folded import Deferred
from condal.result import Status
from condal.types import from_user
from condal_lab.bench.conic.instances import member
from conic_programs import max_cut_of_the_pentagon


def with_slacks(seed):
    """minimise <C, X> subject to <A_i, X> + u_i = b_i for some i, and = b_i for the others."""
    rng = np.random.default_rng(seed)
    n, m = 4, 5
    rows = rng.standard_normal((m, n, n))
    rows = 0.5 * (rows + rows.swapaxes(1, 2))
    X, y = np.diag([2.0, 1.0, 0.0, 0.0]), np.concatenate([-rng.random(3), [0.5, -0.3]])
    C = np.einsum("i,iab->ab", y, rows) + np.diag([0.0, 0.0, 1.0, 2.0])
    b = np.einsum("iab,ab->i", rows, X)
    A = np.hstack([rows.reshape(m, -1), np.eye(m, 3)])
    c = np.concatenate([C.ravel(), np.zeros(3)])
    return Program(c, A, b, [Block("psd", n), Block("orthant", 3)]), float(np.vdot(C, X))


PROGRAMS = [with_slacks(seed)[0] for seed in range(3)]
PROGRAMS += [member(family, 0)[0].program for family in ("truss", "control", "hinf", "arch")]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_certificate_is_that_of_the_problem(program):
    """Objective and price are the problem's own; units are not above its units."""
    model = conic_model(program)
    result = model.solve(tol=1e-4)
    assert result.status is Status.SOLVED
    assert model.settled is not None
    problem = model.problem
    seen = EvaluatedPoint.of(problem, from_user(problem.X, result.x))
    assert result.objective == pytest.approx(seen.objective, rel=1e-9, abs=1e-12)
    assert result.infeasibility >= seen.infeasibility * (1 - 1e-3) - 1e-12
    price, unit = problem.price(seen.Ax, problem.h.dual_point(result.y)), result.certificate.unit
    assert result.price * unit == pytest.approx(price, rel=1e-3, abs=1e-12)
    assert unit <= problem.gap_unit(result.objective)
    again = model.rechecked(result)
    assert again.bound == pytest.approx(result.bound, rel=1e-9)
    blocks = np.concatenate([np.ravel(block) for block in model.blocks(result, full=True)])
    assert np.abs(program.A @ blocks - program.b).max() <= 1e-4 * (1 + np.abs(program.b).max())


@pytest.mark.parametrize("seed", range(3))
def test_a_settled_program_has_its_optimum(seed):
    program, optimum = with_slacks(seed)
    result = conic_model(program).solve(tol=1e-6)
    assert abs(result.objective - optimum) <= 1e-5 * max(1.0, abs(optimum))
    assert result.bound <= optimum + 1e-12


def test_no_trace_is_searched_for(monkeypatch):
    def fail(*arguments):
        raise AssertionError("the trace was searched for")

    monkeypatch.setattr(modelling, "bound_traces", fail)
    model = conic_model(PROGRAMS[0])
    assert model.solve(tol=1e-4).status is Status.SOLVED
    with pytest.raises(AssertionError, match="searched"):
        _ = model.trace


def test_a_chosen_method_and_a_given_trace_are_respected():
    program, _ = with_slacks(0)
    assert conic_model(program).solve("cgal", tol=1e-2).method.startswith("cgal")
    assert conic_model(program, 10.0).settled is None
    with pytest.raises(TypeError, match="unexpected keyword argument 'tolerance'"):
        conic_model(program).solve(tolerance=1e-4)


def test_a_bound_that_the_first_engine_proved_is_not_forgotten():
    model = conic_model(max_cut_of_the_pentagon()[0])
    result = model.solve(condal.CGAL(), tol=1e-12, max_iters=1)
    assert (result.status, result.method) == (Status.MAX_ITERS, "cgal")
    assert -result.bound >= model.settled.lower > -np.inf  # it is a maximisation


def test_a_callback_sees_the_last_row():
    rows = []
    result = conic_model(PROGRAMS[0]).solve(tol=1e-4, callback=rows.append)
    np.testing.assert_equal(rows, [result.history.last])


def test_a_deferred_field_is_made_once():
    @dataclass(frozen=True, eq=False)
    class Record:
        first: int
        second: Deferred[int] = field(default=Deferred(), repr=False)

    made = []
    record = Record(1, lambda: made.append(1) or 7)
    assert not made
    assert (record.second, record.second, made) == (7, 7, [1])
    assert Record(1, 3).second == 3
