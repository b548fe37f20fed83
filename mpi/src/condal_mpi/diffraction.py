"""Intensities of masked images whose masks are distributed over ranks.

Each rank has some masks and the numbers of their patterns. The image, and every vector of its size,
is on all ranks, which repeat the same arithmetic on it. So the oracle and the proofs are those of
one process; only a product with the gradient is summed over the ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from condal.domains.lifted import Hermitian
from condal.linalg.points import Array, Point, local_rows
from condal.linalg.symmetric import Symmetric
from condal.maps.quadratics import Quadratics
from condal.smooth.losses import LeastSquares
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team


@dataclass(frozen=True, eq=False)
class DistributedDiffraction:
    """The intensities of all masks; an image has those of this rank's masks as its local rows.

    Parameters
    ----------
    own : Quadratics
        The map of this rank's masks.
    frame : ndarray
        The sum of |d|^2 over the masks d of all ranks, for each pixel.
    team : Team
        The ranks.
    words : tuple of str
        What identifies the data of all ranks, on any number of them: those from which `own` was
        made, as its rounding depends on this number.
    """

    own: Quadratics
    frame: Array
    team: Team
    words: tuple[str, ...] = ()

    diagonal_rows = None
    terms = 1

    @property
    def n(self) -> int:
        """The side of the real form of x."""
        return self.own.n

    @property
    def each(self) -> int:
        """The rows of the real form per measurement: 2."""
        return self.own.each

    @property
    def size(self) -> int:
        return self.own.size

    @cached_property
    def rows(self) -> tuple[int, int, int]:
        """(begin, end, count): this rank has the rows begin ... end - 1 of all images."""
        sizes = self.team.gathered(self.size)
        begin = sum(sizes[: self.team.rank])
        return begin, begin + self.size, sum(sizes)

    @cached_property
    def norm(self) -> float:
        """The bound of `Quadratics`, with the maxima over the masks of all ranks."""
        longest = float(self.row_norms().max())
        largest = self.team.largest(float(np.abs(self.own.scale).max()))
        return sqrt(sqrt(self.each) * longest * largest * float(self.frame.max()))

    def scaled(self, rows: Any) -> DistributedDiffraction:
        return replace(self, own=self.own.scaled(local_rows(rows)))

    def zeros(self) -> Any:
        return ShardedArray(np.zeros(self.size), self.team)

    def row_norms(self) -> Any:
        return ShardedArray(self.own.row_norms(), self.team)

    def as_matrix(self) -> None:
        """Return None: no rank could hold it."""

    def __call__(self, x: Point) -> Any:
        return ShardedArray(self.own(x), self.team)

    def adjoint(self, y: Any) -> Symmetric:
        part, sums = self.own.adjoint(local_rows(y)), self.team.sums

        def image(v: Array) -> Array:
            return sums(part @ v)

        shape = (self.n, self.n)
        total = LinearOperator(shape, matvec=image, matmat=image, dtype=np.float64)
        return Symmetric(self.n, operators=(total,))


class DistributedLeastSquares(LeastSquares):
    """Least squares of images and data that are distributed over ranks."""

    def __post_init__(self) -> None:
        """Take M and c as they are: no rank has all of c."""


class ReplicatedHermitian(Hermitian):
    """The psd Hermitian matrices with tr x <= trace, for points that every rank has as a whole."""

    def __init__(self, n: int, trace: float, team: Team) -> None:
        super().__init__(n, trace, True)
        self.team = team
