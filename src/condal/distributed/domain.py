"""X = {x psd : tr x = trace}, with points that the ranks hold together."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from condal.distributed.oracle import Slepc
from condal.distributed.sharded_array import normals
from condal.distributed.team import Team
from condal.domains import Spectrahedron
from condal.linalg.eigenvalue_bounds import from_random_start
from condal.linalg.gradients import Gradient
from condal.linalg.points import LowRank, Point
from condal.linalg.proof import Proof
from condal.linalg.symmetric import Symmetric


@dataclass(frozen=True)
class DistributedSpectrahedron(Spectrahedron):
    """The `Spectrahedron` with SLEPc's oracle.

    Its bound comes from Lanczos with a random start that depends only on the seed.
    """

    team: Any = None

    @classmethod
    def of(cls, n: int, trace: float, team: Team) -> DistributedSpectrahedron:
        """Return the domain with an oracle for n rows of that team."""
        return cls(n, trace, engine=Slepc(n, team=team), team=team)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """Return trace l, for a proved l <= lambda_min(v)."""
        assert isinstance(v, Symmetric)
        start: Any = normals(self.team, self.n, seed=[seed, self.n])
        proof = from_random_start(
            v, start, slack=slack / self.trace, failure=failure, enough=enough / self.trace
        )
        return Proof(self.trace * proof.value, proof.how, proof.failure)

    def release(self) -> None:
        """Free the vectors of the oracle, on all ranks at once."""
        if isinstance(self.engine, Slepc):
            self.engine.release()

    def distance(self, x: Point) -> float:
        """Return the distance of the eigenvalues, taking the columns of U as orthogonal."""
        assert isinstance(x, LowRank)
        parts = x.weights * np.einsum("ij,ij->j", x.U, x.U)
        negative = -float(np.minimum(parts, 0.0).sum())
        return negative + abs(float(np.maximum(parts, 0.0).sum()) - self.trace)
