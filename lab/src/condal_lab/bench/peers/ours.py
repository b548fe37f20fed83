"""condal itself, with default options, and a yardstick: one dense eigenvalue decomposition."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np

import condal
from condal.problem import Model, Problem, problem_of
from condal.problems.conic import ConicModel, conic_model
from condal.result import Result
from condal_lab.bench.peers.peer import CallTask, Limits, PeerAnswer


@dataclass(frozen=True)
class Eigh:
    """`numpy.linalg.eigh` of a random symmetric matrix of the side of x; it solves nothing."""

    name: str = "eigh"
    install: str = "pip install numpy"

    def version(self) -> str:
        return np.__version__

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> CallTask:
        n = getattr(problem_of(model).X, "n", 0)
        a = np.random.default_rng(0).standard_normal((n, n))
        a += a.T
        return CallTask(lambda: np.linalg.eigh(a), lambda pairs: PeerAnswer(recovered=pairs))


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
