"""s = svec(S): the order of cones in CVXPY's rows and in the blocks of conic programs.

No entry is scaled by a rounded sqrt(2): the rows are the user's numbers. The dual z of s pairs by
<s, z> = <S, Z>, so its entries off the diagonal are twice those of Z, which is exact as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh

from condal.linalg.points import Array, Indices
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
    def blocks(self) -> tuple[Block, ...]:
        """The cones as blocks of a conic program; equations have none."""
        blocks = [Block("orthant", self.nonneg)] if self.nonneg else []
        blocks += [Block("second-order" if n > 1 else "orthant", n) for n in self.soc]
        return (*blocks, *(Block("psd" if n > 1 else "orthant", n) for n in self.psd))

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
        counts = np.ones(self.size)
        begin = self.zero + self.plain
        for n in self.psd:
            counts[begin : begin + triangle(n)] = 2.0
            counts[begin + _start(np.arange(n), n)] = 1.0
            begin += triangle(n)
        return counts

    def gathered(self, x: Array) -> Array:
        """Return s, without equations, for the vector x of a conic program."""
        parts, begin = [x[: self.plain]], self.plain
        for n in self.psd:
            parts.append(svec(x[begin : begin + n * n].reshape(n, n)))
            begin += n * n
        return np.concatenate(parts)

    def spread(self, M: Any) -> Any:
        """Return MP for a sparse M whose columns are the rows of s = Px without equations."""
        M = sp.coo_array(M)
        rows, cols, values = M.row, M.col.astype(np.int64), M.data
        sides = np.array(self.psd, dtype=np.int64)
        begins = self.plain + np.concatenate([[0], np.cumsum(sides * (sides + 1) // 2)])
        places = self.plain + np.concatenate([[0], np.cumsum(sides**2)])
        matrix = cols >= self.plain
        block = np.searchsorted(begins, cols[matrix], side="right") - 1
        n, at = sides[block], places[block]
        i, j = _entry(cols[matrix] - begins[block], n)
        off = i != j
        values, cols = values.copy(), cols.copy()
        values[matrix] *= np.where(off, 0.5, 1.0)
        cols[matrix] = at + j * n + i
        return sp.csr_array(
            (
                np.concatenate([values, values[matrix][off]]),
                (
                    np.concatenate([rows, rows[matrix][off]]),
                    np.concatenate([cols, (at + i * n + j)[off]]),
                ),
            ),
            shape=(M.shape[0], int(places[-1])),
        )

    def outside(self, v: Array) -> float:
        """Return the largest violation of a cone by v; equations may have any value."""
        plain = v[self.zero : self.zero + self.nonneg]
        violations = [0.0, -float(plain.min(initial=0.0))]
        begin = self.zero + self.nonneg
        for n in self.soc:
            violations.append(float(np.linalg.norm(v[begin + 1 : begin + n]) - v[begin]))
            begin += n
        for n in self.psd:
            end = begin + triangle(n)
            violations.append(-float(eigvalsh(smat(v[begin:end], n), subset_by_index=[0, 0])[0]))
            begin = end
        return max(violations)


def triangle(n: int) -> int:
    """Return the number of rows of a symmetric n x n matrix."""
    return n * (n + 1) // 2


def svec(S: Array) -> Array:
    """Return the lower triangle of a symmetric matrix column by column."""
    return np.concatenate([S[j, j:] for j in range(S.shape[0])])


def smat(s: Array, n: int) -> Array:
    """Return the symmetric n x n matrix S with s = svec(S), or one for each row of s."""
    S = np.zeros((*s.shape[:-1], n, n))
    cols, rows = np.triu_indices(n)
    S[..., rows, cols] = S[..., cols, rows] = s
    return S


def _start(j: Indices, n: int | Indices) -> Indices:
    """Return the index at which column j of the lower triangle begins."""
    return j * n - j * (j - 1) // 2


def _entry(k: Indices, n: Indices) -> tuple[Indices, Indices]:
    """Return i >= j of entry k of svec, for matrices of side n."""
    j = ((2 * n + 1 - np.sqrt((2.0 * n + 1) ** 2 - 8.0 * k)) / 2).astype(np.int64)
    j -= _start(j, n) > k  # correct the rounding of the root
    j += _start(j + 1, n) <= k
    return k - _start(j, n) + j, j
