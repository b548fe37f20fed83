"""Conic programs that thresholds judge wrongly: verdicts are proved on their own data."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.errors import ProblemError
from condal.problems.conic import Block, Program, conic_model
from condal.result import Status

pytestmark = pytest.mark.usefixtures("processor_clock")


def said_of(program: Program) -> tuple[Status | None, float]:
    """The status and the objective; None if there is no answer."""
    try:
        model = conic_model(program, max_seconds=5)
        result = model.solve(tol=1e-5, max_seconds=5)
    except ProblemError:
        return None, np.nan
    return result.status, np.nan if result.x is None else model.objective(result)


@pytest.mark.parametrize("block", [Block("orthant", 2), Block("psd", 2)])
def test_costs_of_mixed_scale_do_not_hide_that_a_program_without_rows_is_unbounded(block):
    c = np.array([1e4, -1.0])
    c = np.diag(c).ravel() if block.kind == "psd" else c
    assert said_of(Program(c, sp.csr_array((0, c.size)), [], [block]))[0] is Status.UNBOUNDED


def test_nearly_parallel_rows_that_meet_are_not_infeasible():
    """x = s and x - (1 - d) s = 8 d meet at 8, and s + t = 100."""
    d = 2.0**-44
    A = [[1.0, -1.0, 0.0], [1.0, -(1 - d), 0.0], [0.0, 1.0, 1.0]]
    program = Program(np.zeros(3), A, [0.0, 8 * d, 100.0], [Block("orthant", 3)])
    assert said_of(program)[0] is not Status.INFEASIBLE


def test_a_trace_that_is_a_little_too_small_is_infeasible():
    """X01 = 1 and tr X + s = 2 - 1e-5."""
    A = [[0.0, 0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0, 1.0]]
    blocks = [Block("psd", 2), Block("orthant", 1)]
    program = Program(np.zeros(5), A, [1.0, 2 - 1e-5], blocks)
    assert said_of(program)[0] is not Status.UNBOUNDED
    clear = Program(np.zeros(5), A, [1.0, 1.9], blocks)
    assert said_of(clear)[0] is Status.INFEASIBLE


def test_contradictory_rows_are_never_unbounded():
    """x0 + x1 = 1 and x0 + x1 = 1 + 1e-10, with a cost that falls along x2."""
    A = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    program = Program([0.0, 0.0, -1.0], A, [1.0, 1 + 1e-10], [Block("orthant", 3)])
    assert said_of(program)[0] in (Status.INFEASIBLE, None)


def with_sum(n: int) -> Program:
    """max tr X with X_00 = 1 and 1'X1 + s = 3: falls along (0, 1, -1), which is no interior ray."""
    A = np.zeros((2, n * n + 1))
    A[0, 0], A[1] = 1.0, 1.0
    c = np.append(np.eye(n).ravel(), 0.0)
    return Program(c, A, [1.0, 3.0], [Block("psd", n), Block("orthant", 1)], maximise=True)


BOUNDARY_RAYS = {
    "max x22, x11 = 1": Program(
        [0.0, 0.0, 0.0, 1.0], [[1.0, 0.0, 0.0, 0.0]], [1.0], [Block("psd", 2)], maximise=True
    ),
    "rank one": with_sum(3),
    "a face of side 3": with_sum(5),
    "an entry that is fixed": Program(
        [-1.0, -1.0, 0.0], [[1, -1, 0], [0, 0, 1]], [0.0, 1.0], [Block("orthant", 3)]
    ),
    "a ray of a second-order cone": Program(
        [-1.0, 0.0, 0.0], [[-5.0, 3.0, 4.0]], [0.0], [Block("second-order", 3)]
    ),
}


@pytest.mark.parametrize("engine", ["with Clarabel", "without"])
@pytest.mark.parametrize("name", BOUNDARY_RAYS)
def test_a_ray_on_the_boundary_of_the_cone_is_proved(name, engine, monkeypatch):
    if engine == "without":
        monkeypatch.setitem(sys.modules, "clarabel", None)
    assert said_of(BOUNDARY_RAYS[name])[0] is Status.UNBOUNDED


def test_multipliers_on_the_boundary_of_the_dual_cone_are_proved():
    """3 x1 + 4 x2 - 5 x0 is at most 0 on the second-order cone, and 1 is asked for."""
    program = Program([-1.0, 0, 0], [[-5.0, 3, 4]], [1.0], [Block("second-order", 3)])
    assert said_of(program)[0] is Status.INFEASIBLE


