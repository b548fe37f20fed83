"""The preconditioner of J J': the sum of the inverses of blocks of it, one for each row of x.

The block of a row of x has the rows of A that touch it, and those that touch no other rows of x
than these do. So it has all edges of a triangle, whose rows may be dependent where all are tight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.linalg.sparse import diagonal_matrix

if TYPE_CHECKING:
    from condal.methods.surface.coupling import Coupling

MAX_BLOCK = 100  # rows of A in a block; the inverse of a larger one is that of its diagonal
MAX_GROWTH = 3  # of a block, by the rows that do not touch its row of x
MAX_REACHED = 2 * 10**7  # pairs of rows of x and of A that are tested
CHUNK = 2**20  # entries of blocks at once
BLOCK_SHIFT = 1e-8  # of the diagonal: keeps the inverse of a singular block finite
SMALL_ENTRY = 1e-14  # of the largest diagonal entry
TINY = 1e-300


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
        diagonal = np.arange(side, dtype=np.int64) * (side + 1)  # for rows without entries
        every = np.concatenate([*(pairs.ravel() for pairs in keys), diagonal])
        unique, place = np.unique(every, return_inverse=True)
        row, column = np.divmod(unique, max(1, side))
        counts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=side))])
        place = place[: every.size - side].astype(np.int32)
        return cls(side, sources, place, column.astype(np.int32), counts.astype(np.int32))

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
