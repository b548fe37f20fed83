"""The edges of a graph whose rows are owned by ranks, as entries of x and as pairs of vectors.

In sweeps over vectors on spheres, an edge is a pair of vectors, and a rank sweeps over its own
vectors. After each colour, the ranks exchange those of its vectors that others need. A number per
pair, such as its multiplier, belongs to one rank, from which the slots of both vectors take it: so
both see the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, Indices
from condal.methods.spheres.program import Arrangement
from condal_mpi.halo import Exchange, Halo, owners_of
from condal_mpi.matrix import ShardedRows
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.sweeps import colouring, places
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
        vertices = Halo.of(np.concatenate([i, j]), n, team)
        numbers = Halo.of(number, count, team)
        order = np.arange(rows.size, dtype=np.float64)
        numbered = sp.csr_array((order, block.indices, block.indptr), block.shape)
        # The columns of the rows are stored in another order: so are the numbers of their edges.
        stored = ShardedRows(numbered, team)
        which = numbers.places(number[stored.own.data.astype(np.int64)])
        ends = vertices.places(i), vertices.places(j)
        return cls(count, vertices, ends, stored.with_data(np.ones(rows.size)), numbers, which)

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
    above, below = np.flatnonzero(upper), np.flatnonzero(~upper)
    to, source = (owners_of(columns[some], n, team) for some in (above, below))
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


@dataclass(frozen=True, eq=False)
class ShardedPairs:
    """The edges ij, i < j, as pairs of vectors; see `condal.methods.spheres.program.Pairs`."""

    edges: Edges

    def ends(self, v: Any) -> tuple[Any, Any]:
        values, (i, j) = self.edges.vertices(v.local), self.edges.ends
        return v.with_local(values[i]), v.with_local(values[j])

    def sums(self, at_a: Any, at_b: Any) -> Any:
        edges, (owner, upper) = self.edges, self._entries
        a, b = (edges.numbers(each.local)[edges.which] for each in (at_a, at_b))
        rows = edges.entries.own.shape[0]
        return at_a.with_local(np.bincount(owner, np.where(upper, a, b), rows))

    @cached_property
    def _entries(self) -> tuple[Indices, Any]:
        """The row of this rank of each entry of the matrix, and whether it is i of its edge."""
        rows, columns, _ = self.edges.entries.entries()
        begin, _ = self.edges.entries.team.range(self.edges.entries.n)
        return rows - begin, rows < columns

    def slots(self, most: int | None = None) -> ShardedSlots | None:
        edges, C = self.edges, self.edges.entries
        graph, rows, team = C.own, C.halo.own, C.team
        colour = colouring(graph, C.halo, team, most=C.n if most is None else most)
        if colour is None:
            return None
        owner, upper = self._entries
        place, outside = places(C, graph, colour)
        count = int(team.largest(float(colour.max(initial=-1)))) + 1
        entries = owner, graph.indices, np.arange(graph.nnz)
        by_entry = Arrangement.of(entries, colour[:rows], place, count=count, outside=outside)
        arrangement = replace(by_entry, pair=edges.which[by_entry.pair])
        first = np.flatnonzero(upper[by_entry.pair])
        first = first[np.argsort(edges.numbers.columns[arrangement.pair[first]])]
        where = np.empty(rows, dtype=np.int64)
        where[arrangement.order] = np.arange(rows)
        ends = np.searchsorted(colour[rows + outside], np.arange(count + 1)).tolist()
        exchanges = tuple(
            (slice(rows + begin, rows + end), Exchange(wanted, C.n, team, places=where))
            for begin, end in pairwise(ends)
            for wanted in [C.halo.columns[rows + outside[begin:end]]]
        )
        return ShardedSlots(edges, arrangement, first, exchanges)


@dataclass(frozen=True, eq=False)
class ShardedSlots:
    """The slots of the vectors of this rank; see `condal.methods.spheres.program.Slots`.

    The pair of a slot is its place in the halo of the edges. `first` are the slots of the i of the
    edges, in the order of these, and `exchanges` fetch the vectors of each colour to some rows
    after those of this rank.
    """

    edges: Edges
    arrangement: Arrangement
    first: Indices
    exchanges: tuple[tuple[slice, Exchange], ...]

    def sorted_rows(self, R: Any, dtype: Any) -> Array:
        own, halo = R.local, self.edges.entries.halo
        out: Array = np.empty((halo.columns.size, *own.shape[1:]), dtype)
        out[: halo.own] = own[self.arrangement.order]
        for colour in range(len(self.exchanges)):
            self.fetch(colour, out)
        return out

    def unsorted_rows(self, R: Array) -> Any:
        own = self.edges.entries.halo.own
        out = np.empty_like(R[:own])
        out[self.arrangement.order] = R[:own]
        return ShardedArray(out, self.edges.entries.team)

    def of_pairs(self, values: Any) -> Array:
        numbers: Array = self.edges.numbers(values.local)
        return numbers[self.arrangement.pair]

    def to_pairs(self, values: Array) -> Any:
        return self.edges.shared(values[self.first])

    def fetch(self, colour: int, R: Array) -> None:
        rows, exchange = self.exchanges[colour]
        exchange(R[: self.edges.entries.halo.own], R[rows])