@pytest.mark.parametrize("seed", range(8))
def test_a_planted_separator_on_the_boundary_is_found(seed):
    """-A'y is psd of low rank for y = 1, and <b, y> = 1: small integers."""
    rng = np.random.default_rng(seed)
    n, m, rank = 2 + seed % 3, 1 + seed % 2, 1 + seed % 2
    A = rng.integers(-2, 3, (m, n, n)).astype(float)
    A += A.transpose(0, 2, 1)
    H, G = rng.integers(-2, 3, (2, n, rank)).astype(float)
    A[0] = -(H @ H.T) - A[1:].sum(axis=0)
    b = np.array([float(np.sum(a * (G @ G.T))) for a in A])
    b[0] = 1.0 - b[1:].sum()
    c = rng.integers(-1, 2) * np.eye(n).ravel()
    assert said_of(Program(c, A.reshape(m, -1), b, [Block("psd", n)]))[0] is Status.INFEASIBLE


E11, E22, E12 = np.diag([1.0, 0.0]), np.diag([0.0, 1.0]), np.array([[0.0, 0.5], [0.5, 0.0]])


def psd_program(C, rows, b):
    """Maximise <C, x> over psd x with these rows."""
    A = np.array([np.ravel(row) for row in rows], dtype=float)
    return Program(np.ravel(C).astype(float), A, b, [Block("psd", len(C))], maximise=True)


@pytest.mark.parametrize(("C", "row"), [(E11, E22), (E12, E11)], ids=["ray", "no ray"])
@pytest.mark.parametrize("method", [None, "cgal"])
def test_condal_solve_does_not_believe_a_trace_that_nobody_proved(C, row, method):
    """Both are unbounded; the second has no ray along which it is."""
    model = conic_model(psd_program(C, [row], [1.0]))
    result = condal.solve(model, method)
    assert result.status is model.solve(method).status
    assert result.status in (Status.UNBOUNDED, Status.STALLED)
    assert result.bound == np.inf
    assert not result.certificate.bracket
    within = condal.solve(model.problem)  # a problem of its own, over points of bounded trace
    certificate = condal.certify(model, within.x, within.y)
    assert certificate.bound == np.inf
    assert not certificate.bracket


@pytest.mark.parametrize("seed", range(6))
def test_condal_solve_does_not_call_a_feasible_program_infeasible(seed):
    """An integer positive definite point is feasible, and vv' is an improving ray: exactly."""
    rng = np.random.default_rng(seed)
    B, v = rng.integers(-2, 3, (4, 4)), rng.integers(1, 4, 4)
    point, ray = B @ B.T + np.eye(4, dtype=int), np.outer(v, v)
    symmetric = [a + a.T for a in rng.integers(-3, 4, (2, 4, 4))]
    length = int(v @ v)
    rows = [length * a - int((a * ray).sum()) * np.eye(4, dtype=int) for a in symmetric]
    assert all((row * ray).sum() == 0 for row in rows)
    model = conic_model(psd_program(ray, rows, [float((row * point).sum()) for row in rows]))
    assert condal.solve(model).status is Status.UNBOUNDED


def test_a_resumed_solve_of_a_model_does_not_believe_it_either(tmp_path):
    model = conic_model(psd_program(E12, [E11], [1.0]))
    condal.solve(model, "cgal", max_iters=3, checkpoint=tmp_path / "run")
    result = condal.resume(tmp_path / "run", model)
    assert result.status is not Status.SOLVED
    assert result.bound == np.inf


def test_a_model_that_is_solved_is_solved_through_condal_solve_as_well():
    program = Program([1.0, 2.0], [[1.0, 1.0]], [1.0], [Block("orthant", 2)])
    model = conic_model(program)
    result = condal.solve(model, tol=1e-6, verbose=False, every_seconds=60.0)
    assert result.status is Status.SOLVED
    assert condal.certify(model, result.x, result.y).bound == pytest.approx(1.0, abs=1e-6)


def test_no_proof_of_infeasibility_holds_within_a_trace_only():
    """(1, 0, 3e4) is exactly feasible: a proof within a smaller trace proves nothing."""
    first, third, C = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    first[0, 0] = 1.0
    third[0, 2] = third[2, 0] = C[0, 1] = C[1, 0] = 0.5
    model = conic_model(psd_program(C, [first, third], [1.0, 3e4]))
    result = condal.solve(model)
    assert result.status is not Status.INFEASIBLE
    assert result.infeasible is None
    assert result.separator is None


def test_a_model_with_a_verdict_does_not_resume_its_problem(tmp_path):
    model = conic_model(psd_program(E11, [E22], [1.0]))
    condal.solve(model.problem, "cgal", max_iters=3, checkpoint=tmp_path / "run")
    assert condal.resume(tmp_path / "run", model).status is Status.UNBOUNDED
