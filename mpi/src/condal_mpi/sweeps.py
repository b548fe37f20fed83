"""Over-relaxed sweeps over the rows of a factor that ranks own: `Sweeps` colour by colour.

A rank moves its rows of a colour, where the other ranks of its node read them, and then the nodes
exchange the rows of this colour that others need, all columns at once. The colours are the same on
any number of ranks.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, Indices
from condal.linalg.sparse import row_entries
from condal.linalg.symmetric import MIN_REORDERED_SIDE
from condal.methods.lowrank.sweeps import (
    MIN_COLOUR_ENTRIES,
    BlocksByPrecision,
    SweepResidual,
    move_rows,
    row_sizes,
)
from condal.runtime.meter import PRODUCT_FLOPS, spend, time_is_up
from condal_mpi.halo import Exchange, Halo
from condal_mpi.matrix import ShardedRows, local_order
from condal_mpi.node_rows import NodeRows
from condal_mpi.sharded_array import ShardedArray, mix
from condal_mpi.team import Team

NONE = -1


def colouring(graph: Any, halo: Halo, team: Team, *, most: int) -> Indices | None:
    """Return the colour of each row of this rank and of its halo; None if more than `most` are
    needed.

    In the order of falling degrees, ties by a hash of the number, each vertex takes the first
    colour that no neighbour before it has. All vertices whose neighbours before them are coloured
    take theirs at once (Jones and Plassmann 1993). The columns of `graph` are those of the halo.
    """
    rows, degrees = graph.shape[0], np.diff(graph.indptr)
    before = _before(graph, halo, degrees)
    owner = np.repeat(np.arange(rows), degrees)
    places = (graph.indices[before], owner[before])
    followers = sp.csr_array((np.ones(places[0].size, bool), places), graph.shape[::-1])
    waits = np.bincount(places[1], minlength=rows)
    colour = np.full(halo.columns.size, NONE)
    ready, count = np.flatnonzero(waits == 0), 0
    while team.sum(float(ready.size)):
        at, each = row_entries(graph, ready)
        neighbours, first = graph.indices[at], before[at]
        taken = np.zeros((ready.size, count + 1), dtype=bool)
        taken[np.repeat(np.arange(ready.size), each)[first], colour[neighbours[first]]] = True
        known = colour != NONE
        colour[ready] = np.argmin(taken, axis=1)  # the last column is free
        count = max(count, int(colour[ready].max(initial=NONE)) + 1)
        count = int(team.largest(count))
        if count > most:
            return None
        colour = halo(colour[:rows])
        new = np.flatnonzero((colour != NONE) & ~known)
        freed = followers.indices[row_entries(followers, new)[0]]
        waits -= np.bincount(freed, minlength=rows)
        freed = np.unique(freed)
        ready = freed[waits[freed] == 0]
    return colour


def _before(graph: Any, halo: Halo, degrees: Indices) -> Any:
    """Whether the column of each entry comes before its row."""
    numbers = halo.columns.astype(np.int64)
    degree, hashes = halo(degrees.astype(np.int64)), mix(numbers.view(np.uint64))
    row, column = np.repeat(np.arange(graph.shape[0]), degrees), graph.indices
    higher = degree[column] > degree[row]
    tied = degree[column] == degree[row]
    equal = tied & (hashes[column] == hashes[row])
    earlier = tied & (hashes[column] < hashes[row])
    return higher | earlier | (equal & (numbers[column] < numbers[row]))


@dataclass(frozen=True, eq=False)
class Colour:
    """One colour: the rows of this rank, and those of other nodes with their exchange.

    Both are counted from the first row of this rank, and the first from other nodes.
    """

    rows: slice
    outer: slice
    exchange: Exchange


@dataclass(frozen=True, eq=False)
class DistributedSweeps:
    """`Sweeps` on ranks.

    It works on rows of length 1 in the order of the colours: `order` sorts the rows of this rank,
    and their `lengths` become part of C. `on_node` says where they and their neighbours are.
    """

    order: Indices
    colours: tuple[Colour, ...]
    blocks: BlocksByPrecision
    lengths: Array
    entries: int
    constant: float
    on_node: NodeRows

    @classmethod
    def of(cls, C: ShardedRows, squares: ShardedArray) -> DistributedSweeps | None:
        """Return the sweeps of C; None if its graph has many colours for its size."""
        team, rows = C.team, C.own.shape[0]
        lengths = C.halo(np.sqrt(squares.local))
        graph, constant = _joined(C, lengths)
        total = int(team.sum(float(graph.nnz)))
        colour = colouring(graph, C.halo, team, most=1 + total // MIN_COLOUR_ENTRIES)
        if colour is None:
            return None
        place, others = places(C, graph, colour)
        order = np.lexsort((place, colour[:rows]))
        colours, blocks, on_node = _colours(C, graph, colour, order, others)
        lengths = lengths[:rows][order][:, None]
        return cls(order, colours, blocks, lengths, graph.nnz, constant, on_node)

    def relaxed(
        self, R: Any, *, sweeps: int, omega: float, single: bool, until: float = 0.0
    ) -> tuple[ShardedArray, SweepResidual]:
        """Return R after sweeps, none of which increases <C, R R'>; see `Sweeps.relaxed`."""
        dtype: Any = np.float32 if single else np.float64
        own, width = R.local.shape
        whole = self.on_node.empty((width,), dtype)
        unit = whole[self.on_node.own]
        for rows in block_slices(own, width):
            unit[rows] = R.local[self.order[rows]] / self.lengths[rows]
        for colour in self.colours:
            self._fetch(whole, colour)
        self.on_node.publish()
        memory = threading.local()
        residual = SweepResidual(self.lengths, self.constant, R.team.sums)
        for _ in range(sweeps):
            spend(PRODUCT_FLOPS * self.entries * width)
            for colour, blocks in zip(self.colours, self.blocks[dtype], strict=True):
                for block in blocks:
                    rows, pull = block.rows, block.pull(whole, memory)
                    residual.pulls[:, rows] = move_rows(unit[rows], pull, omega)
                self._fetch(whole, colour)
                self.on_node.publish()
            if residual.after() <= until or time_is_up():
                break
        out = np.empty((own, width))
        for rows in block_slices(own, width):
            double = unit[rows].astype(np.float64)
            out[self.order[rows]] = double * (self.lengths[rows] / row_sizes(double))
        return ShardedArray(out, R.team), residual

    def _fetch(self, whole: Array, colour: Colour) -> None:
        """Write the rows of a colour that other nodes have moved."""
        outer = whole[self.on_node.outer]
        colour.exchange(whole[self.on_node.own], outer[colour.outer])


