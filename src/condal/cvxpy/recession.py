"""Directions of the cone that the rows of a program without a bound do not constrain.

    minimise <c, x> subject to Ax = 0, x in the cone, the trace of all blocks 1

A direction of negative value shows that the objective is unbounded (program in s), or that there is
no x (program in z). It is computed, not proved: CVXPY calls that inaccurate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.options import Options
from condal.cvxpy.solving import flat
from condal.linalg.norms import row_squares
from condal.linalg.points import Array
from condal.problems.conic.modelling import conic_model
from condal.problems.conic.program import Program, trace_of
from condal.runtime.time_limit import TimeLimit

MIN_SLOPE = 1e-5  # of a falling objective, relative to the norm of the cost
DIRECTION_TOL = 1e-6
MAX_ITERATIONS = 300


@dataclass(frozen=True, eq=False)
class Direction:
    """An unconstrained vector of trace 1, and whether the minimised objective falls along it."""

    x: Array
    falls: bool


def least_direction(program: Program, options: Options) -> Direction | None:
    """Return the direction of least objective; None if none was found."""
    limit = TimeLimit(options.max_seconds)
    ones = np.concatenate([trace_of(block) for block in program.blocks])
    task = replace(
        program,
        c=-program.c if program.maximise else program.c,
        A=sp.vstack([_unit_rows(program.A), sp.csr_array(ones[None])]),
        b=np.append(np.zeros(program.b.size), 1.0),
        offset=0.0,
        maximise=False,
        name=f"a direction of {program.name}",
    )
    model = conic_model(task, seed=options.seed, max_seconds=limit.max_seconds)
    if model.verdict is not None:
        return None
    result = model.solve(
        tol=DIRECTION_TOL,
        seed=options.seed,
        max_seconds=limit.max_seconds,
        max_iters=MAX_ITERATIONS,
    )
    if result.x is None or result.infeasibility > 10 * DIRECTION_TOL:
        return None
    size = float(np.linalg.norm(program.c.data))
    return Direction(flat(model.blocks(result, full=True)), result.objective < -MIN_SLOPE * size)


def _unit_rows(A: Any) -> Any:
    norms = np.sqrt(row_squares(A))
    return sp.dia_array((1.0 / np.where(norms > 0, norms, 1.0)[None], [0]), (norms.size,) * 2) @ A
