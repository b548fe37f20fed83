"""Entries of a distributed vector that a rank needs of others: those beside its own rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.distributed.engine import engine
from condal.distributed.team import Team
from condal.linalg.points import Array, Indices


def renumbered(block: Any, team: Team) -> tuple[Any, Halo]:
    """A sparse block of a rank's rows, its columns numbered anew: its own first, then those of
    others that it touches; and the halo of these."""
    begin, end = team.range(block.shape[1])
    own = (block.indices >= begin) & (block.indices < end)
    others = np.unique(block.indices[~own])
    places = np.where(own, block.indices - begin, 0)
    places[~own] = end - begin + np.searchsorted(others, block.indices[~own])
    shape = (block.shape[0], end - begin + others.size)
    made = sp.csr_array((block.data, places, block.indptr), shape=shape)
    return made, Halo(np.concatenate([np.arange(begin, end), others]), block.shape[1], team)


class Halo:
    """The entries of a vector of n that stand in some `columns`, this rank's own first: those of
    others are fetched from the ranks that own them, by PETSc's scatter.

    It takes one vector, or some, as the columns of a matrix.
    """

    def __init__(self, columns: Indices, n: int, team: Team) -> None:
        PETSc = engine().PETSc
        begin, end = team.range(n)
        self.columns, self._own, self._alone = columns, end - begin, team.size == 1
        self._all = np.empty(0 if self._alone else columns.size)
        others = columns[self._own :].astype(PETSc.IntType)
        wanted = PETSc.IS().createGeneral(others, comm=PETSc.COMM_SELF)
        self._from = PETSc.Vec().createMPI((self._own, n), comm=team.comm)
        self._to = PETSc.Vec().createWithArray(self._all[self._own :], comm=PETSc.COMM_SELF)
        self._scatter = PETSc.Scatter().create(self._from, wanted, self._to, None)

    def __call__(self, local: Array) -> Array:
        """The entries of all columns, from those that are here."""
        if local.ndim == 2:
            return np.column_stack([self(one) for one in local.T])
        return self.lent(np.ascontiguousarray(local)).copy()

    def lent(self, local: Array) -> Array:
        """That of one vector, in memory of the halo's own, to be read until it is asked again."""
        if self._alone:
            return local
        self._from.placeArray(local)
        try:
            self._scatter.begin(self._from, self._to)
            self._all[: self._own] = local
            self._scatter.end(self._from, self._to)
        finally:
            self._from.resetArray()
        return self._all
