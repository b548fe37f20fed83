"""The equations A(R R') = b of a factor R, of fixed trace, and their derivatives.

The rows of A are sparse matrices A_i, and the trace is one more row. With J D = A(R D' + D R') and
J'u = 2 (A'u) R, the entry (i, j) of J J' is 4 <A_i R, A_j R>.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.linalg.symmetric import Symmetric
from condal.types import Lifted, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_WIDE_ROWS = 40  # each has a dense column of J J'
WIDE_SHARE = 0.25  # of the rows of x: an A_i with entries in more of them is wide
MIN_WIDE = 16  # an A_i with entries in fewer rows of x is never wide
MAX_COUPLINGS = 3 * 10**7  # pairs of rows of A that share a row of x
MAX_ROW_COUPLINGS = 200  # the same, per row of A, for J J' to be called sparse
MAX_ENTRIES = 2 * 10**7  # of A
BLOCK_NUMBERS = 2**15  # of the gathered rows of R, which stay in the cache
IMPLIED = 1e-10  # relative residual below which I is a combination of the A_i


@dataclass(frozen=True, eq=False)
class SurfaceRows:
    """The rows of A on a factor of trace 1: x = trace R[:n] R[:n]'.

    `matrix` is trace A as a CSR array over n^2 columns, `b` the right-hand side. If `traced`, the
    last equation is |R|^2 = 1. With `slack` R has one row more, whose square is the slack of the
    bound on the trace.
    """

    n: int
    matrix: Any
    b: Array
    traced: bool
    slack: bool

    @classmethod
    def of(cls, problem: Problem) -> SurfaceRows | None:
        """Return the rows of a problem; None if it is not a linear program on one surface."""
        X, b = problem.X, problem.h.fixed
        if not isinstance(X, Spectral) or isinstance(X, Lifted) or problem.f.L > 0:
            return None
        if b is None or problem.A.size == 0:
            return None
        A = problem.A.as_matrix()
        if A is None or A.shape[1] != X.n**2 or A.nnz > MAX_ENTRIES:
            return None
        A = sp.csr_array(A * X.trace)
        A.sum_duplicates()
        A.eliminate_zeros()
        implied = _implied_trace(A, b, X.n)
        if implied is not None and (abs(implied - 1.0) <= 1e-9 or (X.at_most and implied < 1.0)):
            return cls(X.n, A, b, traced=False, slack=False)
        return cls(X.n, A, np.append(b, 1.0), traced=True, slack=X.at_most)

    @property
    def height(self) -> int:
        """The number of rows of R."""
        return self.n + self.slack

    @property
    def size(self) -> int:
        """The number of rows of A, without the trace."""
        return int(self.matrix.shape[0])

    @property
    def solvable(self) -> bool:
        """Whether J J' can be formed."""
        return self.wide.size <= MAX_WIDE_ROWS and self.couplings <= MAX_COUPLINGS

    @property
    def sparse(self) -> bool:
        """Whether J J' is sparse but for a few rows, so that products with it are cheap."""
        return self.solvable and self.couplings <= MAX_ROW_COUPLINGS * self.size

    def values(self, R: Array) -> Array:
        """A(R R')."""
        products = np.empty(self._pairs[0].size)
        for block, left, right in self._gathered(R, R):
            np.einsum("kr,kr->k", left, right, out=products[block])
        return self._with_trace(self._weights @ products, R, R)

    def along(self, R: Array, D: Array) -> Array:
        """J D = A(R D' + D R')."""
        products = np.empty(self._pairs[0].size)
        for block, left, right in self._gathered(R, D):
            np.einsum("kr,kr->k", left, right, out=products[block])
        for block, left, right in self._gathered(D, R):
            products[block] += np.einsum("kr,kr->k", left, right)
        image = self._with_trace(self._weights @ products, R, D)
        if self.traced:
            image[-1] *= 2
        return image

    def adjoint(self, u: Array) -> Any:
        """A'u as a CSR array, without the trace."""
        data = self._spread @ u[: self.size]
        return sp.csr_array((data, *self._pattern), shape=(self.n, self.n))

    def adjoint_product(self, u: Array, R: Array) -> Array:
        """(A'u) R, so that J'u is twice this."""
        product = u[-1] * R if self.traced else np.zeros(R.shape)
        product[: self.n] += self.adjoint(u) @ R[: self.n]
        return product

    def _with_trace(self, image: Array, R: Array, D: Array) -> Array:
        return np.append(image, np.einsum("ij,ij->", R, D)) if self.traced else image

    def _gathered(self, R: Array, D: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Blocks of pairs (a, b) of the entries of A, with the rows R_a and D_b."""
        a, b = self._pairs
        step = max(1, BLOCK_NUMBERS // R.shape[1])
        for begin in range(0, a.size, step):
            block = slice(begin, begin + step)
            yield block, R.take(a[block], axis=0), D.take(b[block], axis=0)

    @cached_property
    def _columns(self) -> Indices:
        return np.unique(self.matrix.indices)

    @cached_property
    def _compact(self) -> Any:
        """A without its empty columns."""
        place = np.searchsorted(self._columns, self.matrix.indices)
        shape = (self.size, self._columns.size)
        return sp.csr_array((self.matrix.data, place, self.matrix.indptr), shape=shape)

    @cached_property
    def _pairs(self) -> tuple[Indices, Indices]:
        """The positions a <= b of the entries of A."""
        a, b = np.divmod(self._columns, self.n)
        return a[a <= b], b[a <= b]

    @cached_property
    def _weights(self) -> Any:
        """A as a function of the entries of x on and above its diagonal."""
        a, b = np.divmod(self._columns, self.n)
        twice = np.where(a == b, 1.0, 2.0)[a <= b]
        return sp.csr_array(self._compact[:, a <= b] @ sp.diags_array(twice))

    @cached_property
    def _pattern(self) -> tuple[Any, Any]:
        """The column indices and row pointers of A'u."""
        a, b = np.divmod(self._columns, self.n)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(a, minlength=self.n))])
        return b.astype(np.int32), pointers.astype(np.int32)

    @cached_property
    def _spread(self) -> Any:
        return sp.csr_array(self._compact.T)

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
        return np.flatnonzero(counts > max(MIN_WIDE, WIDE_SHARE * self.n))

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
    def couplings(self) -> float:
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
        ends = [*starts[1:], order.size]
        groups: list[tuple[Any, int]] = []
        for start, end in zip(starts, ends, strict=True):
            count = int(counts[start])
            step = max(1, BLOCK_NUMBERS // (32 * count)) * count
            blocks = (slice(k, min(k + step, int(end))) for k in range(int(start), int(end), step))
            groups.extend((rows[order[block]], count) for block in blocks)
        return groups

    @cached_property
    def coupling(self) -> tuple[Any, Any, Any]:
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
        every = np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)
        unique, place = np.unique(every, return_inverse=True)
        row, column = np.divmod(unique, max(1, self.narrow.size))
        counts = np.bincount(row, minlength=self.narrow.size)
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return place.astype(np.int32), column.astype(np.int32), pointers

    def wide_products(self, R: Array) -> list[Array]:
        """A_i R for the wide i and the trace."""
        products = []
        for i in self.wide:
            entries = self.matrix[[int(i)]].tocoo()
            a, b = np.divmod(entries.col.astype(np.int64), self.n)
            product = np.zeros(R.shape)
            matrix = sp.csr_array((entries.data, (a, b)), shape=(self.n, self.n))
            product[: self.n] = matrix @ R[: self.n]
            products.append(product)
        return [*products, R] if self.traced else products


def cost_of(problem: Problem) -> Symmetric:
    """Return the gradient of the linear f at a factor of trace 1."""
    f = problem.f
    C = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    assert isinstance(C, Symmetric)
    assert isinstance(problem.X, Spectral)
    return C.scaled(problem.X.trace).merged()


def _implied_trace(A: Any, b: Array, n: int) -> float | None:
    """<b, u> for the u with A'u = I; None if there is none."""
    from scipy.sparse.linalg import lsqr

    diagonal = np.arange(n) * (n + 1)
    columns = np.unique(A.indices)
    if not np.isin(diagonal, columns).all():
        return None
    place = np.searchsorted(columns, A.indices)
    compact = sp.csr_array((A.data, place, A.indptr), shape=(A.shape[0], columns.size))
    target = np.isin(columns, diagonal).astype(np.float64)
    u, _, _, residual = lsqr(sp.csr_array(compact.T), target, atol=1e-15, btol=1e-15)[:4]
    return float(b @ u) if residual <= IMPLIED * np.sqrt(n) else None
