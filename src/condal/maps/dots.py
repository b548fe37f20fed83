"""Entries of a low-rank symmetric matrix, many at a time: inner products of pairs of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from condal.errors import ProblemError
from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, Indices, LowRank

FULL = 16  # where n^2 is at most so many times the pairs, BLAS makes all entries sooner than some


@dataclass(frozen=True, eq=False)
class Pairs:
    """x -> x[rows, cols] = <u_i, diag(weights) u_j>, for x = U diag(weights) U', n x n.

    The rows u_i and u_j are copied together, piece by piece in the cache; or, for many pairs of few
    rows, all entries are made, block by block.
    """

    n: int
    rows: Indices
    cols: Indices

    def __call__(self, x: LowRank) -> Array:
        """The entries of x."""
        if x.U.shape[0] != self.n:
            raise ProblemError(f"x must be {self.n} x {self.n}; got a side of {x.U.shape[0]}")
        if x.rank == 1:
            return self._of_rank_one(x.weights[0] * x.U[:, 0], np.ascontiguousarray(x.U[:, 0]))
        if self.n**2 <= FULL * self.rows.size:
            return self._by_blocks(x)
        return self._by_pieces(x)

    def _of_rank_one(self, left: Array, right: Array) -> Array:
        out = np.empty(self.rows.size)
        for here in block_slices(out.size):
            part = np.take(left, self.rows[here], out=out[here], mode="clip")
            part *= right[self.cols[here]]
        return out

    def _by_pieces(self, x: LowRank) -> Array:
        out, U = np.empty(self.rows.size), np.ascontiguousarray(x.U)
        pieces = block_slices(out.size, x.rank)
        longest = pieces[0].stop if pieces else 0
        left, right = np.empty((2, longest, x.rank))
        for here in pieces:
            count = here.stop - here.start
            part = np.take(U, self.rows[here], axis=0, out=left[:count], mode="clip")
            part *= np.take(U, self.cols[here], axis=0, out=right[:count], mode="clip")
            np.matmul(part, x.weights, out=out[here])
        return out

    def _by_blocks(self, x: LowRank) -> Array:
        order, places = self._sorted
        left, right = x.U * x.weights, x.U.T
        found = np.empty(order.size)
        for rows, here in self._blocks:
            block = left[rows] @ right
            np.take(block, places[here] - rows.start * self.n, out=found[here], mode="clip")
        out = np.empty(order.size)
        out[order] = found
        return out

    @cached_property
    def _sorted(self) -> tuple[Indices, Indices]:
        """The order of the pairs by rows, and their places in the n^2 numbers of x."""
        order = np.argsort(self.rows, kind="stable")
        return order, (self.rows * self.n + self.cols)[order]

    @cached_property
    def _blocks(self) -> list[tuple[slice, slice]]:
        """Blocks of rows of x, and where the sorted pairs of each are."""
        return list(self._cut())

    def _cut(self) -> Iterator[tuple[slice, slice]]:
        places = self._sorted[1]
        for rows in block_slices(
            self.n, self.n // 8
        ):  # taller than a piece: BLAS wants tall blocks
            begin, end = np.searchsorted(places, [rows.start * self.n, rows.stop * self.n])
            yield rows, slice(int(begin), int(end))
