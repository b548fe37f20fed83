"""Solve the program of a form, or find a row that shows that it has no solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import nan
from typing import Any

import numpy as np
from cvxpy.error import SolverError

from condal.driver.run_record import Stop
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.conic.model import ConicModel
from condal.problems.conic.modelling import conic_model
from condal.problems.conic.program import Block, Program
from condal.problems.conic.trace_bound import TraceBound, UnboundedTraceError
from condal.report.progress import Progress
from condal.result import Result, Status
from condal.runtime.arguments import require_positive, require_whole
from condal.runtime.limits import TimeLimit
from condal.types import Method

MAX_ATTEMPTS = 8  # each with a smaller tolerance
SEARCH_SHARE = 0.6  # of the time, at most, for the search for a bound on the trace
SMALLEST_CUT = 1e-3  # of the tolerance
NEAR = 100  # times tol: a gap that a smaller tolerance may close
CVXPY_OPTIONS = {"use_quad_obj"}  # options that CVXPY itself reads


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
        return None if verdict is None else verdict.ray


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
        max_seconds=limit.share(SEARCH_SHARE).max_seconds,
        search=search,
    )
    trace = model.trace
    if isinstance(trace, TraceBound) and not trace.proved and trace.proposal is None:
        raise UnboundedTraceError(f"nothing bounds the trace of {program.name}")
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
        certificate,
        objective=certificate.objective + offset,
        bound=certificate.bound + offset,
        unit=nan,
    )
    return replace(result, certificate=shifted)


@dataclass(frozen=True)
class Options:
    """The options of `condal.solve` that apply here, and a bound on the trace.

    Iterations are limited by default, because other solvers of CVXPY end by themselves.
    """

    tol: float = 1e-4
    trace_bound: float | None = None
    max_iters: int | None = 5_000
    max_seconds: float | None = None
    method: Method | str | None = None
    seed: int | None = None
    warm_start: bool = field(default=False, compare=False)  # CVXPY passes it with each solve

    def __post_init__(self) -> None:
        Stop(self.tol, self.max_iters, self.max_seconds)
        require_positive(self.tol, "tol")  # 0 is for runs to a limit, and CVXPY wants an answer
        if self.seed is not None:
            require_whole(self.seed, "seed", least=0)
        if self.trace_bound is not None:
            require_positive(self.trace_bound, "trace_bound")

    def updated(self, given: Mapping[str, Any]) -> Options:
        """Return the options with those passed to `problem.solve`."""
        changes = {name: value for name, value in given.items() if name not in CVXPY_OPTIONS}
        known = [each.name for each in fields(self) if each.name != "warm_start"]
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise SolverError(
                f"CONDAL has no option {', '.join(map(repr, unknown))}; it has {', '.join(known)}, "
                "and verbose"
            )
        return replace(self, **changes)


def refuting_row(program: Program) -> Array | None:
    """Return y, nonzero in one row, with A'y in the dual cone and <b, y> < 0; or None.

    Entries of an orthant, diagonal entries and the first entry of a second-order block are never
    negative. A row of such entries, with coefficients >= 0 and b < 0 or vice versa, is infeasible
    without any bound.
    """
    A, b = program.A, program.b
    if A.nnz == 0:
        return None
    block = program.owners(A.indices)
    steps = np.array([_step(cone) for cone in program.blocks])[block]
    nonnegative = (A.indices - program.offsets[block]) % steps == 0
    owner = np.repeat(np.arange(b.size), np.diff(A.indptr))
    counts = [
        np.bincount(owner[of], minlength=b.size) for of in (~nonnegative, A.data < 0, A.data > 0)
    ]
    other, negative, positive = (count > 0 for count in counts)
    rows = np.flatnonzero(~other & (((b < 0) & ~negative) | ((b > 0) & ~positive)))
    if rows.size == 0:
        return None
    y = np.zeros(b.size)
    y[rows[0]] = -np.sign(b[rows[0]])
    return y


def _step(block: Block) -> int:
    """Return the distance from one entry that is never negative to the next."""
    return {"orthant": 1, "psd": block.n + 1, "second-order": block.n}[block.kind]
