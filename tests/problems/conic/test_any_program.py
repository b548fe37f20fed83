"""What is said of random programs is true: another solver finds nothing that contradicts it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from condal.problems.conic import UnboundedTraceError, conic_model
from condal.result import Status
from random_programs import clarabel_says, random_program

TOL = 1e-4


def least(block, z):
    """By how much z is in the (self-dual) cone of the block; negative if it is not."""
    if block.kind == "psd":
        return np.linalg.eigvalsh(z.reshape(block.n, block.n))[0]
    return z.min() if block.kind == "orthant" else z[0] - np.linalg.norm(z[1:])


def assert_true(program):
    """Statuses, bounds, points and duals; True if it was solved."""
    said = clarabel_says(program)
    try:
        model = conic_model(program, max_seconds=5)
    except UnboundedTraceError:
        return False
    result = model.solve(tol=TOL, max_seconds=5)
    sense = -1.0 if program.maximise else 1.0
    unit = max(1.0, abs(said.value), np.linalg.norm(program.c.data))
    if result.status is Status.INFEASIBLE:
        assert clarabel_says(replace(program, c=0 * program.c)).status != "Solved"
        y = model.separator(result)
        assert program.b @ y < 0
    elif result.status is Status.UNBOUNDED:
        assert said.status == "DualInfeasible"
    elif said.status == "Solved":
        assert sense * (result.bound - said.value) <= 1e-6 * unit
    if result.status is not Status.SOLVED:
        return False
    assert said.status != "DualInfeasible"
    # What is infeasible by less than the tolerance is solved, and says by how much.
    assert said.status != "PrimalInfeasible" or 1e-8 < result.infeasibility <= TOL
    if said.status == "Solved":
        assert abs(result.objective - said.value) <= 20 * TOL * unit
    assert_solution(model, result, sense)
    return True


def assert_solution(model, result, sense):
    """x is a solution in the program's own terms, and y one of its dual."""
    program = model.program
    x = np.concatenate([block.ravel() for block in model.blocks(result, full=True)])
    value = float((program.c @ x)[0])
    unit = max(1.0, abs(value))
    assert value == pytest.approx(result.objective, abs=20 * TOL * unit)
    room = 50 * TOL * max(1.0, np.abs(program.b).max(initial=0.0), model.problem.infeasibility_unit)
    assert np.abs(program.A @ x - program.b).max(initial=0.0) <= room
    y = model.dual(result)
    assert program.b @ y == pytest.approx(value, abs=100 * TOL * unit)
    z = sense * (program.c.toarray().ravel() - program.A.T @ y)
    for j, block in enumerate(program.blocks):
        assert least(block, x[program.place(j)]) >= -room
        off = least(block, z[program.place(j)]) * model.trace.traces.max()
        assert off >= -100 * TOL * unit


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_programs(first):
    solved = [assert_true(random_program(seed)) for seed in range(first, first + 10)]
    assert sum(solved) >= 2  # what is never solved tests nothing


def test_rows_and_objectives_of_other_sizes_by_far():
    assert sum(assert_true(random_program(seed, wide=8)) for seed in range(100, 120)) >= 5
