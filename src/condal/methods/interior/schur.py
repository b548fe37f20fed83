"""The Schur complement of a cone of matrices: M_ij = <A_i, X A_j W>, W the inverse of Z.

Rows with few entries go by entries: all pairs of entries at once, reading X and W there. The others
go by products: X A_j W as a matrix, which all rows then read. As in Fujisawa, Kojima and Nakata
(1997), the cheaper way is chosen row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

PAIR = 8.0  # ns per pair of entries
FLOP = 0.1  # ns per operation of a matrix product
WRITE = 4.0  # ns per entry of the product
READ = 1.5  # ns per entry of a row
CALL = 2e4  # ns per row by products, whatever its size
CHUNK = 2**16  # pairs of entries at a time
FULL = 0.2  # share of nonzeros above which rows are stored as full arrays
BATCH = 2**22  # numbers of products that are read at a time


@dataclass(frozen=True, eq=False)
class Product:
    """A row by products: `core` is A_j without its zero rows and columns."""

    support: Indices
    core: Any

    def sandwiched(self, X: Array, W: Array) -> Array:
        """Return X A_j W."""
        if self.support.size == len(X):
            return np.asarray(X @ (self.core @ W))
        return np.asarray(X[:, self.support] @ (self.core @ W[self.support]))


@dataclass(frozen=True, eq=False)
class Schur:
    """The plan for M: `rows` are the rows with entries in the cone, the sparsest first.

    `upper` has their upper triangles: a full array, or CSR with n^2 columns. The first rows go by
    entries: the entries of row k are at (p, q) with `weights`, from starts[k] on. A diagonal entry
    is counted twice, so its weight is halved.
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
        """Plan for the CSR rows A, each a flattened symmetric matrix."""
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
        block = np.zeros((every, every))
        if few:
            block[:few, :few] = self._by_entries(X, W)
        step = max(1, BATCH // self.n**2)
        for begin in range(few, every, step):
            end = min(begin + step, every)
            block[:, begin:end] = self._by_products(X, W, self.products[begin - few : end - few])
        block[few:, :few] = block[:few, few:].T
        M[np.ix_(self.rows, self.rows)] += block

    def _by_entries(self, X: Array, W: Array) -> Array:
        """M among the first rows: E_pq + E_qp against E_rs + E_sr, for all pairs of entries."""
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
        """The columns of M of rows by products."""
        n, full = self.n, isinstance(self.upper, np.ndarray)
        diagonal, triangle = np.diag_indices(n), np.triu_indices(n)
        read = np.empty((len(products), self.upper.shape[1]))
        for k, product in enumerate(products):
            XAW = product.sandwiched(X, W)
            XAW = XAW + XAW.T
            XAW[diagonal] *= 0.5
            read[k] = XAW[triangle] if full else XAW.ravel()
        return np.asarray(self.upper @ read.T)


def plan(counts: Indices, n: int) -> tuple[int, float]:
    """Return how many rows go by entries, and about how many nanoseconds M then takes.

    `counts` are the entries of the rows, in ascending order.
    """
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
    support = np.minimum(2 * counts, n)
    read = READ if before[-1] <= FULL * counts.size * n * (n + 1) / 2 else 2 * FLOP
    each = CALL + (2 * FLOP * support + WRITE) * n**2 + read * before[-1]
    each = np.concatenate([each, [0.0]])
    total = PAIR * before**2 + np.cumsum(each[::-1])[::-1]
    few = int(np.argmin(total))
    return few, float(total[few])


def _product(places: Any, data: Array, n: int) -> Product:
    """The product of a flattened matrix, given the places of its entries."""
    i, j = np.divmod(places, n)
    support, inner = np.unique(i, return_inverse=True)
    size = support.size
    core = sp.csr_array((data, (inner, np.searchsorted(support, j))), (size, size))
    return Product(support, core.toarray() if core.nnz > FULL * size * size else core)
