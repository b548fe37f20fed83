"""The diagonal blocks of a symmetric matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.maps.entries import Entries
from condal.runtime.arguments import require_whole


@dataclass(frozen=True)
class BlockDiagonal(BasicMap):
    """The upper triangles of the diagonal blocks of a symmetric matrix, row by row.

    Parameters
    ----------
    count : int
        The number of blocks.
    d : int
        The side of a block; x is of side count * d.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import BlockDiagonal
    >>> BlockDiagonal(2, 2)(np.arange(16.0).reshape(4, 4))
    array([ 0.,  1.,  5., 10., 11., 15.])
    """

    count: int
    d: int

    def __post_init__(self) -> None:
        require_whole(self.count, "count")
        require_whole(self.d, "d")

    @cached_property
    def _entries(self) -> Entries:
        """The map of the same entries, one by one."""
        rows, cols = np.triu_indices(self.d)
        first = self.d * np.arange(self.count)[:, None]
        return Entries(self.count * self.d, (first + rows).ravel(), (first + cols).ravel())

    @property
    def size(self) -> int:
        return self._entries.size

    @property
    def norm(self) -> float:
        return self._entries.norm

    @property
    def terms(self) -> int:
        return self._entries.terms

    @property
    def block_rows(self) -> tuple[int, Array]:
        return self.d, np.ones(self.size)

    def row_norms(self) -> Array:
        return self._entries.row_norms()

    def as_matrix(self) -> Any:
        return self._entries.as_matrix()

    def __call__(self, x: Point) -> Array:
        if not isinstance(x, LowRank):
            return self._entries(x)
        U = x.U.reshape(self.count, self.d, -1)
        blocks = (U * x.weights) @ U.transpose(0, 2, 1)
        rows, cols = np.triu_indices(self.d)
        return np.asarray(blocks[:, rows, cols].ravel())

    def adjoint(self, y: Array) -> Symmetric:
        return self._entries.adjoint(y)
