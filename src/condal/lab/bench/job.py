"""One run of one solver on one instance, as it is asked for and as it is told."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

Outcome = Literal["solved", "short", "unproved", "time", "refused", "failed"]
Key = tuple[str, str, float]

MEMBER = 1e-6  # of the size of X: what is farther from X than that solves nothing


@dataclass(frozen=True)
class Job:
    """Which instance, of which file, by which solver, to what tolerance, within what.

    `eps` is the tolerance that the solver is given; `tol` the one that its answer is held to.
    `versions` are those of the solver and of what it runs on.
    """

    set: str
    case: str
    solver: str
    tol: float
    eps: float
    seconds: float
    memory: int
    path: str | None = None
    stand_in: bool = False
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What tells the job from the others of its set."""
        return self.case, self.solver, self.tol

    def facts(self) -> dict[str, Any]:
        """What its run says of how it was made, whatever becomes of it."""
        return {
            "case": self.case,
            "solver": self.solver,
            "tol": self.tol,
            "eps": self.eps,
            "stand_in": self.stand_in,
            "max_seconds": self.seconds,
            "versions": self.versions,
        }


@dataclass(frozen=True)
class Run:
    """What became of a job.

    solved: the certified error is at most tol. short: there is an answer, and the error is more.
    unproved: an answer of which nothing is proved. time, refused, failed: no answer. `outside` is
    the distance of the answer from X, over the size of X. `repeats` are the CPU times of all runs
    that were as good; `spoilt` says how the others ended.
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
    spoilt: list[str] = field(default_factory=list)
    outside: float | None = None
    max_seconds: float | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """That of its job."""
        return self.case, self.solver, self.tol

    def like(self, job: Job) -> bool:
        """Whether it was made as the job would be: on the same data, within the same, with the
        same versions."""
        made = self.stand_in, self.max_seconds, self.versions
        return self.key == job.key and made == (job.stand_in, job.seconds, job.versions)

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility and distance from X; nan if they are not known."""
        if self.gap is None or self.infeasibility is None:
            return float("nan")
        return max(self.gap, self.infeasibility, self.outside or 0.0)

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
