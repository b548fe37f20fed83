"""When a solve stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.points import require_whole
from condal.result import Status


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

    def limit(self, iterations: int, seconds: float) -> Status | None:
        """The limit that is reached, if one is."""
        if self.max_iters is not None and iterations >= self.max_iters:
            return Status.MAX_ITERS
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return Status.MAX_SECONDS
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and value is not True
