"""How the rows A_i couple: which of them share a row of x, and so meet in J J'."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.methods.surface.schwarz import Schwarz

MAX_WIDE_ROWS = 40  # each has a dense column of J J'
WIDE_SHARE = 0.25  # of the rows of x: an A_i with entries in more of them is wide
MIN_WIDE = 16  # an A_i with entries in fewer rows of x is never wide
MAX_COUPLINGS = 3 * 10**7  # pairs of rows of A that share a row of x
MAX_ROW_COUPLINGS = 200  # the same, per row of A, for J J' to be called sparse
BLOCK_NUMBERS = 2**15  # of the gathered rows of R, which stay in the cache


@dataclass(frozen=True, eq=False)
class Coupling:
    """The couplings of the rows of `matrix`, which are flattened n x n matrices A_i.

    The rows `squares` stand for dense matrices of rank one. R is orthogonal to the columns of
    `null`.
    """

    n: int
    matrix: Any
    squares: Indices
    null: Array

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    @property
    def solvable(self) -> bool:
        """Whether J J' can be formed."""
        return self.wide.size <= MAX_WIDE_ROWS and self.pairs <= MAX_COUPLINGS

    @property
    def sparse(self) -> bool:
        """Whether J J' is sparse but for a few rows, so that products with it are cheap."""
        return self.solvable and self.pairs <= MAX_ROW_COUPLINGS * self.size

    @cached_property
    def _touches(self) -> tuple[Indices, Indices, Any]:
        """(i, a) for each row a of x with entries of A_i, and the sparse map of R to (A_i R)_a."""
        coo = self.matrix.tocoo()
        a, b = np.divmod(coo.col.astype(np.int64), self.n)
        keys, place = np.unique(coo.row.astype(np.int64) * self.n + a, return_inverse=True)
        rows = sp.csr_array((coo.data, (place, b)), shape=(keys.size, self.n))
        return keys // self.n, keys % self.n, rows

    @cached_property
    def wide(self) -> Indices:
        """The i of the A_i with entries in many rows of x."""
        counts = np.bincount(self._touches[0], minlength=self.size)
        wide = counts > max(MIN_WIDE, WIDE_SHARE * self.n)
        wide[self.squares] = True
        return np.flatnonzero(wide)

    @cached_property
    def narrow(self) -> Indices:
        """The other i."""
        return np.setdiff1d(np.arange(self.size), self.wide)

    @cached_property
    def _narrow_touches(self) -> Indices:
        """The touches of narrow A_i, sorted by the number of touches of their row of x."""
        i, a, _ = self._touches
        chosen = np.flatnonzero(~np.isin(i, self.wide))
        counts = np.bincount(a[chosen], minlength=self.n)
        return chosen[np.lexsort((a[chosen], counts[a[chosen]]))]

    @cached_property
    def pairs(self) -> float:
        """The pairs of narrow rows that share a row of x, counted once for each such row."""
        counts = np.bincount(self._touches[1][self._narrow_touches], minlength=self.n)
        return float(counts.astype(np.float64) @ counts)

    @cached_property
    def groups(self) -> list[tuple[Any, int]]:
        """Maps of R to the rows (A_i R)_a, grouped so that each a has the same number of them."""
        _, a, rows = self._touches
        order = self._narrow_touches
        counts = np.bincount(a[order], minlength=self.n)[a[order]]
        starts = np.flatnonzero(np.diff(counts, prepend=0))
        ends = [*starts[1:], order.size][: starts.size]  # none if all rows are wide
        groups: list[tuple[Any, int]] = []
        for start, end in zip(starts, ends, strict=True):
            count = int(counts[start])
            step = max(1, BLOCK_NUMBERS // (32 * count)) * count
            blocks = (slice(k, min(k + step, int(end))) for k in range(int(start), int(end), step))
            groups.extend((rows[order[block]], count) for block in blocks)
        return groups

    @cached_property
    def pattern(self) -> tuple[Any, Any, Any]:
        """Where the products of the groups go: places in the data of J J', and its pattern.

        J J' of the narrow rows is a CSR array with these column indices and row pointers.
        """
        i, _, _ = self._touches
        position = np.empty(self.size, dtype=np.int64)
        position[self.narrow] = np.arange(self.narrow.size)
        order, begin, keys = position[i[self._narrow_touches]], 0, []
        for rows, count in self.groups:
            block = order[begin : begin + rows.shape[0]].reshape(-1, count)
            keys.append((block[:, :, None] * self.narrow.size + block[:, None, :]).ravel())
            begin += rows.shape[0]
        diagonal = np.arange(self.narrow.size) * (self.narrow.size + 1)  # for rows without entries
        every = np.concatenate([*keys, diagonal])
        unique, place = np.unique(every, return_inverse=True)
        row, column = np.divmod(unique, max(1, self.narrow.size))
        counts = np.bincount(row, minlength=self.narrow.size)
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        place = place[: every.size - diagonal.size].astype(np.int32)
        return place, column.astype(np.int32), pointers

    @cached_property
    def touched(self) -> Any:
        """The rows of x that each narrow row touches, as a CSR array of ones."""
        i, a, _ = self._touches
        chosen = self._narrow_touches
        place = np.searchsorted(self.narrow, i[chosen])
        shape = (self.narrow.size, self.n)
        return sp.csr_array((np.ones(chosen.size), (place, a[chosen])), shape=shape)

    @cached_property
    def schwarz(self) -> Schwarz:
        """The preconditioner of J J' of the narrow rows."""
        return Schwarz.of(self)

    @cached_property
    def diagonal(self) -> Indices:
        """The places of the diagonal in the data of J J' of the narrow rows."""
        _, columns, pointers = self.pattern
        owner = np.repeat(np.arange(self.narrow.size), np.diff(pointers))
        return np.flatnonzero(columns == owner)

    def removed(self, R: Array) -> Array:
        """B with B B' = what `restrict` takes from J J' of the narrow rows."""
        if not self.null.size:
            return np.zeros((self.narrow.size, 0))
        return np.hstack([2 * (along @ R[: self.n]) for along in self._null_rows])

    @cached_property
    def _null_rows(self) -> list[Any]:
        """The rows v'A_i of the narrow i, for each null vector v."""
        i, a, rows = self._touches
        chosen = self._narrow_touches
        place = np.searchsorted(self.narrow, i[chosen])
        shape = (self.narrow.size, chosen.size)
        return [
            sp.csr_array((v[a[chosen]], (place, np.arange(chosen.size))), shape=shape)
            @ rows[chosen]
            for v in self.null.T
        ]
