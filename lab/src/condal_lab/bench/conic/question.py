"""Questions with a known answer: what a solver says about them is right, wrong or no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from condal_lab.bench.job import Outcome
from condal_lab.bench.peers.peer import Limits, PeerTask

Status = Literal["optimal", "infeasible", "unbounded"]
VERDICTS = ("optimal", "infeasible", "unbounded")
WRONG = 10.0  # times the tolerance: an optimum claimed farther away is wrong, a nearer one short


@dataclass(frozen=True)
class Truth:
    """The status of a program and, if it is optimal, its optimum."""

    status: Status = "optimal"
    optimum: float = float("nan")


@dataclass(frozen=True)
class ConicAnswer:
    """What a solver says: its status, one of `VERDICTS` or its own word, and its value.

    `violation` is the largest violation of a constraint by its point, relative to the larger of 1
    and the point; `setup` the CPU seconds before and after the solve, such as CVXPY's compilation;
    `later_share` the time of a later solve with new data over the time of the first.
    """

    status: str
    value: float = float("nan")
    violation: float = 0.0
    setup: float | None = None
    later_share: float | None = None

    def distance(self, truth: Truth) -> float:
        """Return the distance of the value from the optimum, relative to the larger of 1 and it."""
        return abs(self.value - truth.optimum) / max(1.0, abs(truth.optimum))


@runtime_checkable
class Question(Protocol):
    """A program with a known answer that every solver can be asked."""

    @property
    def truth(self) -> Truth:
        """The known answer."""

    def prepare(self, solver: str, tol: float, limits: Limits) -> PeerTask:
        """Return the solver's task, whose answer has `recovered`, a ConicAnswer."""


def judge(truth: Truth, answer: ConicAnswer, tol: float) -> Outcome:
    """Judge an answer by the truth: solved, short, wrong, or unproved for no verdict."""
    if answer.status not in VERDICTS:
        return "unproved"
    if answer.status != truth.status:
        return "wrong"
    if truth.status != "optimal":
        return "solved"
    error = max(answer.distance(truth), answer.violation)
    if not np.isfinite(error) or error > WRONG * tol:
        return "wrong"
    return "solved" if error <= tol else "short"
