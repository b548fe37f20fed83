"""How the rows A_i couple: which of them share a row of x, and so meet in J J'; its preconditioner.

The preconditioner is the sum of the inverses of blocks of J J', one for each row of x. The block of
a row of x has the rows of A that touch it, and those that touch no other rows of x than these do.
So it has all edges of a triangle, whose rows may be dependent where all are tight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.linalg.rounding import TINY
from condal.linalg.sparse import diagonal_matrix

MAX_BLOCK = 100  # rows of A in a block; the inverse of a larger one is that of its diagonal
MAX_GROWTH = 3  # of a block, by the rows that do not touch its row of x
MAX_REACHED = 2 * 10**7  # pairs of rows of x and of A that are tested
CHUNK = 2**20  # entries of blocks at once
BLOCK_SHIFT = 1e-8  # of the diagonal: keeps the inverse of a singular block finite
SMALL_ENTRY = 1e-14  # of the largest diagonal entry
MAX_WIDE_ROWS = 40  # each has a dense column of J J'
WIDE_SHARE = 0.25  # of the rows of x: an A_i with entries in more of them is wide
MIN_WIDE = 16  # an A_i with entries in fewer rows of x is never wide
MAX_COUPLINGS = 3 * 10**7  # pairs of rows of A that share a row of x
MAX_ROW_COUPLINGS = 200  # the same, per row of A, for J J' to be called sparse
BLOCK_NUMBERS = 2**15  # of the gathered rows of R, which stay in the cache


@dataclass(frozen=True, eq=False)
class Schwarz:
    """The blocks by size: where their entries are in the data of J J', and in those of the sum.

    `sources` has the places in J J'; the place after the last entry stands for 0. `place` has the
    places in the sum, whose pattern is that of `columns` and `pointers`.
    """

    side: int
    sources: list[Indices]
    place: Indices
    columns: Any
    pointers: Any

    @classmethod
    def of(cls, coupling: Coupling) -> Schwarz:
        """Return the blocks of coupled rows."""
        _, columns, pointers = coupling.pattern
        side = coupling.narrow.size
        owners = np.repeat(np.arange(side, dtype=np.int64), np.diff(pointers))
        entries = owners * side + columns  # ascending
        sources, keys = [], []
        for members in _members(coupling.touched):
            pairs = members[:, :, None] * side + members[:, None, :]
            place = np.minimum(np.searchsorted(entries, pairs), entries.size - 1)
            sources.append(np.where(entries[place] == pairs, place, entries.size))
            keys.append(pairs)
        return cls(side, sources, *_pattern(keys, side))

    def inverse(self, data: Array, diagonal: Array) -> Any:
        """The sum of the inverses, given the entries of J J' and its diagonal."""
        padded = np.append(data, 0.0)
        least = max(SMALL_ENTRY * float(diagonal.max(initial=0.0)), TINY)
        blocks = [_inverses(padded[source], least).ravel() for source in self.sources]
        values = np.concatenate([np.zeros(0), *blocks])
        total = np.bincount(self.place, values, minlength=self.columns.size)
        inverse = sp.csr_array((total, self.columns, self.pointers), shape=(self.side, self.side))
        lonely = inverse.diagonal() == 0.0  # rows without entries: their slacks are all
        if lonely.any():
            rest = np.where(lonely, 1.0 / np.maximum(diagonal, least), 0.0)
            inverse = sp.csr_array(inverse + diagonal_matrix(rest))
        return inverse


def _pattern(keys: list[Indices], side: int) -> tuple[Any, Any, Any]:
    """The places of entries row * side + column in a CSR array, its columns and its pointers."""
    diagonal = np.arange(side, dtype=np.int64) * (side + 1)  # for rows without entries
    every = np.concatenate([*map(np.ravel, keys), diagonal])
    unique, place = np.unique(every, return_inverse=True)
    row, column = np.divmod(unique, max(1, side))
    pointers = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=side))])
    place = place[: every.size - side]
    return place.astype(np.int32), column.astype(np.int32), pointers.astype(np.int32)


