"""When a solve stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.problem import Problem
from condal.result import Row, Status
from condal.runtime.arguments import require_whole

ALMOST = 100.0  # times tol: what is proved where methods rest, and is worth having
FINEST = 1e-12  # of what f varies by: no proof in double precision loses much less


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

    def limit(self, iterations: int) -> Status | None:
        """MAX_ITERS, if so many are enough."""
        enough = self.max_iters is not None and iterations >= self.max_iters
        return Status.MAX_ITERS if enough else None

    def is_spent(self, problem: Problem, row: Row) -> bool:
        """Whether the gap is near the rounding of any proof of it, and more was asked for."""
        times = self.times_too_fine(problem, row.objective)
        near = ALMOST * times * self.tol * problem.gap_unit(row.objective)
        return times > 1.0 and abs(row.objective - row.bound) <= near

    def times_too_fine(self, problem: Problem, objective: float) -> float:
        """How many times what is asked for the rounding of any proof of it is; 1, if it is less."""
        return max(1.0, FINEST * problem.objective_range / (self.tol * problem.gap_unit(objective)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and value is not True
