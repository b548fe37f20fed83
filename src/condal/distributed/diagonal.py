"""The pieces of a problem with constraints on the diagonal, each rank its rows."""

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
from condal.types import Provable


@dataclass(frozen=True, eq=False)
class DistributedDiagonal:
    """Ax = rows * diag(x), for x symmetric n x n: each rank has its entries. `size` is theirs."""

    n: int
    rows: Any

    diagonal_rows = None
    terms = 1

    @property
    def size(self) -> int:
        """How many entries are here."""
        return int(self.rows.size)

    @cached_property
    def norm(self) -> float:
        """The largest of |rows|."""
        return float(np.abs(self.rows).max(initial=0.0))

    def scaled(self, rows: Any) -> DistributedDiagonal:
        """rows * Ax."""
        return DistributedDiagonal(self.n, rows * self.rows)

    def zeros(self) -> Any:
        """An image of 0."""
        return np.zeros_like(self.rows)

    def row_norms(self) -> Any:
        """|rows|."""
        return np.abs(self.rows)

    def as_matrix(self) -> None:
        """None: no rank could hold it."""

    def __call__(self, x: Point) -> Any:
        """rows * diag(x)."""
        assert isinstance(x, LowRank)
        return self.rows * weighted_squares(x.U, x.weights)

    def adjoint(self, y: Any) -> Symmetric:
        """Diag(rows * y)."""
        return Symmetric(self.n, diagonal=self.rows * y)


class DistributedEqual(Equal):
    """K = {b}, each rank its entries of b: in one piece, since each piece is summed by all."""

    def __init__(self, b: ShardedArray) -> None:
        array: Any = b
        self.b = self.fixed = array

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        """{b} as a whole."""
        return [(slice(0, self.size), self)]

    def scaled(self, rows: Any, c: float) -> DistributedEqual:
        """{rows * b}."""
        return DistributedEqual(rows * self.b)


class DistributedCost(Cost):
    """Mx = <C, x>, for C of one sparse matrix that ranks hold together."""

    @cached_property
    def norm(self) -> float:
        """|C|_F."""
        (rows,) = self.C.sparse
        return float(rows.stable_norm)

    def as_matrix(self) -> None:
        """None: no rank could hold it."""

    def __call__(self, x: Point) -> Any:
        """[<C, x>], as the first rank adds up what all have."""
        (rows,) = self.C.sparse
        return rows.team.agreed(super().__call__(x))

    def scaled(self, rows: Any) -> DistributedCost:
        """<rows C, x>."""
        return DistributedCost(self.C.scaled(float(rows[0])))


class DistributedLinear(Linear):
    """f(x) = <C, x>."""

    @cached_property
    def M(self) -> DistributedCost:
        """x -> [<C, x>]."""
        return DistributedCost(self.C)

    def scaled(self, c: float) -> DistributedLinear:
        """<c C, x>; c may be negative."""
        return DistributedLinear(self.C.scaled(c))
