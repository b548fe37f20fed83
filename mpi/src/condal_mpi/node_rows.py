"""Rows that the ranks of one machine, a node, store in one array, which all of them read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.blocked import aligned_empty
from condal.linalg.points import Indices
from condal_mpi.shared_memory import shared_memory

if TYPE_CHECKING:
    from condal_mpi.halo import Halo


class NodeRows:
    """Where the rows of a halo are in an array of all rows of a node.

    The ranks of the node have a segment each: their own rows, and then the rows that they need from
    other nodes, `outer`, which are exchanged by messages. Rows of another rank of the node are read
    where they are. A rank that is alone on its node has all of its halo beside its own rows.

    Parameters
    ----------
    halo : Halo
        The rows that this rank needs.
    places : ndarray of int, optional
        Where this rank stores each of its own rows in its segment; by default in ascending order.
    order : ndarray of int, optional
        The order of the rows of other ranks; by default ascending.

    Attributes
    ----------
    index : ndarray of int
        Where the rows of the halo's columns are in the array.
    own, outer : slice
        The rows of this rank in the array, and those of other nodes.
    columns : ndarray of int
        The numbers of the latter.
    from_nodes : ndarray of bool
        Which rows of other ranks, in their order, are those of other nodes.
    """

    def __init__(
        self, halo: Halo, places: Indices | None = None, order: Indices | None = None
    ) -> None:
        team, own = halo.team, halo.own
        self.node = team.node
        mates = np.array(self.node.gathered(team.rank))
        order = np.arange(halo.size) if order is None else order
        self.from_nodes = ~np.isin(halo.owners[order], mates)
        outer = order[self.from_nodes]
        counts = np.array(self.node.gathered(own + outer.size))
        starts = np.cumsum(counts) - counts
        begin, self.size = int(starts[self.node.rank]), int(counts.sum())
        self.own = slice(begin, begin + own)
        self.outer = slice(begin + own, begin + own + outer.size)
        self.columns = halo.columns[own + outer]
        self.index = halo.places_at_owners() if places is None else halo(places)
        self.index[:own] += begin
        inner = np.flatnonzero(np.isin(halo.owners, mates))
        self.index[own + inner] += starts[np.searchsorted(mates, halo.owners[inner])]
        self.index[own + outer] = np.arange(self.outer.start, self.outer.stop)

    def empty(self, width: tuple[int, ...], dtype: Any) -> Any:
        """Return an array without values for all rows of the node; all of its ranks call this."""
        kind, columns = np.dtype(dtype), int(np.prod(width))
        if self.node.size == 1 or columns == 0:
            return aligned_empty((self.size, columns), kind).reshape(self.size, *width)
        own = (self.outer.stop - self.own.start) * columns * kind.itemsize
        memory = shared_memory(self.node, own)
        return np.frombuffer(memory, kind).reshape(self.size, *width)

    def publish(self) -> None:
        """Wait until the ranks of the node have written what they read of each other next."""
        if self.node.size > 1:
            self.node.comm.Barrier()
