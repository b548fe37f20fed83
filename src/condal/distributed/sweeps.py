"""Over-relaxed sweeps over the rows of a factor that ranks own: `Sweeps` colour by colour.

A rank moves its rows of a colour. Ranks of the same machine see these at once in the memory that
they share; the others exchange the rows of this colour that they need, all columns at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.distributed.colouring import colouring
from condal.distributed.halo import Exchange
from condal.distributed.node import Node
from condal.distributed.sharded_array import ShardedArray
from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, Indices
from condal.linalg.symmetric import MIN_REORDERED_SIDE
from condal.linalg.work import PRODUCT_FLOPS, add_work
from condal.methods.projection.relaxation import MIN_COLOUR_ENTRIES, move_rows, row_sizes
from condal.runtime.cancellation import check_cancelled, time_is_up

if TYPE_CHECKING:
    from condal.distributed.matrix import ShardedRows


@dataclass(frozen=True, eq=False)
class Colour:
    """One colour: the rows of this rank, their entries in double and in single precision, and the
    rows of other machines with their exchange."""

    rows: slice
    blocks: dict[Any, Any]
    halo: slice
    exchange: Exchange


@dataclass(frozen=True, eq=False)
class DistributedSweeps:
    """`Sweeps` on ranks.

    It works on rows of length 1 in memory that the ranks of a machine share: their own rows, each
    rank's in the order of the colours, then their rows of other machines. `order` sorts the rows of
    this rank, which are `own` of these, and their `lengths` become part of C.
    """

    order: Indices
    colours: tuple[Colour, ...]
    lengths: Array
    node: Node
    own: slice
    height: int

    @classmethod
    def of(cls, C: ShardedRows, squares: ShardedArray) -> DistributedSweeps | None:
        """Return the sweeps of C; None if its graph has many colours for its size."""
        team, rows = C.team, C.own.shape[0]
        lengths = C.halo(np.sqrt(squares.local))
        graph = _joined(C, lengths)
        total = int(team.sum(float(graph.nnz)))
        colour = colouring(graph, C.halo, team, most=1 + total // MIN_COLOUR_ENTRIES)
        if colour is None:
            return None
        near = np.arange(rows)
        if C.n // team.size >= MIN_REORDERED_SIDE:  # neighbours near each other within a colour
            from condal.distributed.matrix import local_order

            near = np.argsort(local_order(graph))
        order = np.lexsort((near, colour[:rows]))
        places = Places.of(C, order, colour, Node(team))
        return cls(
            order,
            _colours(C, graph, colour, order, places),
            lengths[:rows][order][:, None],
            places.node,
            places.own,
            places.height,
        )

    def relaxed(self, R: Any, *, sweeps: int, omega: float, single: bool) -> ShardedArray:
        """Return R after some sweeps, none of which increases <C, R R'>; see `Sweeps.relaxed`."""
        dtype: Any = np.float32 if single else np.float64
        count, width = R.local.shape
        unit = self.node.array((self.height, width), dtype)
        own: Array = unit[self.own]
        for rows in block_slices(count, width):
            own[rows] = R.local[self.order[rows]] / self.lengths[rows]
        for colour in self.colours:
            colour.exchange(own, unit[colour.halo])
        self.node.wait()
        entries = sum(colour.blocks[np.float64].nnz for colour in self.colours)
        add_work(sweeps * PRODUCT_FLOPS * entries * width)
        for _ in range(sweeps):
            check_cancelled()
            for colour in self.colours:
                move_rows(own[colour.rows], colour.blocks[dtype] @ unit, omega)
                colour.exchange(own, unit[colour.halo])
                self.node.wait()
            if time_is_up():
                break
        out = np.empty((count, width))
        for rows in block_slices(count, width):
            double = own[rows].astype(np.float64)
            out[self.order[rows]] = double * (self.lengths[rows] / row_sizes(double))
        self.node.wait()  # before another call writes to the same memory
        return ShardedArray(out, R.team)


@dataclass(frozen=True, eq=False)
class Places:
    """Where the rows of this rank and of its halo are in the memory of the node.

    `columns` has the place of each; `others` are the rows of the halo that belong to other
    machines, in the order of their colours, owners and places there, and `first` is where they
    begin.
    """

    node: Node
    own: slice
    height: int
    columns: Indices
    others: Indices
    first: int

    @classmethod
    def of(cls, C: ShardedRows, order: Indices, colour: Indices, node: Node) -> Places:
        """Return the places, given the order of the rows of this rank and all colours."""
        team, rows = C.team, order.size
        ranges = [team.range(C.n, rank) for rank in node.ranks]
        begins = np.cumsum([0, *(end - begin for begin, end in ranges)])
        place = np.empty(rows, dtype=np.int64)
        place[order] = np.arange(rows)
        place = C.halo(place)  # of each row among those of its owner
        firsts = np.array([team.range(C.n, rank)[0] for rank in range(team.size)])
        owner = np.searchsorted(firsts, C.halo.columns, side="right") - 1
        position = np.full(team.size, -1)
        position[node.ranks] = begins[:-1]
        shared = position[owner] >= 0
        columns = np.where(shared, position[owner] + place, -1)
        away = np.flatnonzero(~shared)
        others = away[np.lexsort((place[away], owner[away], colour[away]))]
        counts = node.comm.allgather(int(others.size))
        me = node.ranks.index(team.rank)
        first = int(begins[-1]) + sum(counts[:me])
        columns[others] = first + np.arange(others.size)
        own = slice(int(begins[me]), int(begins[me]) + rows)
        return cls(node, own, int(begins[-1]) + sum(counts), columns, others, first)


def _joined(C: ShardedRows, lengths: Array) -> Any:
    """The entries of C off the diagonal, for rows of length 1, relative to the largest."""
    own, rows = C.own, C.own.shape[0]
    row = np.repeat(np.arange(rows), np.diff(own.indptr))
    off = (row != own.indices) & (own.data != 0.0)
    weights = C.factor * own.data[off] * lengths[row[off]] * lengths[own.indices[off]]
    largest = C.team.largest(float(np.abs(weights).max(initial=0.0))) or 1.0
    places = (row[off], own.indices[off])
    return sp.csr_array((weights / largest, places), shape=own.shape)


def _colours(
    C: ShardedRows, graph: Any, colour: Indices, order: Indices, places: Places
) -> tuple[Colour, ...]:
    """The colours in turn, with their entries at the places of the rows."""
    team, rows = C.team, order.size
    columns = places.columns[graph.indices]
    entries = sp.csr_array((graph.data, columns, graph.indptr), (rows, places.height))[order]
    entries.sort_indices()
    count = int(team.largest(float(colour.max(initial=-1)))) + 1
    ends = [np.searchsorted(colour[some], np.arange(count + 1)) for some in (order, places.others)]
    place = places.columns[:rows] - places.own.start
    colours = []
    for c in range(count):
        own, others = (slice(int(end[c]), int(end[c + 1])) for end in ends)
        block = entries[own]
        blocks = {np.float64: block, np.float32: block.astype(np.float32)}
        exchange = Exchange(C.halo.columns[places.others[others]], C.n, team, places=place)
        halo = slice(places.first + others.start, places.first + others.stop)
        colours.append(Colour(own, blocks, halo, exchange))
    return tuple(colours)
