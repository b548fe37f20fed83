"""A parametrised problem that is solved once, and again and again with new data."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condal_lab.bench.conic.question import ConicAnswer, Truth
from condal_lab.bench.conic.through_cvxpy import solver_of, violation, warm_up
from condal_lab.bench.peers.peer import Limits, PeerAnswer

TIMES = 50
OPTIMUM = -0.8346893  # the mean of the optima of all solves


def portfolio() -> tuple[Any, Any]:
    """Return risk minus return of 60 assets, and the parameter of its return."""
    import cvxpy as cp

    R = np.random.default_rng(31).standard_normal((90, 60)) / np.sqrt(90)
    mu, x = cp.Parameter(60), cp.Variable(60, nonneg=True)
    risk = cp.sum_squares(R @ x)
    return cp.Problem(cp.Minimize(risk - mu @ x), [cp.sum(x) == 1]), mu


@dataclass(frozen=True)
class ResolveQuestion:
    """A portfolio for 51 forecasts; its answer is the mean of the optima."""

    @property
    def truth(self) -> Truth:
        return Truth(optimum=OPTIMUM)

    def prepare(self, solver: str, tol: float, limits: Limits) -> ResolveTask:
        warm_up(solver, tol)
        named, options = solver_of(solver, tol)
        return ResolveTask(*portfolio(), named, options)


@dataclass
class ResolveTask:
    """A first solve and the later ones, each with CVXPY's own work."""

    problem: Any
    mu: Any
    solver: Any
    options: dict[str, Any]
    seconds: list[float] = field(default_factory=list, init=False)
    values: list[float] = field(default_factory=list, init=False)
    statuses: set[str] = field(default_factory=set, init=False)

    def solve(self) -> None:
        for forecast in np.random.default_rng(32).uniform(0.0, 1.0, (1 + TIMES, 60)):
            self.mu.value = forecast
            began = time.process_time()
            self.problem.solve(solver=self.solver, warm_start=True, **self.options)
            self.seconds.append(time.process_time() - began)
            self.values.append(float(self.problem.value))
            self.statuses.add(self.problem.status)

    def answer(self) -> PeerAnswer:
        """Return the mean of the optima, and the time of a later solve over that of the first."""
        status = self.statuses.pop() if len(self.statuses) == 1 else "several"
        first, *later = self.seconds
        share = float(np.mean(later)) / first
        value = float(np.mean(self.values))
        answer = ConicAnswer(status, value, violation(self.problem), later_share=share)
        return PeerAnswer(message=status, recovered=answer)
