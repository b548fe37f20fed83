"""Solve the program of a form: its model, its result in the user's units, its multipliers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from condal.cvxpy.options import Options
from condal.linalg.points import Array
from condal.problems.conic.model import ConicModel, conic_model
from condal.problems.conic.program import Program
from condal.report.progress import Progress
from condal.result import Result, Status

MIN_SECONDS = 1e-3  # a time limit must be positive


@dataclass(frozen=True, eq=False)
class Solved:
    """A program's model, its result, and the result with the program's offset."""

    model: ConicModel
    raw: Result
    result: Result

    @property
    def blocks(self) -> Array:
        """The program's x as one vector."""
        return flat(self.model.blocks(self.result, full=True))

    @property
    def dual(self) -> Array:
        """The program's multipliers."""
        return self.model.dual(self.raw)

    @property
    def separator(self) -> Array:
        """y with A'y in the dual cone and <b, y> < 0: no x is feasible."""
        return self.model.separator(self.result)

    @property
    def ray(self) -> Array | None:
        """The proved direction along which the objective is unbounded; None if there is none."""
        verdict = self.model.verdict
        return None if verdict is None or verdict.ray is None else verdict.ray.x


def solve_program(program: Program, options: Options, progress: Progress | None = None) -> Solved:
    """Solve the program to a relative gap of tol in the user's units, including the offset.

    Raise ProblemError if nothing bounds the trace.
    """
    unconstrained = program.b.size == 0  # either x = 0 is optimal or the objective is unbounded
    model = conic_model(
        program,
        1.0 if unconstrained else options.trace_bound,
        seed=options.seed,
        max_seconds=options.max_seconds,
        say=None if progress is None else progress.note,
    )
    tol, result, spent = options.tol, None, model.seconds
    while True:
        result = model.solve(
            options.method,
            tol=tol,
            max_iters=options.max_iters,
            max_seconds=_left(options, spent),
            seed=options.seed,
            callback=progress,
            warm_start=result,
        )
        spent += result.seconds
        shifted = _with_offset(result, program.offset)
        if result.status is not Status.SOLVED or shifted.gap <= options.tol:
            break
        tol *= 0.5 * options.tol / shifted.gap
    change = abs(shifted.objective - program.offset)
    if unconstrained and change > options.tol * float(np.linalg.norm(program.c.data)):
        shifted = replace(shifted, status=Status.UNBOUNDED)
    return Solved(model, result, shifted)


def flat(blocks: Any) -> Array:
    """Return the blocks as one vector, matrices row by row."""
    return np.concatenate([np.asarray(block).ravel() for block in blocks])


def _with_offset(result: Result, offset: float) -> Result:
    """Return the result with the offset added to objective and bound."""
    certificate = result.certificate
    shifted = replace(
        certificate, objective=certificate.objective + offset, bound=certificate.bound + offset
    )
    return replace(result, certificate=shifted)


def _left(options: Options, spent: float) -> float | None:
    """Return the remaining seconds, always positive; None for no limit."""
    limit = options.max_seconds
    return None if limit is None else max(limit - spent, MIN_SECONDS)
