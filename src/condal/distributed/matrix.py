"""Sparse symmetric matrices whose rows are owned by ranks, and the halos of their products."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.distributed.engine import engine
from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team
from condal.errors import ProblemError
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array, Indices


class ShardedRows:
    """C, n x n, or a multiple of it: each rank holds its own rows as a PETSc matrix.

    `block` is the rows of this rank as a CSR array of n columns. PETSc's own distributed matrices
    store the columns of this rank and those of the others separately. If rows have few entries, to
    pass over them twice takes longer than the communication that it hides. Here the halo of v is
    fetched first, and then there is one product.
    """

    def __init__(self, block: Any, team: Team) -> None:
        PETSc, n = engine().PETSc, int(block.shape[1])
        begin, end = team.range(n)
        with team.together():
            _require_rows(block, end - begin, np.iinfo(PETSc.IntType).max)
        PETSc.garbage_cleanup(team.comm)  # PETSc keeps matrices that all ranks have dropped
        own, self._halo = with_halo(block, team)
        arrays = (own.indptr.astype(PETSc.IntType), own.indices.astype(PETSc.IntType))
        data = np.asarray(own.data, dtype=np.float64)
        self._mat = PETSc.Mat().createAIJ(own.shape, csr=(*arrays, data), comm=PETSc.COMM_SELF)
        self.n, self.team, self.factor = n, team, 1.0
        self.nnz = int(own.nnz)  # of this rank
        self._from, self._to = self._mat.createVecs()

    @property
    def norm(self) -> float:
        """|C|_F."""
        return abs(self.factor) * self._unscaled_norm

    @cached_property
    def _unscaled_norm(self) -> float:
        own = float(self._mat.norm(engine().PETSc.NormType.FROBENIUS))
        return stable_norm(np.array(self.team.gathered(own)))

    def entries(self) -> tuple[Indices, Indices, Array]:
        """Return the rows, columns and values of this rank's entries of C without the factor."""
        pointers, places, values = self._mat.getValuesCSR()
        begin, end = self.team.range(self.n)
        rows = np.repeat(np.arange(begin, end), np.diff(pointers))
        return rows, self._halo.columns[places], np.asarray(values, dtype=np.float64)

    def __rmul__(self, c: float) -> ShardedRows:
        """Return c C, which shares the entries of C."""
        scaled = copy(self)
        scaled.factor = c * self.factor
        return scaled

    def __matmul__(self, v: ShardedArray) -> ShardedArray:
        """Return C v, for a vector or a few columns."""
        if v.ndim == 1:
            return ShardedArray(self._product(np.ascontiguousarray(v.local)), self.team)
        columns = [self._product(np.ascontiguousarray(column)) for column in v.local.T]
        return ShardedArray(np.column_stack(columns), self.team)

    def _product(self, local: Array) -> Array:
        out = np.empty(local.size)
        self._from.placeArray(self._halo.fetch(local))
        self._to.placeArray(out)
        try:
            self._mat.mult(self._from, self._to)
        finally:
            self._from.resetArray()
            self._to.resetArray()
        if self.factor != 1.0:
            out *= self.factor
        return out


def _require_rows(block: Any, rows: int, most: int) -> None:
    """Raise ProblemError unless it is a finite CSR block of `rows` rows that PETSc can index."""
    if not sp.issparse(block) or block.format != "csr" or block.shape[0] != rows:
        raise ProblemError(
            f"the rows of a rank must be a CSR array of {rows} rows; got {type(block).__name__} of "
            f"shape {np.shape(block)}"
        )
    if max(block.shape[1], block.nnz) > most:
        raise ProblemError(
            f"{max(block.shape[1], block.nnz):,} is more than PETSc counts with "
            f"{most.bit_length() + 1}-bit numbers: use one that was built with 64-bit indices"
        )
    if not np.all(np.isfinite(block.data)):
        raise ProblemError("the matrix holds NaN or infinity: clean the data first")


def with_halo(block: Any, team: Team) -> tuple[Any, Halo]:
    """Renumber the columns of a sparse block of this rank's rows, and return it with its halo.

    The columns of this rank come first, then those of other ranks in which the block has entries.
    """
    begin, end = team.range(block.shape[1])
    own = (block.indices >= begin) & (block.indices < end)
    others = np.unique(block.indices[~own])
    places = np.where(own, block.indices - begin, 0)
    places[~own] = end - begin + np.searchsorted(others, block.indices[~own])
    shape = (block.shape[0], end - begin + others.size)
    renumbered = sp.csr_array((block.data, places, block.indptr), shape=shape)
    return renumbered, Halo(np.concatenate([np.arange(begin, end), others]), block.shape[1], team)


class Halo:
    """The entries of a vector of length n in some `columns`, this rank's own first.

    PETSc's scatter fetches the entries of other ranks. A matrix is treated column by column.
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
        """Return the entries of all columns, given those of this rank."""
        if local.ndim == 2:
            return np.column_stack([self(column) for column in local.T])
        return self.fetch(np.ascontiguousarray(local)).copy()

    def fetch(self, local: Array) -> Array:
        """Return the entries of one vector in a buffer that the next call overwrites."""
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
