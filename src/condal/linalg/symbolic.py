"""Predict the cost of a sparse factorisation: ordering, elimination tree and column counts."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

MAX_ENTRIES = 2**23  # of a factor that is counted: some 0.7 GB
MAX_KEPT_ORDERS = 4  # the gradients of one solve have one pattern, or few


class Elimination(NamedTuple):
    """An order of the rows, and the entries and operations of the Cholesky factor L in it."""

    order: Indices
    entries: float
    flops: float


_kept: OrderedDict[bytes, Elimination] = OrderedDict()


def elimination(pattern: Any) -> Elimination:
    """Return the minimum degree order of a symmetric CSC pattern, and what it costs.

    The last few are kept, as all proofs of a solve have one pattern.
    """
    key = sha256(pattern.indptr.tobytes() + pattern.indices.tobytes()).digest()
    known = _kept.pop(key, None)
    if known is None:
        order = minimum_degree(pattern)
        counts = column_counts(pattern, order)
        known = Elimination(order, float(counts.sum()), float((counts * counts).sum()))
    _kept[key] = known
    while len(_kept) > MAX_KEPT_ORDERS:
        _kept.popitem(last=False)
    return known


def minimum_degree(pattern: Any) -> Indices:
    """Return the order in which SuperLU eliminates the rows of a symmetric pattern.

    An incomplete factorisation that drops everything costs little more than its ordering, which is
    the one that a complete factorisation uses.
    """
    from scipy.sparse.linalg import spilu

    n = pattern.shape[0]
    ones = sp.csc_array((np.ones(pattern.nnz), pattern.indices, pattern.indptr), pattern.shape)
    dominant = sp.csc_matrix(ones + sp.dia_array((np.full((1, n), 2.0 * n), [0]), (n, n)))
    factors = spilu(
        dominant,
        drop_tol=1.0,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True, "RowPerm": "NOROWPERM", "Equil": False},
    )
    return np.argsort(factors.perm_c)


def envelope(pattern: Any) -> Array:
    """Return the row widths of the envelope after reverse Cuthill-McKee, an order found at once."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = pattern.shape[0]
    order = reverse_cuthill_mckee(sp.csr_matrix(pattern), symmetric_mode=True)
    P = sp.coo_array(pattern)
    rank = _ranks(order)
    first = np.arange(n)
    np.minimum.at(first, rank[P.row], rank[P.col])
    return (np.arange(n) - first + 1).astype(np.float64)


def column_counts(pattern: Any, order: Indices) -> Array:
    """Return the numbers of entries of the columns of L, the diagonal included.

    Row i of L has its entries on the paths from those of the matrix up the elimination tree, which
    grows meanwhile (Liu 1990). The walk ends early where L has more than MAX_ENTRIES.
    """
    n, rank = len(order), _ranks(order)
    P = sp.coo_array(pattern)
    i, j = rank[P.row], rank[P.col]
    lower = sp.csr_array((np.ones(np.count_nonzero(i > j)), (i[i > j], j[i > j])), (n, n))
    indptr, indices = lower.indptr.tolist(), lower.indices.tolist()
    parent, counts, seen, entries = [n] * n, [1] * n, [n] * n, n
    for row in range(n):
        seen[row] = row
        for column in indices[indptr[row] : indptr[row + 1]]:
            while seen[column] != row:
                if parent[column] == n:
                    parent[column] = row
                seen[column] = row
                counts[column] += 1
                entries += 1
                column = parent[column]
        if entries > MAX_ENTRIES:
            break
    return np.array(counts, dtype=np.float64)


def _ranks(order: Any) -> Indices:
    """Return the inverse of a permutation."""
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank
