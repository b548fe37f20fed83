"""Pairs of vectors that ranks own, and their slots in sweeps: the edges of a distributed graph.

A rank sweeps over its own vectors. After each colour, the ranks exchange those of its vectors that
others need. A number per pair, such as its multiplier, belongs to one rank, from which the slots of
both vectors take it: so both see the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from condal.linalg.points import Array, Indices
from condal.methods.spheres.program import Arrangement
from condal_mpi.edges import Edges
from condal_mpi.halo import Exchange
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.sweeps import colouring, places


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
