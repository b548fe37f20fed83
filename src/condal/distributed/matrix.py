"""Sparse symmetric matrices, the rows of which are owned by ranks: PETSc's AIJ."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.distributed.engine import engine
from condal.distributed.owned import Owned
from condal.distributed.team import Team
from condal.errors import ProblemError
from condal.points import Array


class Rows:
    """C, n x n, or a multiple of it: each rank has made PETSc's matrix of its own rows.

    `block` is the rows of this rank as a CSR array of n columns.
    """

    def __init__(self, block: Any, team: Team) -> None:
        PETSc, n = engine().PETSc, int(block.shape[1])
        begin, end = team.range(n)
        with team.together():
            _require_rows(block, end - begin, np.iinfo(PETSc.IntType).max)
        PETSc.garbage_cleanup(team.comm)  # matrices that all ranks have forgotten: PETSc keeps them
        here = (end - begin, n)
        arrays = (block.indptr.astype(PETSc.IntType), block.indices.astype(PETSc.IntType))
        data = np.asarray(block.data, dtype=np.float64)
        self.mat = PETSc.Mat().createAIJ((here, here), csr=(*arrays, data), comm=team.comm)
        self.n, self.team, self.factor = n, team, 1.0
        self._from, self._to = self.mat.createVecs()

    @cached_property
    def length(self) -> float:
        """|C|_F."""
        return abs(self.factor) * float(self.mat.norm(engine().PETSc.NormType.FROBENIUS))

    def __rmul__(self, c: float) -> Rows:
        """c C: the numbers stay where they are."""
        made = object.__new__(Rows)
        made.mat, made.n, made.team, made.factor = self.mat, self.n, self.team, c * self.factor
        made._from, made._to = self._from, self._to
        return made

    def __matmul__(self, v: Owned) -> Owned:
        """C v, for a vector or a few, by PETSc's product."""
        local = np.ascontiguousarray(v.local)
        if local.ndim == 1:
            return Owned(self._product(local), self.team)
        columns = [self._product(np.ascontiguousarray(column)) for column in local.T]
        return Owned(np.column_stack(columns), self.team)

    def _product(self, local: Array) -> Array:
        out = np.empty(local.size)
        self._from.placeArray(local)
        self._to.placeArray(out)
        try:
            self.mat.mult(self._from, self._to)
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
