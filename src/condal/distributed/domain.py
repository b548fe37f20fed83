"""X = {x psd : tr x = trace}, its points held by ranks together."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from condal.distributed.normals import normals
from condal.distributed.oracle import Slepc
from condal.distributed.team import Team
from condal.domains import Spectrahedron
from condal.linalg.eigenvalue_bounds import from_random_start
from condal.linalg.gradients import Gradient
from condal.linalg.points import LowRank, Point
from condal.linalg.proof import Proof
from condal.linalg.symmetric import Symmetric


@dataclass(frozen=True)
class DistributedSpectrahedron(Spectrahedron):
    """The `Spectrahedron`: its oracle is SLEPc's, and its bound Lanczos from a random start, the
    numbers of which depend on the seed alone."""

    team: Any = None

    @classmethod
    def of(cls, n: int, trace: float, team: Team) -> DistributedSpectrahedron:
        """With an oracle for n rows of that team."""
        return cls(n, trace, engine=Slepc(n, team=team), team=team)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """trace l, for a proved l <= lambda_min(v)."""
        assert isinstance(v, Symmetric)
        start: Any = normals(self.team, self.n, seed=[seed, self.n])
        proof = from_random_start(
            v, start, slack=slack / self.trace, failure=failure, enough=enough / self.trace
        )
        return Proof(self.trace * proof.value, proof.how, proof.failure)

    def release(self) -> None:
        """Let the vectors of the oracle go, on all ranks at once."""
        if isinstance(self.engine, Slepc):
            self.engine.release()

    def distance(self, x: Point) -> float:
        """That of the weights, as U has columns of unit length up to what their lengths say."""
        assert isinstance(x, LowRank)
        parts = x.weights * np.einsum("ij,ij->j", x.U, x.U)
        negative = -float(np.minimum(parts, 0.0).sum())
        return negative + abs(float(np.maximum(parts, 0.0).sum()) - self.trace)
