"""s = svec(S): the order of cones in CVXPY's rows and in the blocks of conic programs.

No entry is scaled by a rounded sqrt(2): the rows are the user's numbers. The dual z of s pairs by
<s, z> = <S, Z>, so its entries off the diagonal are twice those of Z, which is exact as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.cones import Cone
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import row_norms
from condal.problems.conic.program import Block

ZERO, CONE, PSD = 0, 1, 2  # the kinds of a row


@dataclass(frozen=True)
class Layout:
    """The rows of s: `zero` equations, `nonneg` that are >= 0, second-order cones, psd matrices.

    A psd n x n matrix takes n (n + 1)/2 rows: its lower triangle column by column. A cone of one
    number is >= 0.
    """

    zero: int = 0
    nonneg: int = 0
    soc: tuple[int, ...] = ()
    psd: tuple[int, ...] = ()

    @classmethod
    def of(cls, dims: Any) -> Layout:
        """Return the layout of CVXPY's `ConeDims`."""
        soc, psd = (tuple(int(n) for n in sizes) for sizes in (dims.soc, dims.psd))
        return cls(int(dims.zero), int(dims.nonneg), soc, psd)

    @cached_property
    def cones(self) -> tuple[Cone, ...]:
        """The cones of s, in the order of the rows; equations have none."""
        cones = [Cone("orthant", self.nonneg)] if self.nonneg else []
        cones += [Cone("second-order" if n > 1 else "orthant", n) for n in self.soc]
        return (*cones, *(packed(n) if n > 1 else Cone("orthant", n) for n in self.psd))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The cones as blocks of a conic program."""
        return tuple(Block(cone.kind, cone.n) for cone in self.cones if cone.kind != "free")

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.kinds)

    @cached_property
    def kinds(self) -> Indices:
        """The kind of each row: ZERO, CONE (>= 0 or second-order) or PSD."""
        counts = [self.zero, self.plain, sum(map(triangle, self.psd))]
        return np.repeat([ZERO, CONE, PSD], counts)

    @property
    def degree(self) -> int:
        """The degree of the barrier: the gap of a central point over its mu."""
        return self.nonneg + len(self.soc) + sum(self.psd)

    @property
    def plain(self) -> int:
        """The number of rows before the psd matrices, without equations."""
        return self.nonneg + sum(self.soc)

    @cached_property
    def multiplicity(self) -> Array:
        """How often each row stands in the blocks: 2 off the diagonal of a matrix, else 1."""
        matrices = (packed(n).dual.vector(np.ones((n, n))) for n in self.psd)
        return np.concatenate([np.ones(self.zero + self.plain), *matrices])

    @cached_property
    def _packed(self) -> Any:
        """P with s = Px, without equations, for the vector x of a conic program.

        An entry off the diagonal of a matrix is the mean of its mirror images.
        """
        rows, cols = [np.arange(self.plain)], [np.arange(self.plain)]
        row = col = self.plain
        for n, group in groupby(self.psd):
            each = np.arange(len(list(group)))[:, None]
            j, i = np.triu_indices(n)
            here = (row + each * j.size + np.arange(j.size)).ravel()
            rows += [here, here]
            cols += [(col + each * n * n + place).ravel() for place in (i * n + j, j * n + i)]
            row, col = row + each.size * j.size, col + each.size * n * n
        weights = np.concatenate([np.ones(self.plain), np.full(2 * (row - self.plain), 0.5)])
        where = np.concatenate(rows), np.concatenate(cols)
        return sp.csr_array((weights, where), (row, col))

    def gathered(self, x: Array) -> Array:
        """Return s, without equations, for the vector x of a conic program."""
        return np.asarray(self._packed @ x)

    def spread(self, M: Any) -> Any:
        """Return MP for a sparse M whose columns are the rows of s = Px without equations."""
        whole = sp.csr_array(sp.csr_array(M) @ self._packed)
        whole.sort_indices()
        return whole

    def distances(self, v: Array) -> Array:
        """Return the distance of v from each equation, inequality and block."""
        begin = self.zero + self.nonneg
        plain = [np.abs(v[: self.zero]), np.maximum(-v[self.zero : begin], 0.0)]
        blocks = []
        for n, group in groupby(self.soc):
            end = begin + n * len(list(group))
            cones = v[begin:end].reshape(-1, n)
            head, width = cones[:, 0], row_norms(cones[:, 1:])
            outside = np.maximum(width - head, 0.0) / np.sqrt(2.0)
            outside = outside if n > 1 else np.maximum(-head, 0.0)
            blocks.append(np.where(width < -head, np.hypot(head, width), outside))
            begin = end
        for n, group in groupby(self.psd):
            end = begin + triangle(n) * len(list(group))
            values = np.linalg.eigvalsh(packed(n).matrices(v[begin:end].reshape(-1, triangle(n))))
            blocks.append(row_norms(np.minimum(values, 0.0)))
            begin = end
        return np.concatenate([*plain, *blocks])

    def by_block(self, sizes: Array, operation: np.ufunc) -> Array:
        """Return the sizes of equations and inequalities, and those of blocks by an operation."""
        begin = self.zero + self.nonneg
        lengths = [*self.soc, *map(triangle, self.psd)]
        if not lengths:
            return sizes[:begin]
        starts = begin + np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.int64)
        return np.concatenate([sizes[:begin], operation.reduceat(sizes, starts)])


def triangle(n: int) -> int:
    """Return the number of rows of a symmetric n x n matrix."""
    return n * (n + 1) // 2


def packed(n: int) -> Cone:
    """Return the cone of psd n x n matrices, each its lower triangle column by column."""
    return Cone("psd", n, packed=True)