def _joined(C: ShardedRows, lengths: Array) -> tuple[Any, float]:
    """The entries of C off the diagonal, for rows of length 1, and what the diagonal adds to the
    objective, relative to the largest entry."""
    own, rows = C.own, C.own.shape[0]
    row = np.repeat(np.arange(rows), np.diff(own.indptr))
    off = (row != own.indices) & (own.data != 0.0)
    weights = C.factor * own.data[off] * lengths[row[off]] * lengths[own.indices[off]]
    largest = C.team.largest(float(np.abs(weights).max(initial=0.0))) or 1.0
    at = (row[off], own.indices[off])
    diagonal = row == own.indices
    constant = C.factor * float(own.data[diagonal] @ np.square(lengths[row[diagonal]]))
    joined = sp.csr_array((weights / largest, at), shape=own.shape)
    return joined, C.team.sum(constant) / largest


def places(C: ShardedRows, graph: Any, colour: Indices) -> tuple[Indices, Indices]:
    """Return the place of each row of this rank, which brings neighbours together within a colour,
    and the order of the halo: by colours, their owners and such places."""
    (rows, size), team = graph.shape, C.team
    place = np.arange(size)
    if C.n // team.size >= MIN_REORDERED_SIDE:
        place = np.argsort(_with_halo_order(graph))
    return place[:rows], np.lexsort((place[rows:], C.halo.owners, colour[rows:]))


def _with_halo_order(graph: Any) -> Indices:
    """The order of the rows and of the halo that brings neighbours together."""
    rows, size = graph.shape
    outside = graph[:, rows:].T
    below = sp.hstack([outside, sp.csr_array((size - rows, size - rows))])
    return local_order(sp.vstack([graph, below], format="csr"))


def _colours(
    C: ShardedRows, graph: Any, colour: Indices, order: Indices, others: Indices
) -> tuple[tuple[Colour, ...], BlocksByPrecision, NodeRows]:
    """The colours in turn, in the order of the rows of this rank and of its halo, blocks of them,
    and where the rows are."""
    team, rows = C.team, order.size
    place = np.empty(colour.size, dtype=graph.indices.dtype)
    place[order] = np.arange(rows)
    place[rows + others] = np.arange(rows, colour.size)
    entries = sp.csr_array((graph.data, place[graph.indices], graph.indptr), graph.shape)[order]
    entries.sort_indices()
    on_node = NodeRows(C.halo, place[:rows].astype(np.int64), others)
    index = on_node.index[np.concatenate([order, rows + others])]
    shape = rows, on_node.size
    joined = sp.csr_array((entries.data, index[entries.indices], entries.indptr), shape)
    joined.has_canonical_format = True  # SciPy would sort them: bits then depend on the nodes
    outer = rows + others[on_node.from_nodes]
    count = int(team.largest(float(colour.max(initial=-1)))) + 1
    ends = [np.searchsorted(colour[some], np.arange(count + 1)) for some in (order, outer)]
    own, outside = [[slice(int(a), int(b)) for a, b in pairwise(end)] for end in ends]
    colours = tuple(
        Colour(mine, some, Exchange(C.halo.columns[outer[some]], C.n, team, places=place[:rows]))
        for mine, some in zip(own, outside, strict=True)
    )
    return colours, BlocksByPrecision(joined, own), on_node
