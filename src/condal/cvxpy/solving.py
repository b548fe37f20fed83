"""A form's program through condal: its model, its result in the user's units, its multipliers."""

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

SHORTEST = 1e-3  # seconds: a limit is positive


@dataclass(frozen=True, eq=False)
class Solved:
    """A program's model, its result, and that with the program's offset in objective and bound."""

    model: ConicModel
    raw: Result
    result: Result

    @property
    def blocks(self) -> Array:
        """The program's vector."""
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
        """The vector along which the objective falls for ever, where that was proved by one."""
        verdict = self.model.verdict
        return None if verdict is None or verdict.ray is None else verdict.ray.x


def solved(program: Program, options: Options, progress: Progress | None = None) -> Solved:
    """The program solved to a gap of tol in the user's units; ProblemError if nothing bounds the
    trace. What is relative to the objective is relative to that with the offset."""
    alone = program.b.size == 0  # then x = 0 is the best, or nothing is
    model = conic_model(
        program,
        1.0 if alone else options.trace_bound,
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
    moved = abs(shifted.objective - program.offset)
    if alone and moved > options.tol * float(np.linalg.norm(program.c.data)):
        shifted = replace(shifted, status=Status.UNBOUNDED)
    return Solved(model, result, shifted)


def flat(blocks: Any) -> Array:
    """The vector of blocks, matrices row by row."""
    return np.concatenate([np.asarray(block).ravel() for block in blocks])


def _with_offset(result: Result, offset: float) -> Result:
    """The result, its objective and its bound with the constant that the problem leaves out."""
    found = result.certificate
    moved = replace(found, objective=found.objective + offset, bound=found.bound + offset)
    return replace(result, certificate=moved)


def _left(options: Options, spent: float) -> float | None:
    """What is left of the time, hardly any at the least."""
    limit = options.max_seconds
    return None if limit is None else max(limit - spent, SHORTEST)
