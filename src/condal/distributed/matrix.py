"""Sparse symmetric matrices, the rows of which are owned by ranks: PETSc's AIJ and scatters."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.distributed.engine import engine
from condal.distributed.halo import renumbered
from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team
from condal.errors import ProblemError
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array, Indices


class ShardedRows:
    """C, n x n, or a multiple of it: each rank has made PETSc's matrix of its own rows.

    `block` is the rows of this rank as a CSR array of n columns. PETSc has a matrix over many ranks
    as well, in two parts, of the columns of this rank and of all others. Where a row has few
    entries, to go over the rows twice takes longer than the messages that it lets pass meanwhile:
    here v comes first, and then one product.
    """

    def __init__(self, block: Any, team: Team) -> None:
        PETSc, n = engine().PETSc, int(block.shape[1])
        begin, end = team.range(n)
        with team.together():
            _require_rows(block, end - begin, np.iinfo(PETSc.IntType).max)
        PETSc.garbage_cleanup(team.comm)  # matrices that all ranks have forgotten: PETSc keeps them
        own, self._halo = renumbered(block, team)
        arrays = (own.indptr.astype(PETSc.IntType), own.indices.astype(PETSc.IntType))
        data = np.asarray(own.data, dtype=np.float64)
        self._mat = PETSc.Mat().createAIJ(own.shape, csr=(*arrays, data), comm=PETSc.COMM_SELF)
        self.n, self.team, self.factor = n, team, 1.0
        self._from, self._to = self._mat.createVecs()

    @property
    def stable_norm(self) -> float:
        """|C|_F."""
        return abs(self.factor) * self._length

    @cached_property
    def _length(self) -> float:
        own = float(self._mat.norm(engine().PETSc.NormType.FROBENIUS))
        return stable_norm(np.array(self.team.gathered(own)))

    def entries(self) -> tuple[Indices, Indices, Array]:
        """This rank's entries of C without the factor: rows, columns and numbers."""
        pointers, places, numbers = self._mat.getValuesCSR()
        begin, end = self.team.range(self.n)
        rows = np.repeat(np.arange(begin, end), np.diff(pointers))
        return rows, self._halo.columns[places], np.asarray(numbers, dtype=np.float64)

    def __rmul__(self, c: float) -> ShardedRows:
        """c C: the numbers stay where they are."""
        made = copy(self)
        made.factor = c * self.factor
        return made

    def __matmul__(self, v: ShardedArray) -> ShardedArray:
        """C v, for a vector or a few, by PETSc's product."""
        local = np.ascontiguousarray(v.local)
        if local.ndim == 1:
            return ShardedArray(self._product(local), self.team)
        columns = [self._product(np.ascontiguousarray(column)) for column in local.T]
        return ShardedArray(np.column_stack(columns), self.team)

    def _product(self, local: Array) -> Array:
        out = np.empty(local.size)
        self._from.placeArray(self._halo.lent(local))
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
    """Raise ProblemError unless it is a CSR block of so many rows that PETSc can count."""
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
