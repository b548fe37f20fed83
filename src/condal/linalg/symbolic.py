"""Predict the cost of a sparse factorisation: ordering, elimination tree and column counts."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices

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
        counts = column_counts(pattern, order).astype(np.float64)
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


def column_counts(pattern: Any, order: Indices) -> Indices:
    """Return the numbers of entries of the columns of L, the diagonal included.

    Row i of L has its entries in the row subtree of i in the elimination tree (Liu 1990). A column
    counts its leaves of such subtrees; the least common ancestors of consecutive leaves are counted
    twice, and the roots have no parent in the subtree (Gilbert, Ng and Peyton 1994). This takes
    about as many steps as the matrix has entries, however many L has.
    """
    n, rank = len(order), _ranks(order)
    P = sp.coo_array(pattern)
    i, j = rank[P.row], rank[P.col]
    i, j = i[i > j], j[i > j]
    lower = sp.csr_array((np.ones(i.size, dtype=np.int8), (i, j)), (n, n))
    parent = _elimination_tree(lower)
    post = _postorder(parent)
    first = _first_descendants(parent, post)
    below = sp.csc_array(lower)
    indptr, indices = below.indptr.tolist(), below.indices.tolist()

    counts = [1 if first[k] == place else 0 for k, place in enumerate(_ranks(post).tolist())]
    last_leaf, last_first, ancestor = [n] * n, [-1] * n, list(range(n))
    for column in post:
        if parent[column] < n:
            counts[parent[column]] -= 1
        for k in range(indptr[column], indptr[column + 1]):
            row = indices[k]
            if first[column] <= last_first[row]:
                continue  # not a leaf of the subtree of this row
            last_first[row] = first[column]
            counts[column] += 1
            leaf, last_leaf[row] = last_leaf[row], column
            if leaf < n:
                common = _root(ancestor, leaf)
                counts[common] -= 1
        if parent[column] < n:
            ancestor[column] = parent[column]
    for column in range(n):  # a parent comes after its children
        if parent[column] < n:
            counts[parent[column]] += counts[column]
    return np.array(counts, dtype=np.intp)


def _elimination_tree(lower: Any) -> list[int]:
    """Return the parent of each column, n for a root (Liu 1990, with path compression)."""
    n = lower.shape[0]
    indptr, indices = lower.indptr.tolist(), lower.indices.tolist()
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


def _postorder(parent: list[int]) -> list[int]:
    """Return the columns, each after all of its descendants, which stand together."""
    n = len(parent)
    children: list[list[int]] = [[] for _ in range(n + 1)]
    for column, above in enumerate(parent):
        children[above].append(column)
    reverse, stack = [], children[n]
    while stack:
        column = stack.pop()
        reverse.append(column)
        stack += children[column]
    return reverse[::-1]


def _first_descendants(parent: list[int], post: list[int]) -> list[int]:
    """Return the place in `post` of the first descendant of each column, or of itself."""
    first = [-1] * len(parent)
    for place, start in enumerate(post):
        column = start
        while column < len(parent) and first[column] == -1:
            first[column] = place
            column = parent[column]
    return first


def _root(ancestor: list[int], column: int) -> int:
    """Return the root of the set that holds the column; compress the path to it."""
    root = column
    while root != ancestor[root]:
        root = ancestor[root]
    while column != root:
        ancestor[column], column = root, ancestor[column]
    return root


def _ranks(order: Any) -> Indices:
    """Return the inverse of a permutation."""
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank
