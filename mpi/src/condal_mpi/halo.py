"""Halos: the rows of other ranks that a rank needs, fetched for all columns at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import cycle
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.linalg.sparse import index_type
from condal_mpi.node_rows import NodeRows
from condal_mpi.team import Team, engine


class Exchange:
    """Fetch some rows of other ranks, which all ranks do at the same time.

    Parameters
    ----------
    wanted : ndarray of int
        The numbers of the rows, from 0 to n - 1, each of them owned by another rank; rows of a
        rank follow each other, and the ranks are in ascending order.
    n : int
        The number of rows on all ranks.
    places : ndarray of int, optional
        Where this rank stores each of its own rows; by default in ascending order.
    """

    def __init__(
        self, wanted: Indices, n: int, team: Team, *, places: Indices | None = None
    ) -> None:
        self.team, self.size = team, int(wanted.size)
        begin, _ = team.range(n)
        owners = owners_of(wanted, n, team)
        counts = np.bincount(owners, minlength=team.size).astype(np.int64)
        asked = np.empty_like(counts)
        team.comm.Alltoall(counts, asked)
        cuts = np.concatenate([[0], np.cumsum(counts)])
        own = sent_to_ranks(wanted.astype(np.int64, copy=False), cuts, team) - begin
        self._sent = own if places is None else places[own]
        self._to, self._from = _slices(asked), _slices(counts)
        self._buffer: Any = np.empty(0)

    def __call__(self, own: Any, into: Any) -> None:
        """Write the rows of other ranks to `into`, given the rows of this one."""
        MPI, comm = engine().MPI, self.team.comm
        kind = _row_type(own.dtype.char, own.shape[1] if own.ndim == 2 else 1)
        requests = [
            comm.Irecv([into[rows], rows.stop - rows.start, kind], source=rank)
            for rank, rows in self._from
        ]
        packed = self._packed(own)
        requests += [
            comm.Isend([packed[rows], rows.stop - rows.start, kind], dest=rank)
            for rank, rows in self._to
        ]
        MPI.Request.Waitall(requests)

    def returned(self, values: Array) -> tuple[Indices, Array]:
        """Send a number for each row of other ranks to its owner; return this rank's rows of those
        that it receives, and these, in the order of the ranks that send them."""
        MPI, comm = engine().MPI, self.team.comm
        received = np.empty(self._sent.size)
        requests = [comm.Irecv(received[rows], source=rank) for rank, rows in self._to]
        requests += [comm.Isend(values[rows], dest=rank) for rank, rows in self._from]
        MPI.Request.Waitall(requests)
        return self._sent, received

    def _packed(self, own: Any) -> Any:
        """The rows that others want, in a buffer that is used again."""
        shape = (self._sent.size, *own.shape[1:])
        if self._buffer.shape != shape or self._buffer.dtype != own.dtype:
            self._buffer = np.empty(shape, own.dtype)
        return np.take(own, self._sent, axis=0, out=self._buffer, mode="clip")


def sent_to_ranks(values: Any, cuts: Indices, team: Team) -> Any:
    """Send values[cuts[k] : cuts[k + 1]] to rank k, and return what all ranks send to this one."""
    counts = np.diff(cuts).astype(np.int64)
    received = np.empty_like(counts)
    team.comm.Alltoall(counts, received)
    into = np.empty(int(received.sum()), dtype=values.dtype)
    send = [np.ascontiguousarray(values), (counts, _starts(counts))]
    team.comm.Alltoallv(send, [into, (received, _starts(received))])
    return into


def row_starts(n: int, team: Team) -> Indices:
    """Return where the rows of each rank begin, and n."""
    return np.array([*(team.range(n, rank)[0] for rank in range(team.size)), n], dtype=np.int64)


def owners_of(rows: Indices, n: int, team: Team) -> Indices:
    """Return the rank that owns each of these rows."""
    return np.searchsorted(row_starts(n, team), rows, side="right") - 1


def _starts(counts: Indices) -> Indices:
    return np.cumsum(counts) - counts


def _slices(counts: Indices) -> list[tuple[int, slice]]:
    """The rows of each rank that has any."""
    ends = np.cumsum(counts)
    return [
        (rank, slice(int(ends[rank] - counts[rank]), int(ends[rank])))
        for rank in np.flatnonzero(counts).tolist()
    ]


@lru_cache(maxsize=256)
def _row_type(char: str, width: int) -> Any:
    """The MPI type of a row: rows are counted, as 2^31 numbers would be too many."""
    MPI = engine().MPI
    kind = {"d": MPI.DOUBLE, "f": MPI.FLOAT, "l": MPI.INT64_T, "L": MPI.UINT64_T}[char]
    return kind.Create_contiguous(width).Commit()


class Halo:
    """The rows of an array of n rows in some `columns`, this rank's own first."""

    def __init__(self, columns: Indices, n: int, team: Team) -> None:
        begin, end = team.range(n)
        self.columns, self.own, self.n, self.team = columns, end - begin, n, team
        self._rows: Any = np.empty(0)

    @classmethod
    def of(cls, wanted: Indices, n: int, team: Team) -> Halo:
        """Return the halo of the rows of this rank and of the wanted ones."""
        begin, end = team.range(n)
        others = np.unique(wanted[(wanted < begin) | (wanted >= end)])
        return cls(np.concatenate([np.arange(begin, end), others]), n, team)

    def places(self, rows: Indices) -> Indices:
        """Return the places of these rows among the columns."""
        places = rows - int(self.columns[0])
        outside = (places < 0) | (places >= self.own)
        places[outside] = self.own + np.searchsorted(self.columns[self.own :], rows[outside])
        return places

    @property
    def size(self) -> int:
        """The number of rows of other ranks."""
        return int(self.columns.size - self.own)

    @cached_property
    def owners(self) -> Indices:
        """The ranks that own the rows of other ranks."""
        return owners_of(self.columns[self.own :], self.n, self.team)

    def places_at_owners(self) -> Indices:
        """Return the number of each row among those of its owner."""
        owners = np.concatenate([np.full(self.own, self.team.rank), self.owners])
        return self.columns - row_starts(self.n, self.team)[owners]

    @cached_property
    def on_node(self) -> NodeRows:
        """Where the rows are in an array of all rows of the node."""
        return NodeRows(self)

    @cached_property
    def _exchange(self) -> Exchange:
        """Fetches the rows of all other ranks."""
        return Exchange(self.columns[self.own :], self.n, self.team)

    @cached_property
    def _from_nodes(self) -> Exchange:
        """Fetches the rows of other nodes."""
        return Exchange(self.on_node.columns, self.n, self.team)

    @cached_property
    def _vectors(self) -> Iterator[Array]:
        """Two vectors on the node by turns: while one is read, other ranks write the other."""
        return cycle([self.on_node.empty((), np.float64) for _ in range(2)])

    def __call__(self, local: Any) -> Any:
        """Return the rows of all columns, given those of this rank; of numbers or integers."""
        whole = np.empty((self.columns.size, *local.shape[1:]), local.dtype)
        whole[: self.own] = local
        self._exchange(np.ascontiguousarray(local), whole[self.own :])
        return whole

    def returned(self, whole: Array) -> tuple[Array, Indices, Array]:
        """Send a number for each row to its owner.

        Return this rank's numbers for its own rows, and the rows and numbers that others sent.
        """
        return whole[: self.own], *self._exchange.returned(np.ascontiguousarray(whole[self.own :]))

    def fetch(self, local: Array) -> Array:
        """Return the entries of one vector on the node, given those of this rank, in memory that
        the next call but one overwrites."""
        return local if self.team.size == 1 else self._filled(next(self._vectors), local)

    def fetch_rows(self, local: Array) -> Array:
        """Return the rows of the node, given those of this rank, in memory that the next call
        overwrites: to map new pages takes longer than to copy the rows."""
        if self._rows.shape[1:] != local.shape[1:] or self._rows.dtype != local.dtype:
            self._rows = np.empty(0)  # free them first
            self._rows = self.on_node.empty(local.shape[1:], local.dtype)
        else:
            self.on_node.publish()  # others have read them
        return self._filled(self._rows, local)

    def _filled(self, rows: Array, local: Array) -> Array:
        """Write the rows of this rank and those from other nodes to an array of the node."""
        own = rows[self.on_node.own]
        own[:] = local
        self._from_nodes(own, rows[self.on_node.outer])
        self.on_node.publish()
        return rows


def with_halo(block: Any, team: Team) -> tuple[Any, Halo]:
    """Renumber the columns of a sparse block of this rank's rows, and return it with its halo.

    The columns of this rank come first, then those of other ranks in which the block has entries.
    """
    halo = Halo.of(block.indices, block.shape[1], team)
    shape = (block.shape[0], halo.columns.size)
    kind = index_type(max(*shape, block.nnz))
    indices, indptr = halo.places(block.indices).astype(kind), block.indptr.astype(kind)
    return sp.csr_array((block.data, indices, indptr), shape=shape), halo
