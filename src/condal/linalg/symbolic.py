"""Predict the cost of a sparse factorisation: ordering, elimination tree and column counts."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spilu

from condal.linalg.points import Indices


class FactorCost(NamedTuple):
    """The numbers of entries and of floating-point operations of a Cholesky factor L."""

    entries: float
    flops: float


def minimum_degree(pattern: Any) -> Indices:
    """Return the order in which SuperLU eliminates the rows of a symmetric pattern.

    An incomplete factorisation that drops everything costs little more than its ordering, which is
    the one that a complete factorisation uses.
    """
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


def factor_cost(pattern: Any, order: Indices, *, max_entries: float = inf) -> FactorCost:
    """Count the entries of L and the operations of L L' = P V P', exactly.

    Counting takes a step per entry; it stops at `max_entries`, and the cost is then infinite.
    """
    counts = column_counts(pattern, order, max_entries=max_entries)
    if counts is None:
        return FactorCost(inf, inf)
    exact = counts.astype(np.float64)
    return FactorCost(float(exact.sum()), float((exact * exact).sum()))


def column_counts(pattern: Any, order: Indices, *, max_entries: float = inf) -> Indices | None:
    """Return the numbers of entries of the columns of L, the diagonal included.

    Row i of L has its entries in the row subtree of i: the paths of the elimination tree from the
    entries of row i of the matrix up to i (Liu 1990). None beyond `max_entries`.
    """
    n = len(order)
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    P = sp.coo_array(pattern)
    i, j = rank[P.row], rank[P.col]
    below = i > j
    lower = sp.csr_array((np.ones(int(below.sum()), dtype=np.int8), (i[below], j[below])), (n, n))
    indptr, indices = lower.indptr.tolist(), lower.indices.tolist()
    parent = _elimination_tree(n, indptr, indices)
    counts, mark, entries = [1] * n, list(range(n)), n
    for row in range(n):
        mark[row] = row
        for k in range(indptr[row], indptr[row + 1]):
            column = indices[k]
            while mark[column] != row:
                mark[column] = row
                counts[column] += 1
                entries += 1
                column = parent[column]
        if entries > max_entries:
            return None
    return np.array(counts, dtype=np.intp)


def _elimination_tree(n: int, indptr: list[int], indices: list[int]) -> list[int]:
    """Return the parent of each column, n for a root (Liu 1990, with path compression)."""
    parent, ancestor = [n] * n, [n] * n
    for row in range(n):
        for k in range(indptr[row], indptr[row + 1]):
            column = indices[k]
            while column < row:
                above = ancestor[column]
                ancestor[column] = row
                if above == n:
                    parent[column] = row
                column = above
    return parent
