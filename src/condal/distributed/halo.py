"""Entries of a distributed vector that a rank needs of others: those beside its own rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.distributed.engine import engine
from condal.distributed.team import Team
from condal.points import Array


class Halo:
    """A sparse block of a rank's rows, its columns numbered anew: its own first, then others'.

    `block` is that matrix, and `columns` the numbers that its columns had. Called with this rank's
    entries of a vector, it gives the entries of all columns of the block, fetched from the ranks
    that own them by PETSc's scatter.
    """

    def __init__(self, block: Any, team: Team) -> None:
        PETSc, n = engine().PETSc, int(block.shape[1])
        begin, end = team.range(n)
        own = (block.indices >= begin) & (block.indices < end)
        others = np.unique(block.indices[~own])
        places = np.where(own, block.indices - begin, 0)
        places[~own] = end - begin + np.searchsorted(others, block.indices[~own])
        shape = (block.shape[0], end - begin + others.size)
        self.block = sp.csr_array((block.data, places, block.indptr), shape=shape)
        self.columns = np.concatenate([np.arange(begin, end), others])  # their numbers in the whole
        self._from = PETSc.Vec().createMPI((end - begin, n), comm=team.comm)
        self._to = PETSc.Vec().createSeq(others.size, comm=PETSc.COMM_SELF)
        wanted = PETSc.IS().createGeneral(others.astype(PETSc.IntType), comm=PETSc.COMM_SELF)
        self._scatter = PETSc.Scatter().create(self._from, wanted, self._to, None)

    def __call__(self, local: Array) -> Array:
        """The entries of all columns of the block, from those that are here; of some vectors."""
        if local.ndim == 2:
            return np.column_stack([self(one) for one in local.T])
        self._from.getArray()[:] = local
        self._scatter.scatter(self._from, self._to)
        return np.concatenate([local, self._to.getArray()])
