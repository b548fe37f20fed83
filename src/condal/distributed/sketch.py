"""x kept as a sketch, each rank its rows."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, svd

from condal.distributed.normals import normals
from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team
from condal.linalg.points import Array
from condal.storage import Sketch


class DistributedSketch(Sketch):
    """S = x Omega, n x R: the `Sketch`, its rows and those of Omega owned by ranks.

    The numbers of Omega depend on the seed alone, not on how many ranks there are. Of small
    matrices, which all ranks have, the first one's factors count: other processors round otherwise,
    and what is hardly definite, or turned at will, they may take for something else.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = (*Sketch.checkpoint_fields, "team")

    def __init__(self, n: int, R: int, *, team: Team, seed: int = 0) -> None:
        self.team = team
        super().__init__(n, R, seed=seed)

    def _nothing(self) -> Any:
        begin, end = self.team.range(self.n)
        return ShardedArray(np.zeros((end - begin, self.R)), self.team)

    def _random(self) -> Any:
        return normals(self.team, self.n, seed=self._seed, columns=self.R)

    def _unit(self) -> Any:
        begin, end = self.team.range(self.n)
        return ShardedArray(np.eye(end - begin, self.R, k=begin), self.team)

    def _root(self, core: Array) -> Array:
        found: Array | None = None
        with suppress(LinAlgError):
            found = super()._root(core)
        found = self.team.agreed(found)
        if found is None:
            raise LinAlgError("the core of the sketch is not definite")
        return found

    def _solved(self, S: Any, L: Array) -> Any:
        return ShardedArray(super()._solved(S.local, L), self.team)

    def _decomposed(self, B: Any) -> tuple[Any, Array]:
        """By a QR factorisation of each rank's rows, and one of the triangles that they leave."""
        local, triangle = np.linalg.qr(B.local)
        triangles = self.team.gathered(triangle)
        end = sum(len(one) for one in triangles[: self.team.rank + 1])
        columns, top = np.linalg.qr(np.vstack(triangles))
        turned, sigma, _ = svd(top, full_matrices=False)
        columns, turned, sigma = self.team.agreed((columns, turned, sigma))
        return ShardedArray(local @ (columns[end - len(triangle) : end] @ turned), self.team), sigma
