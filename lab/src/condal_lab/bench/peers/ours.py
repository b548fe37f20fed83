"""condal itself: `condal.solve(problem, tol=tol)` with default options."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

import condal
from condal.problem import Model, Problem
from condal.problems.conic import ConicModel, conic_model
from condal.result import Result
from condal_lab.bench.peers.peer import Limits, PeerAnswer

SHARE_OF_TIME = 0.9  # the rest is for a last proof


@dataclass
class OursTask:
    """A solve, including its certificate and, for a conic program, the bound on the trace.

    It stops a little before its CPU time is over, to show the gap that it reached.
    """

    model: Problem | Model
    tol: float
    seconds: float
    result: Result | None = field(default=None, init=False)

    def solve(self) -> None:
        """Solve; a conic model is rebuilt, because users with a file pay for its bound too."""
        model = self.model
        fresh = conic_model(model.program) if isinstance(model, ConicModel) else model
        end = time.process_time() + SHARE_OF_TIME * self.seconds
        solve = fresh.solve if isinstance(fresh, ConicModel) else partial(condal.solve, fresh)
        self.result = solve(tol=self.tol, callback=lambda row: time.process_time() >= end)

    def answer(self) -> PeerAnswer:
        assert self.result is not None
        result = self.result
        message = f"{result.status.name.lower()} by {result.method}"
        return PeerAnswer(result.x, result.y, message=message, certificate=result.certificate)


@dataclass(frozen=True)
class Ours:
    """condal with default options."""

    name: str = "condal"
    install: str = "pip install condal"

    def version(self) -> str:
        return condal.__version__

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> OursTask:
        return OursTask(model, tol, limits.seconds)
