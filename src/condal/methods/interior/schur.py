"""The Schur complement of a cone of matrices: M_ij = <A_i, X A_j W>, W the inverse of Z.

Rows of few entries are taken by entries: X and W are read where the rows have them, all pairs at
once. The others are taken by products: X A_j W as a matrix, which all rows then read. Fujisawa,
Kojima and Nakata (1997) weigh the two, row by row, as here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

PAIR = 8.0  # ns, of a pair of entries
FLOP = 0.1  # ns, of a product of matrices
WRITE = 4.0  # ns, of an entry of the product
READ = 1.5  # ns, of an entry of a row
CALL = 2e4  # ns, of a row by products, whatever its size
CHUNK = 2**16  # pairs of entries at a time
FULL = 0.2  # of the entries: rows with more are kept as full ones
BATCH = 2**22  # numbers of products that are read at a time


@dataclass(frozen=True, eq=False)
class Product:
    """A row by products: the `core` of A_j, without rows and columns that are 0."""

    support: Indices
    core: Any

    def taken(self, X: Array, W: Array) -> Array:
        """X A_j W."""
        if self.support.size == len(X):
            return np.asarray(X @ (self.core @ W))
        return np.asarray(X[:, self.support] @ (self.core @ W[self.support]))


@dataclass(frozen=True, eq=False)
class Schur:
    """How M is made: `rows` read the cone, those of the fewest entries first.

    `upper` has them without what is below the diagonals: a full array of the triangles, or CSR of
    n^2 columns. The first rows are by entries: those of row k are at (p, q), times `weights`, from
    starts[k] on; a diagonal one counts twice there, and so by half.
    """

    n: int
    rows: Indices
    upper: Any
    p: Indices
    q: Indices
    weights: Array
    starts: Indices
    products: tuple[Product, ...]

    @classmethod
    def of(cls, A: Any, n: int) -> Schur:
        """For the CSR rows A, each of a flattened symmetric matrix."""
        counts = np.diff(A.indptr)
        rows = np.flatnonzero(counts)
        rows = rows[np.argsort(counts[rows], kind="stable")]
        whole = sp.csr_array(A[rows])
        owner = np.repeat(np.arange(rows.size), np.diff(whole.indptr))
        i, j = np.divmod(whole.indices, n)
        above = i <= j
        i, j, owner, data = i[above], j[above], owner[above], whole.data[above]
        few, _ = plan(np.bincount(owner, minlength=rows.size), n)
        upper = sp.csr_array((data, (owner, i * n + j)), whole.shape)
        cuts = [slice(*ends) for ends in pairwise(whole.indptr[few:])]
        products = tuple(_product(whole.indices[cut], whole.data[cut], n) for cut in cuts)
        by_entry = owner < few
        halved = np.where(i == j, 0.5 * data, data)[by_entry]
        starts = np.searchsorted(owner[by_entry], np.arange(few))
        if upper.nnz > FULL * rows.size * n * (n + 1) / 2 and few < rows.size:
            upper = upper.toarray().reshape(-1, n, n)[:, *np.triu_indices(n)]
        return cls(n, rows, upper, i[by_entry], j[by_entry], halved, starts, products)

    def add(self, M: Array, X: Array, W: Array) -> None:
        """M += (<A_i, X A_j W>)_ij."""
        few, every = self.rows.size - len(self.products), self.rows.size
        own = np.zeros((every, every))
        if few:
            own[:few, :few] = self._by_entries(X, W)
        step = max(1, BATCH // self.n**2)
        for begin in range(few, every, step):
            end = min(begin + step, every)
            own[:, begin:end] = self._by_products(X, W, self.products[begin - few : end - few])
        own[few:, :few] = own[:few, few:].T
        M[np.ix_(self.rows, self.rows)] += own

    def _by_entries(self, X: Array, W: Array) -> Array:
        """Those among the first rows: E_pq + E_qp against E_rs + E_sr, for all pairs of entries."""
        p, q, starts = self.p, self.q, self.starts
        Xp, Xq, Wp, Wq = (v.take(where, axis=1) for v in (X, W) for where in (p, q))
        out = np.empty((starts.size, starts.size))
        cuts = np.searchsorted(starts, np.arange(0, p.size, max(1, CHUNK // p.size)))
        ends = [*starts, p.size]
        for first, last in pairwise(np.unique([*cuts, starts.size])):
            begin, end = ends[first], ends[last]
            r, s, until = p[begin:end], q[begin:end], slice(0, end)  # M is symmetric
            pairs = Xp[r, until] * Wq[s, until]
            pairs += Xq[r, until] * Wp[s, until]
            pairs += Xp[s, until] * Wq[r, until]
            pairs += Xq[s, until] * Wp[r, until]
            pairs *= self.weights[until]
            pairs *= self.weights[begin:end, None]
            if starts.size < p.size:
                pairs = np.add.reduceat(pairs, starts[:last], axis=1)
                pairs = np.add.reduceat(pairs, starts[first:last] - begin, axis=0)
            out[first:last, :last] = pairs
            out[:first, first:last] = pairs[:, :first].T
        return out

    def _by_products(self, X: Array, W: Array, products: tuple[Product, ...]) -> Array:
        """The columns of rows by products."""
        n, full = self.n, isinstance(self.upper, np.ndarray)
        diagonal, triangle = np.diag_indices(n), np.triu_indices(n)
        read = np.empty((len(products), self.upper.shape[1]))
        for k, product in enumerate(products):
            taken = product.taken(X, W)
            taken = taken + taken.T
            taken[diagonal] *= 0.5
            read[k] = taken[triangle] if full else taken.ravel()
        return np.asarray(self.upper @ read.T)


def plan(counts: Indices, n: int) -> tuple[int, float]:
    """How many of the rows, which have so many entries each, the fewest first, are to be taken by
    these, and the nanoseconds of M then, about."""
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
    support = np.minimum(2 * counts, n)
    read = READ if before[-1] <= FULL * counts.size * n * (n + 1) / 2 else 2 * FLOP
    each = CALL + (2 * FLOP * support + WRITE) * n**2 + read * before[-1]
    each = np.concatenate([each, [0.0]])
    total = PAIR * before**2 + np.cumsum(each[::-1])[::-1]
    few = int(np.argmin(total))
    return few, float(total[few])


def _product(places: Any, data: Array, n: int) -> Product:
    """Of a flattened matrix, given where its entries are."""
    i, j = np.divmod(places, n)
    support, inner = np.unique(i, return_inverse=True)
    size = support.size
    core = sp.csr_array((data, (inner, np.searchsorted(support, j))), (size, size))
    return Product(support, core.toarray() if core.nnz > FULL * size * size else core)
