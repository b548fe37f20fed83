"""The edges of a graph whose rows are owned by ranks, and the sparse matrices on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, Indices
from condal_mpi.halo import Halo
from condal_mpi.matrix import ShardedRows
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges i < j of a graph in the order of (i, j), of which each rank owns about as many.

    `ends` are the places of i and j of this rank's edges in `vertices`, a halo of vectors over the
    vertices. `entries` are the rows of this rank of the symmetric matrix whose entries are 1 on the
    edges, and `which` is the place of the edge of each entry in `numbers`, a halo of vectors over
    the edges.
    """

    count: int
    vertices: Halo
    ends: tuple[Indices, Indices]
    entries: ShardedRows
    numbers: Halo
    which: Indices

    @classmethod
    def of(cls, block: Any, team: Team) -> Edges:
        """Return the edges of a graph, given this rank's rows of its adjacency matrix.

        ProblemError on all ranks unless the rows are those of a symmetric matrix.
        """
        n, (begin, end) = int(block.shape[1]), team.range(block.shape[1])
        block = sp.csr_array(block)
        block.sort_indices()
        rows = begin + np.repeat(np.arange(end - begin), np.diff(block.indptr))
        columns = block.indices.astype(np.int64)
        upper = rows < columns
        counts = team.gathered(int(upper.sum()))
        first, count = sum(counts[: team.rank]), sum(counts)
        number = np.empty(rows.size, dtype=np.int64)
        number[upper] = first + np.arange(counts[team.rank])
        number[~upper] = _numbers_below(rows, columns, number, upper, n, team)
        i, j = (_balanced(each[upper], first, count, team) for each in (rows, columns))
        vertices = _halo(np.concatenate([i, j]), n, team)
        numbers = _halo(number, count, team)
        ones = sp.csr_array((np.ones(rows.size), block.indices, block.indptr), block.shape)
        # The columns of the rows are stored in another order: so are the numbers of their edges.
        marked = ShardedRows(ones, team)
        place = _sorted_like(marked, ones)
        which = _places(numbers, number[place])
        return cls(
            count, vertices, (_places(vertices, i), _places(vertices, j)), marked, numbers, which
        )

    def read(self, U: ShardedArray, weights: Array) -> ShardedArray:
        """Return x_ij for each edge, x = U diag(weights) U'."""
        rows, (i, j) = self.vertices(U.local), self.ends
        out = np.empty(i.size)
        for some in block_slices(i.size, U.shape[1]):
            out[some] = np.einsum("kr,kr->k", rows[i[some]] * weights, rows[j[some]])
        return ShardedArray(out, U.team)

    def matrix(self, y: ShardedArray) -> ShardedRows:
        """Return the symmetric matrix with y_k on both entries of edge k."""
        return self.entries.with_data(self.numbers(y.local)[self.which])

    def shared(self, values: Array) -> ShardedArray:
        """Return a number per edge, given those of the edges i < j of this rank's rows i, in the
        order of the edges."""
        team = self.entries.team
        first = sum(team.gathered(values.size)[: team.rank])
        return ShardedArray(_balanced(values, first, self.count, team), team)


def _numbers_below(
    rows: Indices, columns: Indices, number: Indices, upper: Any, n: int, team: Team
) -> Indices:
    """The numbers of the edges below the diagonal, which the owners of their columns know."""
    ends = np.array([team.range(n, rank)[1] for rank in range(team.size)])
    above, below = np.flatnonzero(upper), np.flatnonzero(~upper)
    to, source = (np.searchsorted(ends, columns[some], side="right") for some in (above, below))
    known = team.comm.alltoall(
        [
            np.stack([rows[some], columns[some], number[some]])
            for some in (above[to == rank] for rank in range(team.size))
        ]
    )
    out = np.empty(below.size, dtype=np.int64)
    symmetric = True
    for rank, (i, j, found) in enumerate(known):
        mine = np.flatnonzero(source == rank)
        order = np.lexsort((rows[below[mine]], columns[below[mine]]))
        wanted = below[mine[order]]
        same = wanted.size == i.size and np.array_equal(columns[wanted], i)
        symmetric = symmetric and same and np.array_equal(rows[wanted], j)
        if symmetric:
            out[mine[order]] = found
    with team.together():
        if not symmetric:
            raise ProblemError(
                "the rows of the ranks do not form a symmetric W: was each rank given its rows of "
                "the same graph?"
            )
    return out


def _balanced(own: Any, first: int, count: int, team: Team) -> Any:
    """This rank's share of `count` numbers, of which it has some from number `first` on."""
    ranges = [np.array(team.range(count, rank)) - first for rank in range(team.size)]
    parts = [own[max(begin, 0) : max(end, 0)] for begin, end in ranges]
    return np.concatenate(team.comm.alltoall(parts))


def _halo(wanted: Indices, n: int, team: Team) -> Halo:
    """The halo of the numbers of this rank and of the wanted ones."""
    begin, end = team.range(n)
    others = np.unique(wanted[(wanted < begin) | (wanted >= end)])
    return Halo(np.concatenate([np.arange(begin, end), others]), n, team)


def _places(halo: Halo, numbers: Indices) -> Indices:
    """The places of these numbers in a halo."""
    begin = int(halo.columns[0])
    others = halo.columns[halo.own :]
    outside = halo.own + np.searchsorted(others, numbers)
    own = (numbers >= begin) & (numbers < begin + halo.own)
    return np.where(own, numbers - begin, outside)


def _sorted_like(stored: ShardedRows, given: Any) -> Indices:
    """The position in `given`, sorted by columns, of each entry as it is stored."""
    rows = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
    order = np.lexsort((stored.halo.columns[stored.own.indices], rows))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return place
