"""Solve the program of a form: its model, its result in the user's units, its multipliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from condal.cvxpy.options import Options
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.conic.model import ConicModel
from condal.problems.conic.modelling import conic_model
from condal.problems.conic.program import Program
from condal.problems.conic.trace_bound import TraceBound, UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.time_limit import TimeLimit

MAX_ATTEMPTS = 8  # each with a smaller tolerance
SEARCH_SHARE = 0.6  # of the time, at most, for the search for a bound on the trace
SMALLEST_CUT = 1e-3  # of the tolerance
NEAR = 100  # times tol: a gap that a smaller tolerance may close


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


def solve_program(
    program: Program,
    options: Options,
    progress: Progress | None = None,
    excess: Callable[[Solved], float] | None = None,
    *,
    search: bool = True,
) -> Solved:
    """Solve the program to a relative gap of tol in the user's units, including the offset.

    `excess` returns how many times tol the error of a solution is, as the judge sees it: the solve
    resumes with a smaller tolerance if it is above 1. Raise ProblemError if nothing bounds the
    trace; without `search`, only sums of rows are tried.
    """
    limit = TimeLimit(options.max_seconds)
    model = conic_model(
        program,
        options.trace_bound,
        seed=options.seed,
        max_seconds=limit.share(SEARCH_SHARE).max_seconds,
        search=search,
        say=None if progress is None else progress.note,
    )
    if isinstance(model.trace, TraceBound) and not model.trace.reached:
        raise UnboundedTraceError(f"no solution of {program.name} was found below any level")
    tol, solved = options.tol, None
    for attempt in range(MAX_ATTEMPTS):
        try:
            result = model.solve(
                options.method,
                tol=tol,
                max_iters=options.max_iters,
                max_seconds=limit.max_seconds,
                seed=options.seed,
                callback=progress,
                warm_start=None if solved is None else solved.raw,
            )
        except np.linalg.LinAlgError as error:  # rounding broke a method down
            if solved is None:
                raise ProblemError(f"the solve broke down: {error}") from error
            break
        solved = Solved(model, result, _with_offset(result, program.offset))
        over = solved.result.gap / options.tol
        near = result.status is Status.STALLED and over <= NEAR  # its bound lost a little
        if not (result.status is Status.SOLVED or near) or attempt == MAX_ATTEMPTS - 1:
            break
        if over <= 1 and excess is not None:
            over = excess(solved)
        if over <= 1:
            break
        tol *= max(0.5 / over, SMALLEST_CUT)
    assert solved is not None
    return solved


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
