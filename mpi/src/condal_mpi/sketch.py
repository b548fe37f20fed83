"""A sketch of x whose rows are owned by ranks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, svd

from condal.linalg.points import Array
from condal.storage.sketch import Sketch
from condal_mpi.sharded_array import ShardedArray, normals
from condal_mpi.team import Team


class DistributedSketch(Sketch):
    """S = x Omega, n x R: the `Sketch` with the rows of S and Omega distributed over ranks.

    Omega depends only on the seed, not on the number of ranks. For small matrices, which all ranks
    have, the factors of the first rank count: other processors may round differently, and take a
    nearly indefinite matrix for an indefinite one.

    Parameters
    ----------
    n : int
        The number of rows.
    R : int
        The rank of the sketch.
    team : Team
        The ranks.
    seed : int
        The seed of Omega.
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
        root: Array | None = None
        with suppress(LinAlgError):
            root = super()._root(core)
        root = self.team.agreed(root)
        if root is None:
            raise LinAlgError("the core of the sketch is not definite")
        return root

    def _solved(self, S: Any, L: Array) -> Any:
        return ShardedArray(super()._solved(S.local, L), self.team)

    def _decomposed(self, B: Any) -> tuple[Any, Array]:
        columns, top = np.linalg.qr(B)
        turned, sigma, _ = self.team.agreed(svd(top, full_matrices=False))
        return columns @ turned, sigma
