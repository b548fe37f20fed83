"""When a solve stops, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.certificates.certificate import allowed_gap
from condal.errors import ProblemError
from condal.problem import Problem
from condal.result import Row, Status
from condal.runtime.arguments import require_whole

INACCURATE_TIMES = 100.0  # times tol: a proof this close is worth returning as INACCURATE
PROOF_ROUNDING = 1e-12  # of the range of f: no proof in double precision loses much less


@dataclass(frozen=True)
class Stop:
    """When to stop: at a proved gap and an infeasibility of tol, or at a limit."""

    tol: float = 1e-3
    max_iters: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        if not (_is_number(self.tol) and 0 < self.tol < np.inf):
            raise ProblemError(f"tol must be a positive number such as 1e-3; got {self.tol!r}")
        if self.max_iters is not None:
            require_whole(self.max_iters, "max_iters")
        if self.max_seconds is not None and not (
            _is_number(self.max_seconds) and self.max_seconds > 0
        ):
            raise ProblemError(f"max_seconds must be positive, or None; got {self.max_seconds!r}")

    def at_limit(self, iterations: int) -> bool:
        """Return whether this many iterations are the limit."""
        return self.max_iters is not None and iterations >= self.max_iters

    def at_rounding(self, problem: Problem, row: Row) -> bool:
        """Return whether the gap is near the rounding of any proof of it, and tol is below that."""
        ratio = self.rounding_ratio(problem, row.objective)
        tol = INACCURATE_TIMES * ratio * self.tol
        near = allowed_gap(problem, row.objective, tol)
        return ratio > 1.0 and abs(row.objective - row.bound) <= near

    def rounding_ratio(self, problem: Problem, objective: float) -> float:
        """Return the ratio of the smallest provable gap to the requested gap, at least 1."""
        smallest = PROOF_ROUNDING * problem.objective_range
        return max(1.0, smallest / allowed_gap(problem, objective, self.tol))


@dataclass
class StopReasons:
    """What speaks for stopping a method, as the stages of its run find it.

    `status` is the one place that decides why a run stops.
    """

    error: str | None = None  # a number that is not finite, or a user-supplied piece that failed
    proved: Status | None = None  # SOLVED or INFEASIBLE
    interrupted: bool = False
    out_of_time: bool = False
    at_max_iters: bool = False
    stalled: bool = False  # the method makes no progress, or can do no more
    answer_solves: bool = False  # the certificate of the answer proves tol,
    answer_is_close: bool = False  # or INACCURATE_TIMES that
    mid_step: bool = False  # an iteration was cut short: x is not that of the last state

    @property
    def status(self) -> Status | None:
        """Why the method stops; None while nothing speaks for it."""
        if self.error is not None:
            return Status.NUMERICAL_ERROR
        if self.proved is not None:
            return self.proved
        if self.interrupted:
            return Status.INTERRUPTED
        at_limit = self.out_of_time or self.at_max_iters or self.stalled
        if at_limit and self.answer_solves:
            return Status.SOLVED  # the free estimates did not show it
        if self.out_of_time:
            return Status.MAX_SECONDS
        if self.at_max_iters:
            return Status.MAX_ITERS
        if self.stalled:
            return Status.INACCURATE if self.answer_is_close else Status.STALLED
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and value is not True
