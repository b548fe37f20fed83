"""The pieces of a problem with constraints on the diagonal; each rank holds its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.distributed.sharded_array import ShardedArray
from condal.linalg.blocked import weighted_squares
from condal.linalg.points import LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps import Cost
from condal.sets import Equal
from condal.smooth import Linear
from condal.types import Proximable


@dataclass(frozen=True, eq=False)
class DistributedDiagonal:
    """Ax = rows * diag(x), for x symmetric n x n; `rows` and `size` are those of this rank."""

    n: int
    rows: Any

    diagonal_rows = None
    terms = 1

    @property
    def size(self) -> int:
        return int(self.rows.size)

    @cached_property
    def norm(self) -> float:
        return float(np.abs(self.rows).max(initial=0.0))

    def scaled(self, rows: Any) -> DistributedDiagonal:
        return DistributedDiagonal(self.n, rows * self.rows)

    def zeros(self) -> Any:
        return np.zeros_like(self.rows)

    def row_norms(self) -> Any:
        return np.abs(self.rows)

    def as_matrix(self) -> None:
        """Return None: no rank could hold it."""

    def __call__(self, x: Point) -> Any:
        assert isinstance(x, LowRank)
        return self.rows * weighted_squares(x.U, x.weights)

    def adjoint(self, y: Any) -> Symmetric:
        return Symmetric(self.n, diagonal=self.rows * y)


class DistributedEqual(Equal):
    """K = {b}, where each rank holds its entries of b. It is one piece, which all ranks sum."""

    def __init__(self, b: ShardedArray) -> None:
        array: Any = b
        self.b = self.fixed = array

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        return [(slice(0, self.size), self)]

    def scaled(self, rows: Any, c: float) -> DistributedEqual:
        return DistributedEqual(rows * self.b)


class DistributedCost(Cost):
    """Mx = <C, x>, where C is one sparse matrix that all ranks hold together."""

    @cached_property
    def norm(self) -> float:
        (rows,) = self.C.sparse
        return float(rows.norm)

    def as_matrix(self) -> None:
        """Return None: no rank could hold it."""

    def __call__(self, x: Point) -> Any:
        (rows,) = self.C.sparse
        return rows.team.agreed(super().__call__(x))  # the sum of the first rank

    def scaled(self, rows: Any) -> DistributedCost:
        return DistributedCost(self.C.scaled(float(rows[0])))


class DistributedLinear(Linear):
    """f(x) = <C, x>."""

    @cached_property
    def M(self) -> DistributedCost:
        return DistributedCost(self.C)

    def scaled(self, c: float) -> DistributedLinear:
        return DistributedLinear(self.C.scaled(c))