def _inverses(blocks: Array, least: float) -> Array:
    diagonals = np.maximum(np.einsum("gii->gi", blocks), least)
    if blocks.shape[1] > MAX_BLOCK:
        inverses = np.zeros(blocks.shape)
        np.einsum("gii->gi", inverses)[...] = 1.0 / diagonals
        return inverses
    roots = 1.0 / np.sqrt(diagonals)
    scaling = roots[:, :, None] * roots[:, None, :]
    unit = blocks * scaling
    np.einsum("gii->gi", unit)[...] = 1.0 + BLOCK_SHIFT
    return np.asarray(np.linalg.inv(unit) * scaling)


def _members(touched: Any) -> list[Indices]:
    """The rows of A of each block, as arrays of blocks of the same size."""
    blocks = _grown(touched)
    sizes = np.diff(blocks.indptr)
    members = []
    for size in np.unique(sizes[sizes > 0]):
        starts = blocks.indptr[:-1][sizes == size].astype(np.int64)
        step = max(1, CHUNK // int(size) ** 2)
        for begin in range(0, starts.size, step):
            at = starts[begin : begin + step, None] + np.arange(size)
            members.append(blocks.indices[at].astype(np.int64))
    return members


def _grown(touched: Any) -> Any:
    """The blocks as a CSR array over the rows of A, given the rows of x that each of those touches.

    A block that would grow too much stays as it is.
    """
    small = sp.csr_array(touched.T)
    near, widths = small @ touched, np.diff(touched.indptr)
    reached = float(near.data.size) * float(widths.mean()) if touched.nnz else np.inf
    if reached * float(np.diff(small.indptr).mean()) > MAX_REACHED:
        return small
    near.data[:] = 1.0
    closed = near @ sp.csr_array(touched[widths > 1].T)  # touches inside, of rows with several
    closed.data = np.where(closed.data == widths[widths > 1][closed.indices], 1.0, 0.0)
    closed = sp.csr_array(closed - closed.multiply(sp.csr_array(touched[widths > 1].T)))
    closing = closed @ touched[widths > 1]
    closing.data[:] = np.where(closing.data > 0, 1.0, 0.0)
    alone = closing @ sp.csr_array(touched[widths == 1].T)
    added = sp.hstack([closed, alone], format="csr")
    order = np.concatenate([np.flatnonzero(widths > 1), np.flatnonzero(widths == 1)])
    added = sp.csr_array((added.data, order[added.indices], added.indptr), shape=small.shape)
    grown = sp.csr_array(small + added)
    grown.eliminate_zeros()
    much = np.diff(grown.indptr) > np.minimum(MAX_GROWTH * np.diff(small.indptr), MAX_BLOCK)
    kept = diagonal_matrix(~much) @ grown
    return sp.csr_array(kept + diagonal_matrix(much) @ small)


@dataclass(frozen=True, eq=False)
class Coupling:
    """The couplings of the rows of `matrix`, which are flattened n x n matrices A_i.

    The rows `squares` stand for dense matrices of rank one. R is orthogonal to the columns of
    `null`.
    """

    n: int
    matrix: Any
    squares: Indices
    null: Array

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    @property
    def solvable(self) -> bool:
        """Whether J J' can be formed."""
        return self.wide.size <= MAX_WIDE_ROWS and self.pairs <= MAX_COUPLINGS

    @property
    def sparse(self) -> bool:
        """Whether J J' is sparse but for a few rows, so that products with it are cheap."""
        return self.solvable and self.pairs <= MAX_ROW_COUPLINGS * self.size

    @cached_property
    def _touches(self) -> tuple[Indices, Indices, Any]:
        """(i, a) for each row a of x with entries of A_i, and the sparse map of R to (A_i R)_a."""
        coo = self.matrix.tocoo()
        a, b = np.divmod(coo.col.astype(np.int64), self.n)
        keys, place = np.unique(coo.row.astype(np.int64) * self.n + a, return_inverse=True)
        rows = sp.csr_array((coo.data, (place, b)), shape=(keys.size, self.n))
        return keys // self.n, keys % self.n, rows

    @cached_property
    def wide(self) -> Indices:
        """The i of the A_i with entries in many rows of x."""
        counts = np.bincount(self._touches[0], minlength=self.size)
        wide = counts > max(MIN_WIDE, WIDE_SHARE * self.n)
        wide[self.squares] = True
        return np.flatnonzero(wide)

    @cached_property
    def narrow(self) -> Indices:
        """The other i."""
        return np.setdiff1d(np.arange(self.size), self.wide)

    @cached_property
    def _narrow_touches(self) -> Indices:
        """The touches of narrow A_i, sorted by the number of touches of their row of x."""
        i, a, _ = self._touches
        chosen = np.flatnonzero(~np.isin(i, self.wide))
        counts = np.bincount(a[chosen], minlength=self.n)
        return chosen[np.lexsort((a[chosen], counts[a[chosen]]))]

    @cached_property
    def pairs(self) -> float:
        """The pairs of narrow rows that share a row of x, counted once for each such row."""
        counts = np.bincount(self._touches[1][self._narrow_touches], minlength=self.n)
        return float(counts.astype(np.float64) @ counts)

    @cached_property
    def groups(self) -> list[tuple[Any, int]]:
        """Maps of R to the rows (A_i R)_a, grouped so that each a has the same number of them."""
        _, a, rows = self._touches
        order = self._narrow_touches
        counts = np.bincount(a[order], minlength=self.n)[a[order]]
        starts = np.flatnonzero(np.diff(counts, prepend=0))
        ends = [*starts[1:], order.size][: starts.size]  # none if all rows are wide
        groups: list[tuple[Any, int]] = []
        for start, end in zip(starts, ends, strict=True):
            count = int(counts[start])
            step = max(1, BLOCK_NUMBERS // (32 * count)) * count
            blocks = (slice(k, min(k + step, int(end))) for k in range(int(start), int(end), step))
            groups.extend((rows[order[block]], count) for block in blocks)
        return groups

    @cached_property
    def pattern(self) -> tuple[Any, Any, Any]:
        """Where the products of the groups go: places in the data of J J', and its pattern.

        J J' of the narrow rows is a CSR array with these column indices and row pointers.
        """
        i, _, _ = self._touches
        position = np.empty(self.size, dtype=np.int64)
        position[self.narrow] = np.arange(self.narrow.size)
        order, begin, keys = position[i[self._narrow_touches]], 0, []
        for rows, count in self.groups:
            block = order[begin : begin + rows.shape[0]].reshape(-1, count)
            keys.append(block[:, :, None] * self.narrow.size + block[:, None, :])
            begin += rows.shape[0]
        return _pattern(keys, self.narrow.size)

    @cached_property
    def touched(self) -> Any:
        """The rows of x that each narrow row touches, as a CSR array of ones."""
        i, a, _ = self._touches
        chosen = self._narrow_touches
        place = np.searchsorted(self.narrow, i[chosen])
        shape = (self.narrow.size, self.n)
        return sp.csr_array((np.ones(chosen.size), (place, a[chosen])), shape=shape)

    @cached_property
    def schwarz(self) -> Schwarz:
        """The preconditioner of J J' of the narrow rows."""
        return Schwarz.of(self)

    @cached_property
    def diagonal(self) -> Indices:
        """The places of the diagonal in the data of J J' of the narrow rows."""
        _, columns, pointers = self.pattern
        owner = np.repeat(np.arange(self.narrow.size), np.diff(pointers))
        return np.flatnonzero(columns == owner)

    def removed(self, R: Array) -> Array:
        """B with B B' = what `restrict` takes from J J' of the narrow rows."""
        if not self.null.size:
            return np.zeros((self.narrow.size, 0))
        return np.hstack([2 * (along @ R[: self.n]) for along in self._null_rows])

    @cached_property
    def _null_rows(self) -> list[Any]:
        """The rows v'A_i of the narrow i, for each null vector v."""
        i, a, rows = self._touches
        chosen = self._narrow_touches
        place = np.searchsorted(self.narrow, i[chosen])
        shape = (self.narrow.size, chosen.size)
        return [
            sp.csr_array((v[a[chosen]], (place, np.arange(chosen.size))), shape=shape)
            @ rows[chosen]
            for v in self.null.T
        ]
