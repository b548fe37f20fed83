"""One run of one solver on one instance: the job and its outcome."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from condal_lab.bench.process import finite

Outcome = Literal["solved", "short", "unproved", "wrong", "time", "refused", "failed"]
Key = tuple[str, str, float]

MAX_DISTANCE = 1e-6  # from X, over the size of X: a point farther away solves nothing


@dataclass(frozen=True)
class Job:
    """An instance and its file, a solver, a tolerance, and limits on time and memory.

    `eps` is the tolerance given to the solver, `tol` the one that its answer has to meet.
    `versions` are the versions of the solver and of the libraries below it.
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
        """Identify the job within its set."""
        return self.case, self.solver, self.tol

    def facts(self) -> dict[str, Any]:
        """Return the fields that every run of this job has, whatever its outcome."""
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
class BenchRun:
    """The outcome of a job.

    solved: the certified error is at most tol. short: there is an answer with a larger error.
    unproved: nothing is proved about the answer. wrong: it contradicts what is known about the
    instance. time, refused, failed: there is no answer.
    `outside` is the distance of the answer from X over the size of X, `quality` what the instance
    measures of it. `repeats` lists the CPU times of all runs with this outcome, `spoilt` how the
    other runs ended. `setup` is the CPU time before and after the solve, where an instance counts
    it, and `whole` the sum of both.
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
    price: float | None = None
    quality: float | None = None
    setup: float | None = None
    max_seconds: float | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """The key of its job."""
        return self.case, self.solver, self.tol

    def like(self, job: Job) -> bool:
        """Return whether the job has the same key, data, time limit and versions."""
        made = self.stand_in, self.max_seconds, self.versions
        return self.key == job.key and made == (job.stand_in, job.seconds, job.versions)

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility, price and distance from X; nan if unknown."""
        if self.gap is None or self.infeasibility is None:
            return float("nan")
        return max(self.gap, self.infeasibility, self.price or 0.0, self.outside or 0.0)

    @property
    def whole(self) -> float | None:
        """The CPU time of the solve and its setup; None if either is not measured."""
        return None if self.cpu is None or self.setup is None else self.cpu + self.setup

    @property
    def answered(self) -> bool:
        """Whether there is an answer, and therefore a time."""
        return self.outcome in ("solved", "short", "unproved", "wrong")

    def record(self) -> dict[str, Any]:
        """Return the fields for JSON, with None for numbers that are not finite."""
        return dict(finite(asdict(self)))
