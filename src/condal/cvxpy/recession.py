"""What becomes of a program without a bound: directions of the cone that its rows do not see.

    minimise <c, x> subject to Ax = 0, x in the cone, the trace of all blocks 1

Of the program in z, a direction of a negative value says that there is no x; of the program in s,
that the objective falls for ever. These are numbers, and no proof: CVXPY calls that inaccurate.
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
from condal.problems.conic.model import conic_model
from condal.problems.conic.program import Program, trace_of

CLEARLY = 1e-5  # of the cost's length: how negative a direction is
TOL = 1e-6
ITERATIONS = 300  # it is no more than a look


@dataclass(frozen=True, eq=False)
class Direction:
    """A vector of the program's, of trace 1, that its rows do not see; the minimised objective
    `falls` along it, or does not change, or rises."""

    x: Array
    falls: bool


def least_direction(program: Program, options: Options) -> Direction | None:
    """The direction of the least objective; None if there is none, as far as can be told."""
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
    model = conic_model(task, seed=options.seed, max_seconds=options.max_seconds)
    if model.verdict is not None:
        return None
    result = model.solve(
        tol=TOL, seed=options.seed, max_seconds=options.max_seconds, max_iters=ITERATIONS
    )
    if result.x is None or result.infeasibility > 10 * TOL:
        return None
    size = float(np.linalg.norm(program.c.data))
    return Direction(flat(model.blocks(result, full=True)), result.objective < -CLEARLY * size)


def _unit_rows(A: Any) -> Any:
    norms = np.sqrt(row_squares(A))
    return sp.dia_array((1.0 / np.where(norms > 0, norms, 1.0)[None], [0]), (norms.size,) * 2) @ A
