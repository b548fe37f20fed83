"""One dense eigenvalue decomposition: a unit of time for problems of side n."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condal.problem import Model, Problem, problem_of
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
