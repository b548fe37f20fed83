"""One run of one solver on one instance, as it is asked for and as it is told."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

Outcome = Literal["solved", "short", "unproved", "time", "refused", "failed"]


@dataclass(frozen=True)
class Job:
    """Which instance, of which file, by which solver, to what tolerance, within what.

    `eps` is the tolerance that the solver is given; `tol` the one that its answer is held to.
    """

    set: str
    case: str
    solver: str
    tol: float
    eps: float
    seconds: float
    memory: int
    path: str | None = None


@dataclass(frozen=True)
class Run:
    """What became of a job.

    solved: the certified error is at most tol. short: there is an answer, and the error is more.
    unproved: an answer of which nothing is proved. time, refused, failed: no answer.
    """

    case: str
    solver: str
    tol: float
    eps: float
    outcome: Outcome
    reason: str = ""
    cpu: float | None = None
    wall: float | None = None
    memory: int | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    infeasibility: float | None = None
    certified: str = ""
    proof: str = ""
    stand_in: bool = False
    repeats: list[float] = field(default_factory=list)

    @property
    def error(self) -> float:
        """The larger of gap and infeasibility; nan if they are not known."""
        if self.gap is None or self.infeasibility is None:
            return float("nan")
        return max(self.gap, self.infeasibility)

    @property
    def answered(self) -> bool:
        """Whether there was an answer, and so a time."""
        return self.outcome in ("solved", "short", "unproved")

    def record(self) -> dict[str, Any]:
        """For JSON: what is not a finite number is None."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
